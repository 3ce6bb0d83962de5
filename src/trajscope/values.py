"""Decoding of recorded values: JSON inside JSON, Python reprs, wrappers around them.

One thing a newcomer would get wrong: nothing here guesses. A value that is cut, a placeholder or a
bare value whose argument name is lost is *unknown* (`UNSET`), and says so; it is never an empty
object.
"""

from __future__ import annotations

import ast
import math
import re
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.model.span import Json

MAX_REPR_CHARS = 100_000
"""Longest Python repr that is parsed; `ast.literal_eval` is slow and deep on longer text."""

PLACEHOLDERS = frozenset(
    {"", "N/A", "<not serializable>", "__REDACTED__", "[REDACTED]", "<redacted>"}
)
"""Texts that instrumentations write where they recorded nothing."""

_REPLACED = PLACEHOLDERS - {""}
_LAYERS = 4
_decoder = msgspec.json.Decoder()


def decode_json(value: Json) -> Json:
    """Return `value` with JSON text decoded, through several layers of encoding.

    Only text that holds an object, an array or a quoted text is decoded; `"12"` stays text, since
    a tool that answered the text 12 did not answer the number.

    >>> decode_json('"{\\\\"a\\\\": 1}"')
    {'a': 1}
    >>> decode_json("12")
    '12'
    """
    for _ in range(_LAYERS):
        if not isinstance(value, str):
            return value
        text = value.strip()
        if text[:1] not in ("{", "[", '"') or text[-1:] not in ("}", "]", '"'):
            return value
        try:
            value = _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return value
    return value


def decode_repr(text: str) -> Json | UnsetType:
    """Return the JSON value a Python repr of a dict, list or tuple stands for, else UNSET.

    >>> decode_repr("{'order_id': '12', 'fast': True}")
    {'order_id': '12', 'fast': True}
    >>> decode_repr("Order(id=12)")
    UNSET
    """
    text = text.strip()
    if text[:1] not in ("{", "[", "(") or len(text) > MAX_REPR_CHARS:
        return UNSET
    try:
        return _jsonable(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return UNSET


_REPR_TOKEN = re.compile(r"[\[({]|[\])}]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)


def repr_at(text: str, start: int) -> str:
    """Return the bracketed part of a Python repr that begins at `start`; "" if it never ends.

    For a list inside the repr of an object, which as a whole is no literal.

    >>> repr_at("Output(tags=['a]', 'b'], n=1)", 12)
    "['a]', 'b']"
    """
    depth = 0
    for match in _REPR_TOKEN.finditer(text, start):
        mark = match.group()
        if mark in "[({":
            depth += 1
        elif mark in "])}":
            depth -= 1
            if depth <= 0:
                return text[start : match.end()]
    return ""


def _jsonable(value: object) -> Json:
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [_jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError("no JSON value")


class Arguments(NamedTuple):
    """Decoded arguments: an object, or a bare value without its name; UNSET is unknown."""

    args: dict[str, Json] | UnsetType = UNSET
    bare: Json | UnsetType = UNSET


def decode_arguments(value: Json) -> Arguments:
    """Return the arguments of a call from whatever an instrumentation recorded of them.

    Unwraps `{"args": [], "kwargs": {…}}` (decorators, also with the wrapper's own options beside
    them), `{"kwargs": {…}}`, and LangChain's `{"input_str": "<repr>", "inputs": {…}, …}`. A text
    that starts an object and does not parse was cut, so nothing is known of it.

    >>> decode_arguments('{"args": [], "kwargs": {"city": "Faro"}}').args
    {'city': 'Faro'}
    >>> decode_arguments("Faro")
    Arguments(args=UNSET, bare='Faro')
    >>> decode_arguments('{"city": "Fa')
    Arguments(args=UNSET, bare=UNSET)
    """
    value = decode_json(value)
    if isinstance(value, str):
        if value.strip() in PLACEHOLDERS:
            return Arguments()
        if value.lstrip()[:1] == "{":
            parsed = decode_repr(value)
            return _unwrap_arguments(parsed) if isinstance(parsed, dict) else Arguments()
        return Arguments(bare=value)
    if isinstance(value, dict):
        return _unwrap_arguments(value)
    return Arguments() if value is None else Arguments(bare=value)


def _unwrap_arguments(value: dict[str, Json]) -> Arguments:
    keys = value.keys()
    if "input_str" in keys:
        inputs = value.get("inputs")
        return (
            Arguments(inputs) if isinstance(inputs, dict) else decode_arguments(value["input_str"])
        )
    if isinstance(value.get("kwargs"), dict) and (
        keys <= {"args", "kwargs"} or isinstance(value.get("args"), list)
    ):
        positional = value.get("args") or []
        if not positional:
            return Arguments(value["kwargs"])
        lone = isinstance(positional, list) and len(positional) == 1 and not value["kwargs"]
        return Arguments(bare=positional[0]) if lone else Arguments()
    return Arguments(value)


class Result(NamedTuple):
    """A decoded tool result, with what its envelope says of the call.

    value: the result itself, envelopes of LangChain messages removed. call_id, name: of the call
    it answers. status: the envelope's own word ("success", "error"), if it has one.
    """

    value: Json | UnsetType = UNSET
    call_id: str | None = None
    name: str | None = None
    status: str | None = None


def decode_result(value: Json) -> Result:
    """Return a tool result from whatever an instrumentation recorded of it.

    >>> decode_result('{"type": "tool", "data": {"content": "18 C", "status": "success"}}').value
    '18 C'
    """
    value = decode_json(value)
    if isinstance(value, str):
        if value in _REPLACED:
            return Result()
        parsed = decode_repr(value)
        value = parsed if isinstance(parsed, dict | list) else value
    if isinstance(value, dict):
        message = _tool_message(value)
        if (
            message is None
            and isinstance(value.get("output"), dict)
            and value.keys() <= {"output", "kwargs"}
        ):
            message = _tool_message(value["output"])
        if message is not None:
            return Result(
                content_of(message.get("content")),
                text_of(message.get("tool_call_id")),
                text_of(message.get("name")),
                text_of(message.get("status")),
            )
        if value.keys() == {"output", "kwargs"}:
            return Result(value["output"])
    return Result(value)


def _tool_message(value: dict[str, Json]) -> dict[str, Json] | None:
    """The fields of a serialised LangChain ToolMessage, in any of its three JSON forms."""
    if value.get("lc"):
        ident, kwargs = value.get("id"), value.get("kwargs")
        if isinstance(ident, list) and ident[-1:] == ["ToolMessage"]:
            return kwargs if isinstance(kwargs, dict) else None
    kind = value.get("type")
    if kind not in ("tool", "ToolMessage"):
        return None
    data = value.get("data")
    if kind == "tool" and isinstance(data, dict) and "content" in data:
        return data
    return value if "content" in value and "tool_call_id" in value else None


def content_of(content: Json) -> Json:
    """Return a message's content, its parts joined when all of them are text.

    >>> content_of([{"type": "text", "text": "18 C"}])
    '18 C'
    """
    if isinstance(content, list) and content:
        texts = [_text_of_part(p) for p in content]
        if all(isinstance(t, str) for t in texts):
            content = "\n".join(map(str, texts))
    return decode_json(content)


def _text_of_part(part: Json) -> Json:
    """The text of one part: under `text`, or under `content` by the OTel GenAI conventions."""
    if not isinstance(part, dict):
        return part
    return part["content"] if part.get("type") == "text" and "content" in part else part.get("text")


def text_of(value: Json) -> str | None:
    """Return `value` if it is non-empty text, else None."""
    return value if isinstance(value, str) and value else None


def count_of(value: Json) -> int | None:
    """Return `value` as a count, or None when it is no finite number that is not negative.

    >>> count_of("12"), count_of(3.0), count_of(True), count_of("NaN")
    (12, 3, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value >= 0 else None
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


def known_equal(one: Json | UnsetType, other: Json | UnsetType) -> bool:
    """Whether two values are both known, and equal (see `equal_json`).

    >>> known_equal({"a": 1}, {"a": 1.0}), known_equal(UNSET, UNSET)
    (True, False)
    """
    return one is not UNSET and other is not UNSET and equal_json(one, other)


def equal_json(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal: key order is nothing, 1 equals 1.0, true is not 1.

    >>> equal_json({"a": 1, "b": [True]}, {"b": [True], "a": 1.0})
    True
    >>> equal_json(0, False), equal_json("2", 2)
    (False, False)
    """
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, bool) or isinstance(b, bool):
            if a is not b:
                return False
        elif isinstance(a, int | float) and isinstance(b, int | float):
            if a != b:
                return False
        elif isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            stack.extend((a[k], b[k]) for k in a)
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b, strict=True))
        elif type(a) is not type(b) or a != b:
            return False
    return True
