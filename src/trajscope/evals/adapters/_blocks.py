"""One content block, item or part of a message, whatever library wrote it, as parts and answers.

The blocks of the libraries tell themselves apart by `type`, so one look-up serves them all. One
thing a newcomer would get wrong: an unknown block is kept as it is, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from trajscope.evals.adapters._parts import (
    Answer,
    Part,
    call_part,
    first_text,
    joined,
    make_answer,
    reasoning_part,
    text_in,
    text_part,
)
from trajscope.model.span import Json

Read = list[Part | Answer]
_IDS = ("call_id", "toolCallId", "tool_call_id", "tool_use_id", "toolUseId", "id")
_NAMES = ("name", "toolName", "tool_name")
_ARGS = ("args", "input", "arguments")
_RESULTS = ("output", "result", "content", "response", "outputs", "results", "tools")
_CALLS = frozenset(
    {"tool_use", "tool-call", "tool_call", "function_call", "custom_tool_call", "tool_call_request"}
    | {"invalid_tool_call", "server_tool_use", "server_tool_call", "mcp_tool_use"}
    | {"mcp_approval_request"}
)
_PROVIDER_CALLS = frozenset(
    {"server_tool_use", "server_tool_call", "mcp_tool_use", "mcp_approval_request"}
)
_ANSWER_ENDINGS = ("tool_result", "tool-result", "_output", "tool-error", "tool_call_response")
_REASONING = frozenset({"reasoning", "thinking", "reasoning_text", "redacted_thinking"})
_STATES = {
    "output-available": "result",
    "output-error": "output-error",
    "input-available": "call",
    "input-streaming": "partial-call",
}


def read_block(block: Json) -> Read:
    """Return what one block of a message's content is: parts, and answers to calls.

    >>> read_block({"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}})[0]["type"]
    'tool-invocation'
    """
    text = text_in(block)
    if text is not None:
        return [text_part(text)]
    if not isinstance(block, dict):
        return []
    for key, read in _WRAPPED.items():
        if isinstance(block.get(key), dict):
            return [read(block[key])]
    kind = block.get("type")
    if not isinstance(kind, str):
        return []
    if kind in _REASONING:
        return _reasoning(block)
    if (invocation := invocation_of_part(block)) is not None:
        return [{"type": "tool-invocation", "toolInvocation": {**invocation}}]
    if kind in _CALLS:
        provider = kind in _PROVIDER_CALLS or _at_provider(block)
        return [_call(block, first_text(block, _NAMES) or kind, provider=provider)]
    if kind.endswith(_ANSWER_ENDINGS) and first_text(block, _IDS):
        return [_answer(block, failed=kind == "tool-error" or _says_error(block))]
    if kind.endswith("_call") or kind == "program":
        return _hosted_call(block, kind.removesuffix("_call"))
    return [block]


def _reasoning(block: dict[str, Json]) -> Read:
    """Return a reasoning block; one without text (encrypted, redacted) is kept as it is."""
    text = first_text(block, ("reasoning", "thinking", "text", "content"))
    for key in ("details", "summary", "content"):
        inner = block.get(key)
        text = text or joined(text_in(p) for p in (inner if isinstance(inner, list) else ()))
    return [reasoning_part(text)] if text else [block]


def _call(block: dict[str, Json], name: str, *, provider: bool = False) -> Part:
    args = next((block[key] for key in _ARGS if key in block), UNSET)
    call_id = first_text(block, ("approval_request_id", *_IDS))
    return call_part(call_id, name, args, provider=provider)


def _at_provider(block: dict[str, Json]) -> bool:
    return block.get("providerExecuted") is True or block.get("execution") == "server"


def _answer(block: dict[str, Json], *, failed: bool) -> Answer:
    content = next((block[key] for key in _RESULTS if block.get(key) is not None), UNSET)
    if content is UNSET and block.get("error") is not None:
        content = block["error"]
    if isinstance(content, dict):
        if str(content.get("type", "")).endswith("_error"):  # Anthropic's server tools
            failed = True
        elif content.keys() <= {"type", "value", "providerOptions"} and "value" in content:
            failed = failed or str(content.get("type")).startswith("error")
            content = content["value"]
    return make_answer(first_text(block, _IDS), first_text(block, _NAMES), content, failed=failed)


def _says_error(block: dict[str, Json]) -> bool:
    flagged = any(block.get(key) is True for key in ("is_error", "isError"))
    return flagged or block.get("status") in ("error", "failed")


def _hosted_call(block: dict[str, Json], name: str) -> Read:
    """Return a call of a tool the provider hosts: an item that may hold its own answer.

    An item with a `call_id` is answered by an item of its own (`computer_call_output`).
    """
    arguments = {k: v for k, v in block.items() if k not in _NOT_ARGUMENTS and v is not None}
    args = next((block[key] for key in _ARGS if key in block), arguments)
    call_id = first_text(block, ("approval_request_id", "call_id", "id"))
    hosted = "call_id" not in block
    call = call_part(
        call_id,
        first_text(block, _NAMES) or name,
        args,
        provider=hosted or _at_provider(block),
    )
    error = block.get("error")
    if not hosted or block.get("status") in ("in_progress", "incomplete", "searching"):
        return [call]
    result = next((block[key] for key in _RESULTS if block.get(key) is not None), UNSET)
    failed = error is not None or _says_error(block)
    answer = make_answer(call_id, None, error if error is not None else result, failed=failed)
    return [call, answer]


_NOT_ARGUMENTS = frozenset(
    {"type", "id", "call_id", "status", "error", "created_by", "caller", "execution"} | {*_RESULTS}
)


def invocation_of_part(part: Json) -> dict[str, Any] | None:
    """Return the tool invocation a UI part holds: the reference's own, or the AI SDK's.

    >>> part = {"type": "tool-add", "toolCallId": "1", "state": "output-available", "output": 3}
    >>> invocation_of_part(part)
    {'toolCallId': '1', 'toolName': 'add', 'state': 'result', 'result': 3}
    """
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind == "tool-invocation":
        invocation = part.get("toolInvocation")
        return invocation if isinstance(invocation, dict) else None
    state = part.get("state")
    if not isinstance(kind, str) or not isinstance(state, str):
        return None
    name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    if name == kind:
        return None
    found = {"toolCallId": part.get("toolCallId"), "toolName": name, "args": part.get("input")}
    found["state"] = _STATES.get(state, state)
    found |= {ours: part[key] for key, ours in _COPIED.items() if part.get(key) is not None}
    return {key: value for key, value in found.items() if value is not None}


_COPIED = {
    "output": "result",
    "errorText": "errorText",
    "providerExecuted": "providerExecuted",
}


def _gemini_call(call: dict[str, Json]) -> Part:
    return _call(call, first_text(call, _NAMES) or "")


def _bedrock_answer(block: dict[str, Json]) -> Answer:
    """Return the answer of a tool result whose content may be one JSON value."""
    match block.get("content"):
        case [{"json": value}]:
            block = {**block, "content": value}
    return _answer(block, failed=_says_error(block))


_WRAPPED: dict[str, Callable[[dict[str, Json]], Part | Answer]] = {
    "functionCall": _gemini_call,
    "function_call": _gemini_call,
    "functionResponse": lambda block: _answer(block, failed=False),
    "function_response": lambda block: _answer(block, failed=False),
    "toolUse": lambda block: call_part(
        first_text(block, _IDS), first_text(block, _NAMES) or "", block.get("input")
    ),
    "toolResult": _bedrock_answer,
}
"""Blocks without a type, told apart by their only key (Gemini, Bedrock)."""
