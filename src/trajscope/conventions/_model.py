"""What a model call says of itself: model, usage, why it ended, what it asked for and was given.

One thing a newcomer would get wrong: messages come in four forms (one attribute, one attribute per
leaf, events, the provider's whole answer); the first that holds something is read, never two.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET, UnsetType

from trajscope.conventions._events import input_events, output_events
from trajscope.conventions._find import Finder
from trajscope.conventions._flat import unflattened
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.conventions._usage import usage_in
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.reading import ToolRequest, ToolResponse, Usage
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, text_of


def model_fields(span: Span, words: Vocabulary, find: Finder) -> dict[str, Any]:
    """Return the fields of a reading that only model calls have."""
    model = find.text("model", words.model)
    reason = _finish_reason(find.value("finish_reason", words.finish_reason))
    response_id = find.text("response_id", words.response_id)
    if (reason is None or response_id is None) and words.answer:
        answer = decode_json(
            next((span.attributes[n] for n in words.answer if n in span.attributes), None)
        )
        if reason is None and (reason := reason_in(answer)) is not None:
            find.sources["finish_reason"] = words.answer[0]
        if response_id is None and (response_id := _id_in(answer)) is not None:
            find.sources["response_id"] = words.answer[0]
    if reason is None:
        names = tuple(prefix + "0.finish_reason" for prefix in words.flat_output)
        reason = _finish_reason(find.value("finish_reason", names))
    return {
        "name": model or "",
        "model": model,
        "provider": find.text("provider", words.provider),
        "finish_reason": reason,
        "response_id": response_id,
        "usage": usage_of(find, words),
        "requests": _requests(span, words, find),
        "responses": _responses(span, words, find),
    }


def usage_of(find: Finder, words: Vocabulary) -> Usage | None:
    """Return the token counts a span carries, None when it holds neither input nor output."""
    usage = Usage(
        find.count("input_tokens", words.input_tokens),
        find.count("output_tokens", words.output_tokens),
        find.count("cached_input_tokens", words.cached_tokens),
        find.count("reasoning_output_tokens", words.reasoning_tokens),
    )
    if usage.input is not None or usage.output is not None:
        return usage
    for name in words.usage:
        if name in find.attributes and (found := usage_in(find.attributes[name])) is not None:
            find.sources["input_tokens"] = find.sources["output_tokens"] = name
            return found
    return None


def _finish_reason(value: Json | UnsetType) -> str | None:
    """The last finish reason, from a list, JSON text of a list, plain text, or an enum's."""
    if value is UNSET:
        return None
    value = decode_json(value)
    if isinstance(value, list):
        value = value[-1] if value else None
    text = text_of(value)
    if text is None or (match := _ENUM.fullmatch(text)) is None:
        return text
    return match["member"].lower()


_ENUM = re.compile(r"[A-Z]\w{0,40}Reason\.(?P<member>[A-Z_]{1,40})")
"""A member of a Python enum: `FinishReason.TOOL_CALLS` of Semantic Kernel."""

_REASONS = ("finish_reason", "finishReason", "stop_reason", "stopReason")
_ANSWER_KEYS = frozenset({"choices", "output", "object", "candidates", "stop_reason", "usage"})
_MAX_NODES = 500


def reason_in(answer: Json) -> str | None:
    """The finish reason inside a provider's answer, wherever its library puts it."""
    stack, budget = [answer], _MAX_NODES
    while stack and budget:
        budget -= 1
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            if found := next((t for k in _REASONS if (t := text_of(node.get(k)))), None):
                return found
            stack.extend(v for v in reversed(node.values()) if isinstance(v, dict | list))
    return None


def _id_in(answer: Json) -> str | None:
    """The id of a provider's answer, if the value is one: any other object may have an `id` too."""
    if isinstance(answer, dict) and not _ANSWER_KEYS.isdisjoint(answer):
        return text_of(answer.get("id"))
    return None


def _requests(span: Span, words: Vocabulary, find: Finder) -> tuple[ToolRequest, ...]:
    value = find.value("requests", words.output_messages)
    found = find_requests(value) if value is not UNSET else ()
    if not found and (flat := unflattened(span.attributes, words.flat_output)):
        find.sources["requests"] = words.flat_output[0] + "*"
        found = find_requests(flat)
    if not found and (said := output_events(span, words)):
        find.sources["requests"] = "events"
        found = find_requests(said)
    if not found and words.answer:
        found = find_requests(find.value("requests", words.answer) or None)
    elif any(request.call_id is None for request in found) and words.answer:
        whole = find_requests(span.attributes.get(words.answer[0]))
        if [r.name for r in whole] == [r.name for r in found]:  # the leaves have lost the ids
            return whole
    return found


def _responses(span: Span, words: Vocabulary, find: Finder) -> tuple[ToolResponse, ...]:
    value = find.value("responses", words.input_messages)
    found = find_responses(value) if value is not UNSET and _may_hold_tools(value) else ()
    if not found and (flat := unflattened(span.attributes, words.flat_input)):
        find.sources["responses"] = words.flat_input[0] + "*"
        found = find_responses(flat)
    if not found and (told := input_events(span, words)):
        find.sources["responses"] = "events"
        found = find_responses(told)
    if not found and words.question:
        value = find.value("responses", words.question)
        found = find_responses(value) if value is not UNSET and _may_hold_tools(value) else ()
    elif words.question and any(answer.call_id is None for answer in found):
        whole = find_responses(span.attributes.get(words.question[0]))
        if [a.result for a in whole] == [a.result for a in found]:  # the leaves have lost the ids
            return whole
    return found


def _may_hold_tools(value: Json) -> bool:
    """Whether parsing can find a response at all; most first turns hold none."""
    return not isinstance(value, str) or "tool" in value or "function" in value
