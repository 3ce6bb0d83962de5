"""One message of any library as turns: who speaks, in parts, and answers to earlier calls.

One thing a newcomer would get wrong: one message may be several turns. A pydantic-ai request holds
the system prompt, the user's words and tool results side by side; a system message in the middle of
a conversation is none of the user's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trajscope.evals.adapters._blocks import Read, read_block
from trajscope.evals.adapters._parts import (
    call_part,
    first_text,
    joined,
    make_answer,
    reasoning_part,
    text_part,
)
from trajscope.evals.adapters._pydantic_ai import is_model_message, read_model_message
from trajscope.evals.adapters._turn import Turn
from trajscope.model.span import Json

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
"""Roles by other names; LangChain names them in the type of a message."""

_LANGCHAIN = ("human", "ai", "system", "tool", "function")
_ITEMS = frozenset(
    {"reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_response"}
    | {"additional_tools"}
)
"""Items of OpenAI's Responses that say nothing of what the agent did, or hide what they say."""


def read_message(message: dict[str, Json]) -> list[Turn] | None:
    """Return the turns of one message; None when it is no message of a known shape."""
    message = _unwrapped(message)
    if is_model_message(message):
        return read_model_message(message)
    role = message.get("role")
    if isinstance(message.get("content"), dict) and (role is None or isinstance(role, str)):
        return [Turn(role or "", [], whole=message)]
    if isinstance(role, str):
        return [_turn(message, _ROLES.get(role, role))]
    kind = _langchain_kind(message.get("type"))
    if kind is not None and "content" in message:
        return [_turn(message, _ROLES.get(kind, kind))]
    return _item(message)


def _langchain_kind(kind: Json) -> str | None:
    """Return the type of a LangChain message: "ai" for "AIMessage" and "AIMessageChunk" too."""
    if not isinstance(kind, str):
        return None
    kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    return kind if kind in _LANGCHAIN else None


def _item(message: dict[str, Json]) -> list[Turn] | None:
    """Return the turn of an item of OpenAI's Responses, which has a type and no role."""
    read = read_block(message)
    if not read or (read[0] is message and message.get("type") not in _ITEMS):
        return None
    return [Turn("assistant", read, id=first_text(message, ("id",)))]


def _unwrapped(message: dict[str, Json]) -> dict[str, Json]:
    """Return the fields of a serialised LangChain message, in either of its envelopes."""
    inner = message.get("kwargs") if message.get("lc") else message.get("data")
    if isinstance(inner, dict) and "content" in inner:
        kind = message.get("type")
        named = message.get("id")
        if message.get("lc"):
            kind = named[-1] if isinstance(named, list) and named else None
        return {"type": kind, **inner}
    return message


def _turn(message: dict[str, Json], role: str) -> Turn:
    """Return the turn of a message with a role: its own fields around its content's blocks."""
    turn = Turn(
        role, [], id=first_text(message, ("id",)), created_at=first_text(message, ("createdAt",))
    )
    content, parts = message.get("content"), message.get("parts")
    blocks = parts if isinstance(parts, list) and parts else content
    read = _blocks(blocks)
    if role == "tool" or message.get("tool_call_id"):
        if any(isinstance(item, tuple) for item in read):
            return turn._replace(parts=read)
        flags = ("is_error", "isError", "tool_call_error")
        failed = message.get("status") == "error" or any(message.get(f) is True for f in flags)
        call_id = first_text(message, ("tool_call_id", "toolCallId"))
        name = first_text(message, ("name", "tool_name"))
        answer = make_answer(call_id, name, content, failed=failed)
        return turn._replace(parts=[answer])
    thoughts = [message.get(key) for key in ("reasoning_content", "reasoning")]
    thought = joined(thoughts[:1]) or joined(thoughts[1:])
    if thought:
        read = [reasoning_part(thought), *read]
    if blocks is parts and isinstance(content, str) and content and not _has_text(read):
        read = [text_part(content), *read]
    refusal = message.get("refusal")
    read += [text_part(refusal)] if isinstance(refusal, str) and refusal else []
    return turn._replace(parts=read + _calls_beside(message, read))


def _blocks(content: Json) -> Read:
    if isinstance(content, str):
        return [text_part(content)] if content else []
    if isinstance(content, dict):
        content = [content]
    blocks: Iterable[Json] = content if isinstance(content, list) else ()
    return [item for block in blocks for item in read_block(block)]


def _has_text(read: Read) -> bool:
    return any(isinstance(item, dict) and item.get("type") == "text" for item in read)


def _calls_beside(message: dict[str, Json], read: Read) -> Read:
    """Return the calls a message lists beside its content; those the content holds are known."""
    known = {
        item["toolInvocation"].get("toolCallId")
        for item in read
        if isinstance(item, dict) and isinstance(item.get("toolInvocation"), dict)
    } - {None}
    found: Read = []
    for key in ("tool_calls", "invalid_tool_calls", "toolInvocations"):
        calls = message.get(key)
        for call in calls if isinstance(calls, list) else ():
            part = _listed_call(call)
            if part is not None and part["toolInvocation"].get("toolCallId") not in known:
                found.append(part)
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and not found:
        found.append(call_part(None, first_text(legacy, ("name",)) or "", legacy.get("arguments")))
    return found


def _listed_call(call: Json) -> dict[str, Any] | None:
    if not isinstance(call, dict):
        return None
    inner = next((call[k] for k in ("function", "custom") if isinstance(call.get(k), dict)), None)
    if inner is not None:
        args = inner.get("arguments", inner.get("input"))
        return call_part(first_text(call, ("id",)), first_text(inner, ("name",)) or "", args)
    if "toolName" in call:
        return {"type": "tool-invocation", "toolInvocation": {**call}}
    return call_part(first_text(call, ("id",)), first_text(call, ("name",)) or "", call.get("args"))
