"""Tool calls and tool results inside messages, whatever vocabulary the messages are written in.

One walk over the JSON finds the shapes of OTel GenAI parts, OpenAI chat and Responses items,
Anthropic content blocks, Gemini parts, LangChain messages, and the AI SDK's parts. One thing a
newcomer would get wrong: *input* messages repeat the history, so requests are read only from
output, and responses only from input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.evidence import failure_in_result
from trajscope.model.reading import ToolRequest, ToolResponse
from trajscope.model.span import Json
from trajscope.values import content_of, decode_arguments, decode_json, decode_result, text_of

_REQUEST_TYPES = frozenset(
    {
        "tool_call",
        "tool-call",
        "tool_use",
        "function_call",
        "function",
        "toolCall",
        "tool_call_request",
    }
    | {"server_tool_use", "server_tool_call", "mcp_call", "mcp_tool_use", "tool-use"}
)
_PROVIDER_TYPES = frozenset({"server_tool_use", "server_tool_call", "mcp_call", "mcp_tool_use"})
_RESPONSE_TYPES = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "function_call_output", "tool_response"}
    | {"function_response", "tool", "tool-error", "tool_return", "tool-return", "ToolMessage"}
    | {"retry-prompt", "server_tool_call_response", "mcp_tool_result"}
)
_CALL_HOLDERS = ("function_call", "functionCall", "toolUse", "tool_call", "toolRequest")
_REQUEST_HOLDERS = frozenset({*_CALL_HOLDERS, "function", "function_call_name"})
_RESULT_HOLDERS = (
    *("function_response", "functionResponse", "toolResult", "tool_call_result", "toolResponse"),
)
_RESPONSE_HOLDERS = frozenset(_RESULT_HOLDERS)
_HELD_RESULTS = frozenset({"response", "content", "result", "output"})
_REQUEST_MARKS = _REQUEST_HOLDERS | {"toolCallId", "arguments", "args"}
_RESPONSE_MARKS = _RESPONSE_HOLDERS | {"lc", "output"}
"""Without one of these fields, and with a type and a role of something else, an object is no
request (response): most parts of a conversation are neither, and are known by one look."""
_NAME_KEYS = ("name", "toolName", "tool_name", "function_name")
_ARGS_KEYS = ("arguments", "args", "input", "toolInput", "tool_input")
_ID_KEYS = ("call_id", "toolCallId", "tool_call_id", "tool_use_id", "toolUseId", "id", "ref")
_RESULT_KEYS = (
    *("response", "result", "output", "content", "toolOutput", "parts", "contents", "error"),
)
_CONTENT_KEYS = ("content", "parts", "contents")
_MESSAGE_KEYS = frozenset({*_CONTENT_KEYS, "tool_call_id"})
_HOLDERS = (dict, list)
_MAX_NODES = 200_000

_MAX_REMEMBERED_BYTES = 8 * 1024
"""Longest message whose tool results are remembered; with 2,000 messages a few MB."""

T = TypeVar("T")
_items: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])


def find_requests(messages: Json) -> tuple[ToolRequest, ...]:
    """Return the tool calls that stand in output messages, in order.

    >>> find_requests([{"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}])
    (ToolRequest(name='add', call_id='t1', args={'a': 1}, provider_executed=False),)
    """
    found: list[ToolRequest] = []
    seen: set[str] = set()
    for request in _Walk(_request).over(decode_json(messages)):
        if request.call_id is None or request.call_id not in seen:
            found.append(request)
            if request.call_id is not None:
                seen.add(request.call_id)
    return tuple(found)


def find_responses(messages: Json) -> tuple[ToolResponse, ...]:
    """Return the tool results that stand in input messages, in order.

    Every turn of a conversation repeats the messages before it, so what was found in a message is
    remembered by its text: reading a conversation costs its length, not the square of it.

    >>> find_responses([{"role": "tool", "tool_call_id": "t1", "content": "18 C"}])[0].result
    '18 C'
    """
    found = _remembered(messages) if isinstance(messages, str) else None
    return tuple(_Walk(_response).over(decode_json(messages))) if found is None else found


def _remembered(text: str) -> tuple[ToolResponse, ...] | None:
    """The tool results in the text of a list, message by message; None where that may differ."""
    bare = text.strip()
    if bare[:1] != "[" or bare[-1:] != "]":
        return None
    found: list[ToolResponse] = []
    nodes = 1
    try:
        for item in _items.decode(bare):
            raw = bytes(item)
            of_item = _of_message if len(raw) <= _MAX_REMEMBERED_BYTES else _of_message.__wrapped__
            responses, walked = of_item(raw)
            found += responses
            nodes += walked
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return tuple(found) if nodes < _MAX_NODES else None


@lru_cache(maxsize=2000)
def _of_message(raw: bytes) -> tuple[tuple[ToolResponse, ...], int]:
    """The tool results in one message, and how many nodes of it were looked at."""
    walk = _Walk(_response)
    found = tuple(walk.over(msgspec.json.decode(raw)))
    return found, walk.nodes


class _Walk(Generic[T]):
    """Walks a JSON value in document order; counts the nodes it looks at, and stops at a limit."""

    __slots__ = ("_shape", "nodes")

    def __init__(self, shape: Callable[[dict[str, Json]], T | None]) -> None:
        self._shape = shape
        self.nodes = 0

    def over(self, value: Json) -> list[T]:
        """Return what `shape` makes of the objects it fits; nothing inside those is looked at."""
        made: list[T] = []
        inner: Any
        stack: list[Any] = [value] if isinstance(value, _HOLDERS) else []
        while stack and self.nodes < _MAX_NODES:
            self.nodes += 1
            node = stack.pop()
            if isinstance(node, dict):
                found = self._shape(node)
                if found is not None:
                    made.append(found)
                    continue
                inner = node.values()
            else:
                inner = node
            stack += [value for value in reversed(inner) if isinstance(value, _HOLDERS)]
        return made


def _request(node: dict[str, Json]) -> ToolRequest | None:
    kind = _type_of(node)
    if kind not in _REQUEST_TYPES and _REQUEST_MARKS.isdisjoint(node):
        return None
    if not _REQUEST_HOLDERS.isdisjoint(node) and (held := _held_request(node)) is not None:
        return held
    called = (
        kind in _REQUEST_TYPES
        or "toolCallId" in node
        or (kind is None and "id" in node and "args" in node)
        or (kind is None and isinstance(node.get("arguments"), dict | str))
    )
    if not called or kind in _RESPONSE_TYPES or _key_of(node, _ARGS_KEYS) is None:
        return None
    if _first(node, _NAME_KEYS) is None:
        return None
    provider = kind in _PROVIDER_TYPES or node.get("providerExecuted") is True
    return _make_request(node, node, provider=provider)


def _held_request(node: dict[str, Json]) -> ToolRequest | None:
    """The request that stands in a field of an object."""
    for key in _CALL_HOLDERS:
        inner = node.get(key)
        if isinstance(inner, dict) and _first(inner, _NAME_KEYS):
            return _make_request(inner, node, provider=False)
    function = node.get("function")
    if isinstance(function, dict) and text_of(function.get("name")) and _ARGS_KEYS[0] in function:
        return _make_request(function, node, provider=False)
    legacy = text_of(node.get("function_call_name"))
    if legacy is None:
        return None
    raw = node.get("function_call_arguments_json")  # OpenInference before it had tool calls
    return ToolRequest(legacy, None, decode_arguments(raw).args)


def _make_request(call: dict[str, Json], outer: dict[str, Json], *, provider: bool) -> ToolRequest:
    key = _key_of(call, _ARGS_KEYS)
    raw = None if key is None else call[key]
    args: Json | UnsetType = decode_arguments(raw).args
    if raw == "" and "arguments" in call:  # the OpenAI API writes "" for a call without arguments
        args = {}
    call_id = _first(outer, _ID_KEYS) or (_first(call, _ID_KEYS) if call is not outer else None)
    return ToolRequest(_first(call, _NAME_KEYS) or "", call_id, args, provider)


def _response(node: dict[str, Json]) -> ToolResponse | None:
    kind, role = _type_of(node), node.get("role")
    if (
        kind not in _RESPONSE_TYPES
        and role not in ("tool", "function")
        and _RESPONSE_MARKS.isdisjoint(node)
    ):
        return None
    if not _RESPONSE_HOLDERS.isdisjoint(node):
        for key in _RESULT_HOLDERS:
            inner = node.get(key)
            if isinstance(inner, dict) and not _HELD_RESULTS.isdisjoint(inner):
                return _make_response(inner, node)
    if node.get("lc") or kind in ("tool", "ToolMessage") or "output" in node:
        lc = decode_result(node)  # only these can be an envelope, and most objects are none
        if lc.call_id is not None and lc.value is not node:
            return _judged(lc.call_id, lc.name, lc.value, lc.status)
    is_message = role in ("tool", "function") and not _MESSAGE_KEYS.isdisjoint(node)
    if is_message and any(_holds_parts(node.get(key)) for key in _CONTENT_KEYS):
        return None
    answers = is_message or (kind in _RESPONSE_TYPES and _key_of(node, _RESULT_KEYS))
    return _make_response(node, node) if answers else None


def _type_of(node: dict[str, Json]) -> str | None:
    """The type, if it is text: a value of any other kind cannot be looked up."""
    kind = node.get("type")
    return kind if isinstance(kind, str) else None


def _holds_parts(content: Json) -> bool:
    """Whether the parts of a message are the answers, each with its own id."""
    return isinstance(content, list) and any(
        isinstance(p, dict)
        and (_type_of(p) in _RESPONSE_TYPES or not _RESPONSE_HOLDERS.isdisjoint(p))
        for p in content
    )


def _make_response(inner: dict[str, Json], outer: dict[str, Json]) -> ToolResponse | None:
    key = _key_of(inner, _RESULT_KEYS)
    value = content_of(decode_result(inner[key]).value) if key else UNSET
    if isinstance(value, dict) and value.keys() == {"type", "value"}:  # the AI SDK's typed output
        status = "error" if str(value["type"]).startswith("error") else None
        value = value["value"]
    elif isinstance(value, dict) and value.get("type") == "execution-denied":  # by a person
        reason = text_of(value.get("reason"))
        value, status = f"execution denied: {reason}" if reason else "execution denied", "error"
    else:
        status = text_of(inner.get("status")) or text_of(inner.get("outcome"))
    if (
        _is_flagged(inner)
        or (outer is not inner and _is_flagged(outer))
        or inner.get("type") in ("tool-error", "retry-prompt")
        or key == "error"
    ):
        status = "error"
    call_id = _first(inner, _ID_KEYS) or (_first(outer, _ID_KEYS) if outer is not inner else None)
    name = _first(inner, _NAME_KEYS)
    if isinstance(origin := inner.get("origin"), dict):  # Haystack: the call that is answered
        call_id, name = call_id or _first(origin, _ID_KEYS), name or _first(origin, _NAME_KEYS)
    return _judged(call_id, name, value, status)


def _is_flagged(node: dict[str, Json]) -> bool:
    return any(node.get(key) is True for key in ("is_error", "isError", "error"))


def _judged(
    call_id: str | None, name: str | None, value: Json | UnsetType, status: str | None
) -> ToolResponse:
    """Judge a result by its fields alone; what its prose says is for `assemble` to weigh."""
    found = failure_in_result(value)
    if status is not None and status.lower() in ("error", "failed", "failure"):
        text = found.message or (value if isinstance(value, str) else None) or status
        return ToolResponse(call_id, name, value, failed=True, failure=text)
    if found.failed:
        return ToolResponse(call_id, name, value, failed=True, failure=found.message)
    said_success = status is not None and status.lower() in ("success", "ok", "completed")
    return ToolResponse(call_id, name, value, failed=False if said_success else None)


def _first(node: dict[str, Json], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in node:
            value = node[key]
            if isinstance(value, str) and value:
                return value
    return None


def _key_of(node: dict[str, Json], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in node:
            return key
    return None
