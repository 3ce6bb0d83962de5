"""Token counts in the spellings of libraries and providers; absent is unknown, never zero."""

import json

import pytest

from tests.unit.conventions.shapes import read
from trajscope.conventions._usage import usage_in
from trajscope.model.reading import Usage
from trajscope.model.span import Json

OBJECTS: list[tuple[str, Json, Usage | None]] = [
    (
        "OpenAI chat",
        {
            "prompt_tokens": 40,
            "completion_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 30},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        Usage(40, 12, 30, 0),
    ),
    (
        "OpenAI Responses",
        {"input_tokens": 40, "output_tokens": 12, "input_tokens_details": {"cached_tokens": 0}},
        Usage(40, 12, 0),
    ),
    (
        "LangChain",
        {"input_tokens": 40, "output_tokens": 12, "input_token_details": {"cache_read": 7}},
        Usage(40, 12, 7),
    ),
    ("AI SDK", {"inputTokens": 40, "outputTokens": 12, "cachedInputTokens": 7}, Usage(40, 12, 7)),
    (
        "Gemini",
        {"prompt_token_count": 40, "candidates_token_count": 12, "thoughts_token_count": 3},
        Usage(40, 12, None, 3),
    ),
    (
        "Langfuse, categories beside each other",
        {"input": 10, "input_cache_read": 30, "output": 12, "total": 52},
        Usage(40, 12, 30),
    ),
    (
        "Langfuse, categories after Anthropic",
        {"input": 10, "cache_read_input_tokens": 30, "output": 12},
        Usage(40, 12, 30),
    ),
    (
        "Langfuse, a category the total holds already",
        {"input": 40, "input_cached_tokens": 30, "output": 12, "total": 52},
        Usage(40, 12, 30),
    ),
    ("inside an answer", {"id": "r", "usage": {"input_tokens": 40}}, Usage(40)),
    ("no counts", {"total_tokens": 52}, None),
    ("not a number", {"input_tokens": "NaN", "output_tokens": None}, None),
]


@pytest.mark.parametrize(
    ("value", "expected"), [o[1:] for o in OBJECTS], ids=[o[0] for o in OBJECTS]
)
def test_usage_objects(value: Json, expected: Usage | None) -> None:
    assert usage_in(value) == expected
    assert usage_in(json.dumps(value)) == expected


ATTRIBUTES: list[tuple[str, dict[str, Json]]] = [
    ("1.28 and later", {"gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 12}),
    ("before 1.28", {"gen_ai.usage.prompt_tokens": 40, "gen_ai.usage.completion_tokens": 12}),
    ("as text", {"gen_ai.usage.input_tokens": "40", "gen_ai.usage.output_tokens": "12"}),
    ("as doubles", {"gen_ai.usage.input_tokens": 40.0, "gen_ai.usage.output_tokens": 12.0}),
]


@pytest.mark.parametrize("attributes", [a for _, a in ATTRIBUTES], ids=[n for n, _ in ATTRIBUTES])
def test_usage_attributes(attributes: dict[str, Json]) -> None:
    reading = read({"gen_ai.operation.name": "chat", "gen_ai.system": "openai", **attributes})
    assert reading.usage == Usage(40, 12)
    assert reading.provider == "openai"


def test_half_a_usage_stays_half() -> None:
    reading = read({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 40})
    assert reading.usage == Usage(40, None)
