"""Token counts written as one object: the JSON that providers answer with, in its many spellings.

One thing a newcomer would get wrong: cached input is part of the input everywhere but in Langfuse's
own spelling, whose categories (`input`, `input_cache_read`, …) stand side by side and are added up.
"""

from __future__ import annotations

from trajscope.conventions._vocabulary import Names
from trajscope.model.reading import Usage
from trajscope.model.span import Json
from trajscope.values import count_of, decode_json

_INPUT: Names = (
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "prompt_token_count",
    "promptTokenCount",
)
_OUTPUT: Names = (
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
    "candidates_token_count",
    "candidatesTokenCount",
)
_CACHED: Names = (
    "cached_input_tokens",
    "cache_read_input_tokens",
    "cached_tokens",
    "cachedInputTokens",
    "cache_read",
    "cacheReadTokens",
    "cached_content_token_count",
    "cachedContentTokenCount",
)
_REASONING: Names = (
    "reasoning_tokens",
    "reasoningTokens",
    "reasoning",
    "thoughts_token_count",
    "thoughtsTokenCount",
)
_INPUT_DETAILS: Names = (
    "input_tokens_details",
    "prompt_tokens_details",
    "input_token_details",
    "inputTokenDetails",
)
_OUTPUT_DETAILS: Names = (
    "output_tokens_details",
    "completion_tokens_details",
    "output_token_details",
    "outputTokenDetails",
)


def usage_in(value: Json) -> Usage | None:
    """Return the counts a usage object holds, None when it holds neither input nor output.

    >>> usage_in('{"prompt_tokens": 40, "completion_tokens": 12}')
    Usage(input=40, output=12, cached_input=None, reasoning_output=None)
    >>> usage_in({"input": 10, "input_cache_read": 30, "output": 5})
    Usage(input=40, output=5, cached_input=30, reasoning_output=None)
    """
    value = decode_json(value)
    if isinstance(value, dict) and isinstance(value.get("usage"), dict):
        value = value["usage"]
    if not isinstance(value, dict):
        return None
    usage = Usage(
        _count(value, _INPUT),
        _count(value, _OUTPUT),
        _detail(value, _CACHED, _INPUT_DETAILS),
        _detail(value, _REASONING, _OUTPUT_DETAILS),
    )
    if usage.input is None and usage.output is None:
        usage = Usage(
            _categories(value, "input"),
            _categories(value, "output"),
            _count(value, (*_CACHED, "input_cache_read", "input_cached_tokens", "input_cached")),
            _count(value, ("output_reasoning", "output_reasoning_tokens")),
        )
    return None if usage.input is None and usage.output is None else usage


def _count(value: dict[str, Json], names: Names) -> int | None:
    return next((n for k in names if (n := count_of(value.get(k))) is not None), None)


def _detail(value: dict[str, Json], names: Names, holders: Names) -> int | None:
    inner = (value[h] for h in holders if isinstance(value.get(h), dict))
    return next((n for d in (value, *inner) if (n := _count(d, names)) is not None), None)


def _categories(value: dict[str, Json], name: str) -> int | None:
    """The count `name`, and the categories named after it unless the total holds them already."""
    own = count_of(value.get(name))
    if own is None:
        return None
    beside = [count_of(v) or 0 for k, v in value.items() if name in k and k != name]
    whole = count_of(value.get("total"))
    both = [count_of(value.get(n)) or 0 for n in ("input", "output")]
    return own if whole == sum(both) else own + sum(beside)
