"""The parts a message of the reference's form is made of, and the answer that becomes one.

One thing a newcomer would get wrong: a text can fail a call here. Most libraries have no other
place in a message to say that a call went wrong; the reference's own form does, so there it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from trajscope.evidence import failure_of_mcp_result, failure_of_message
from trajscope.model.span import Json
from trajscope.names import ends_with_tool, same_tool
from trajscope.values import decode_json, decode_repr, text_of

Part = dict[str, Any]

_TEXTS = {
    "text": ("text", "content"),  # OpenTelemetry's messages call it content
    "input_text": ("text",),
    "output_text": ("text",),
    "summary_text": ("text",),
    "refusal": ("refusal",),
}
"""The blocks that are nothing but text, and where they have it."""


class Answer(NamedTuple):
    """What became of a call; UNSET is a result that is not recorded."""

    call_id: str | None
    name: str | None
    result: Json | UnsetType
    failed: bool
    failure: str | None


def text_part(text: str) -> Part:
    """Return a text part."""
    return {"type": "text", "text": text}


def reasoning_part(text: str) -> Part:
    """Return a reasoning part, with the text where the reference looks for it."""
    return {"type": "reasoning", "reasoning": text, "details": [{"type": "text", "text": text}]}


def call_part(call_id: str | None, name: str, args: Json, *, provider: bool = False) -> Part:
    """Return the part of a requested call; arguments that are JSON text are decoded.

    The OpenAI API writes "" for a call without arguments.
    """
    invocation: dict[str, Any] = {"toolCallId": call_id} if call_id else {}
    invocation["toolName"] = name
    if args is not UNSET:
        invocation["args"] = {} if args == "" else decode_json(args)
    invocation["state"] = "call"
    if provider:
        invocation["providerExecuted"] = True
    return {"type": "tool-invocation", "toolInvocation": invocation}


def make_answer(
    call_id: str | None, name: str | None, content: Json, *, failed: bool = False
) -> Answer:
    """Return the answer to a call, judged by its fields and, where they say nothing, its text.

    >>> make_answer("c1", None, "Error: no such city").failed
    True
    """
    result = _result_of(content)
    found = failure_of_message(result)
    known = failed or found.failed is True
    text = found.message or (text_of(result) if known else None)
    return Answer(call_id, name, result, known, text)


def _result_of(content: Json) -> Json:
    """Return the result inside a message's content: text parts joined, JSON and reprs decoded."""
    if isinstance(content, list) and content:
        texts = [text_in(part) for part in content]
        if all(text is not None for text in texts):
            content = "\n".join(map(str, texts))
    if not isinstance(content, str):
        return content
    value = decode_json(content)
    if isinstance(value, str):
        parsed = decode_repr(value)
        return value if parsed is UNSET else parsed
    return value


def text_in(block: Json) -> str | None:
    """Return the text of a content block that is nothing but text.

    >>> text_in({"type": "output_text", "text": "hi"}), text_in({"type": "image"})
    ('hi', None)
    """
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return None
    kind = block.get("type", "text")
    if not isinstance(kind, str) or kind not in _TEXTS:
        return None
    texts = (block.get(key) for key in _TEXTS[kind])
    return next((text for text in texts if isinstance(text, str)), None)


def fill(invocation: dict[str, Any], answer: Answer) -> None:
    """Put an answer into the invocation it belongs to."""
    invocation["state"] = "result"
    if not invocation.get("toolName") and answer.name:
        invocation["toolName"] = answer.name
    if answer.result is not UNSET:
        invocation["result"] = answer.result
    failure = answer.failure or _mcp_failure(invocation.get("toolName"), answer.result)
    if answer.failed or failure:
        invocation["isError"] = True
    if failure:
        invocation["errorText"] = failure


def _mcp_failure(name: Json, result: Json | UnsetType) -> str | None:
    """Return the error text of an MCP server, which names the very tool that was called."""
    found, tool = failure_of_mcp_result(result)
    if not found.failed or not isinstance(name, str) or tool is None:
        return None
    return found.message if same_tool(name, tool) or ends_with_tool(name, tool) else None


def first_text(block: dict[str, Json], keys: Iterable[str]) -> str | None:
    """Return the first of the members that is a non-empty text."""
    return next((text for key in keys if (text := text_of(block.get(key)))), None)


def joined(texts: Iterable[Json], separator: str = "\n") -> str:
    """Return the non-empty texts among `texts`, joined."""
    return separator.join(text for text in texts if isinstance(text, str) and text)
