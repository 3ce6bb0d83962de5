"""One short text per value of arguments, equal where the values are: what SQL compares them by.

One thing a newcomer would get wrong: the JSON text of a column will not do. Key order and the
spelling of a number (1, 1.0) are nothing, and a NaN, which JSON does not know, equals only itself.
"""

from __future__ import annotations

import math
import re
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.match import json_key
from trajscope.model.span import Json
from trajscope.store.encoding import TOO_DEEP, well_formed

MAX_PLAIN = 40
"""Longest text that is its own key; of a longer one 128 bits of hash are kept."""

NAN_MARK = "~"
"""First character of the key of a value that holds a NaN: such a value equals no other by value,
and itself as a text."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_FLOAT = re.compile(rb"\d[.eE]")


def args_key(value: Json | UnsetType) -> str | None:
    """Return a text that is equal for two recorded arguments exactly when they are equal.

    None for arguments that were not recorded, be they absent or null. One pass in C for most
    values: this runs for every tool call of an ingest.

    >>> args_key({"b": 1.0, "a": [True]}) == args_key({"a": [True], "b": 1}), args_key(None)
    (True, None)
    """
    if value is UNSET or value is None:
        return None
    try:
        text = _encode(value)
        if b"null" in text and not _is_finite(value):
            return _of_not_finite(value)
        if _FLOAT.search(text):
            text = _encode(_with_whole_numbers(value))
    except UnicodeEncodeError:  # half of a surrogate pair; the column holds U+FFFD for it
        return args_key(well_formed(value))
    except RecursionError:
        text = TOO_DEEP
    return text.decode() if len(text) <= MAX_PLAIN else _hashed(text)


def _hashed(text: bytes) -> str:
    return "#" + blake2b(text, digest_size=16).hexdigest()


def _of_not_finite(value: Json) -> str:
    text = json_key(value)
    return (NAN_MARK if "NaN" in text else "") + _hashed(text.encode())


def _is_finite(value: Json) -> bool:
    return all(not isinstance(item, float) or math.isfinite(item) for item in _scalars(value))


def _scalars(value: Json) -> list[Json]:
    stack, found = [value], []
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
        else:
            found.append(item)
    return found


def _with_whole_numbers(value: Json) -> Json:
    """Return a copy with 1.0 written 1; without recursion, so that depth makes no difference."""
    top: list[Any] = [value]
    stack: list[tuple[Any, list[Any]]] = [(top, [0])]
    while stack:
        container, places = stack.pop()
        for place in places:
            item = container[place]
            if isinstance(item, dict):
                container[place] = item = dict(item)
                stack.append((item, list(item)))
            elif isinstance(item, list | tuple):
                container[place] = item = list(item)
                stack.append((item, list(range(len(item)))))
            elif isinstance(item, float) and item.is_integer():
                container[place] = int(item)
    return top[0]
