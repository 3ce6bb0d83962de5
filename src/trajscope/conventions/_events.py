"""Messages written as events: span events, joined log records, or a list in one attribute.

One thing a newcomer would get wrong: an assistant message among the events of the *input* is
history; only a choice (or the output half of an operation's details) is what the model said now.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from trajscope.conventions._messages import find_requests, find_responses
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.span import Json, Span
from trajscope.values import decode_json

_DETAILS = "gen_ai.client.inference.operation.details"
_OUTPUT = {
    "gen_ai.choice": None,
    "gen_ai.content.completion": None,
    "gen_ai.assistant.message.output": None,
    _DETAILS: "output.messages",
}
"""Events that hold output, and the part of them that does (None: all of it)."""

_INPUT = {
    "gen_ai.tool.message": None,
    "gen_ai.user.message": None,
    "gen_ai.content.prompt": None,
    _DETAILS: "input.messages",
}
"""Events that can hold tool results, and the part of them that does."""


def output_events(span: Span, words: Vocabulary) -> list[Json]:
    """Return the bodies of the events that hold what the model said."""
    return [
        body if _OUTPUT[name] is None else body.get(_OUTPUT[name] or "")
        for name, body in _events(span, words)
        if name in _OUTPUT
    ]


def input_events(span: Span, words: Vocabulary) -> list[Json]:
    """Return the bodies of the events that can hold tool results, tool messages with their role."""
    return [
        {"role": "tool", **body}
        if name == "gen_ai.tool.message"
        else body
        if _INPUT[name] is None
        else body.get(_INPUT[name] or "")
        for name, body in _events(span, words)
        if name in _INPUT
    ]


def tool_events(span: Span) -> tuple[Json | UnsetType, Json | UnsetType]:
    """Return arguments and result of a tool span that keeps them in its events (Strands Agents).

    The arguments are what the tool was told, the result what it chose to say: the very events
    that carry a model's messages.
    """
    args: Json | UnsetType = UNSET
    result: Json | UnsetType = UNSET
    for name, body in _events(span, Vocabulary()):
        if name == "gen_ai.tool.message" and "content" in body:
            args = body["content"]
        elif name == "gen_ai.choice" and "message" in body:
            result = body["message"]
        elif name == _DETAILS:
            asked = find_requests(body.get("input.messages"))
            answered = find_responses(body.get("output.messages"))
            args = asked[0].args if asked else args
            result = answered[0].result if answered else result
    return args, result


def _events(span: Span, words: Vocabulary) -> Iterator[tuple[str, dict[str, Json]]]:
    for event in span.events:
        if event.name in _OUTPUT or event.name in _INPUT:
            yield event.name, _body(event.attributes)
    for attribute in words.message_events:
        listed = decode_json(span.attributes.get(attribute))
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, dict) and isinstance(name := item.get("event.name"), str):
                yield name, _body(item)


def _body(attributes: dict[str, Json]) -> dict[str, Json]:
    """The body of a message event: JSON texts decoded, an enclosed body brought to the top."""
    body = {k.removeprefix("gen_ai."): decode_json(v) for k, v in attributes.items()}
    for holder in ("event.content", "body"):
        if isinstance(inner := body.get(holder), dict):
            body = {**body, **inner}
    return body
