"""A look at the first records of a capture, for recognising it: the head, mended where it is cut.

One thing a newcomer would get wrong: the head nearly always ends in the middle of a record. It is
closed behind its last whole value, so that the members before the cut can be looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from trajscope.model.span import Json

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[{}\[\],]', re.DOTALL)
_MAX_VALUES = 4
_MAX_ITEMS = 16
_BOM = b"\xef\xbb\xbf"


def decode_json(text: bytes) -> Json:
    """Return the value of JSON text; NaN and the infinities, which are no JSON, are null.

    Raises:
        ValueError: the text is no JSON value, or cannot be followed to its bottom.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError):
        pass
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


@lru_cache(maxsize=2)
def first_values(head: bytes) -> list[Json]:
    """Return the first values of the head of a JSON capture; [] if it holds none.

    Every format asks for those of one head, so they are kept; nobody may change them.

    >>> first_values(b'{"a": 1}\\n{"b": {"c": [1, "cut')
    [{'a': 1}, {'b': {'c': [1]}}]
    """
    found: list[Json] = []
    start = 0
    while len(found) < _MAX_VALUES and start < len(head):
        text = head[start:].removeprefix(_BOM).lstrip()
        if text[:1] not in (b"{", b"["):
            break
        value, end = _first_value(text)
        if value is None:
            break
        found.append(value)
        start = len(head) - len(text) + end
    return found


def _first_value(text: bytes) -> tuple[Json, int]:
    """The value at the start of `text`, or what of it is whole, and where it ends."""
    closers = bytearray()
    whole = 0
    for token in _TOKEN.finditer(text):
        char = text[token.start()]
        if char in b"{[":
            closers.append(ord("}") if char in b"{" else ord("]"))
            whole = token.end()
        elif char in b"}]":
            whole = token.end()
            if not closers:
                break
            closers.pop()
            if not closers:
                break
        elif char in b",":
            whole = token.start()
        elif not token[1]:  # a quote that is never closed
            break
    mended = text[:whole] + bytes(reversed(closers))
    try:
        return decode_json(mended), whole if not closers else len(text)
    except ValueError:
        return None, len(text)


def first_records(head: bytes, members: tuple[str, ...]) -> Iterator[dict[str, Json]]:
    """Yield the first objects of a capture: those of arrays and of envelopes' `members` too."""
    stack = [(value, 0) for value in reversed(first_values(head))]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict):
            yield value
            inner = [value[m] for m in members if isinstance(value.get(m), list)]
            stack.extend((v, depth + 1) for v in inner if depth == 0)
        elif isinstance(value, list) and depth < 3:
            stack.extend((item, depth + 1) for item in reversed(value[:_MAX_ITEMS]))
