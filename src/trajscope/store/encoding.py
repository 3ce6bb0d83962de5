"""JSON text of recorded values, exact: what goes into a JSON column comes back the same.

One thing a newcomer would get wrong: the fast encoder writes NaN and the infinities as null. They
are found by that and written again as the words DuckDB and Python both read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from trajscope.model.span import Json

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode

TOO_DEEP = b'{"trajscope":"nested too deeply to be stored"}'
"""Stands for a value that the interpreter cannot follow to its bottom."""


def encode_json(value: Any) -> bytes:
    """Return `value` (a JSON value or a struct) as JSON text.

    >>> encode_json({"a": float("nan"), "b": 2**70})
    b'{"a": NaN, "b": 1180591620717411303424}'
    """
    try:
        text = _encode(value)
        if b"null" in text and not _is_finite(msgspec.to_builtins(value)):
            text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 can hold
        text = json.dumps(well_formed(msgspec.to_builtins(value)), ensure_ascii=False).encode()
    except RecursionError:
        return TOO_DEEP
    return text


def encode_column(values: Iterable[Any]) -> list[bytes]:
    """Return every value as JSON text; the same as `encode_json` of each, in half the time."""
    values = list(values)
    try:
        texts = list(map(_encode, values))
    except (UnicodeEncodeError, RecursionError):
        return [encode_json(value) for value in values]
    if b"null" not in b"".join(texts):  # one long search is three times as fast as many short ones
        return texts
    return [encode_json(values[at]) if b"null" in text else text for at, text in enumerate(texts)]


def decode_json(text: str) -> Json:
    """Return the value of JSON text that `encode_json` wrote."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:  # NaN and the infinities
        return json.loads(text)


def decode_as(decoder: msgspec.json.Decoder[T], text: str) -> T:
    """Return the struct whose JSON text `encode_json` wrote."""
    try:
        return decoder.decode(text)
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(text), decoder.type)  # type: ignore[no-any-return]


def _is_finite(value: Json) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                return False
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return True


def well_formed(value: Json) -> Json:
    """Return `value` with halves of surrogate pairs, which no UTF-8 can hold, as U+FFFD.

    >>> well_formed("a\\ud800b") == "a\\ufffdb"
    True
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {well_formed(k): well_formed(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [well_formed(v) for v in value]
    return value
