"""Objects of message libraries as the JSON they stand for, without importing those libraries.

One thing a newcomer would get wrong: nothing is serialised by the object itself. Its own methods
warn, fail, and differ between versions; its fields do not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

from pydantic import BaseModel

from trajscope.model.span import Json

_MAX_DEPTH = 100


def plain(value: Any) -> Json:
    """Return `value` as JSON; the very same object where it is JSON already.

    Beyond a depth of 100 values are taken as they are, and what contains itself becomes null there.

    >>> plain({"at": date(2026, 1, 2), "tags": ("a",)})
    {'at': '2026-01-02', 'tags': ['a']}
    """
    return _plain(value, ())


def _plain(value: Any, above: tuple[int, ...]) -> Json:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, above)
    if isinstance(value, str):
        return value
    if id(value) in above:
        return None
    if len(above) >= _MAX_DEPTH:
        return value if isinstance(value, dict | list) else None
    above = (*above, id(value))
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(item, above) for item in value]
        same = isinstance(value, list) and all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items
    fields = _fields(value)
    if fields is not None:
        members = {str(key): _plain(item, above) for key, item in fields.items()}
        same = type(value) is dict and all(
            key in value and value[key] is item for key, item in members.items()
        )
        return value if same else members
    return _text(value)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """Return the fields of a mapping, a pydantic model or a dataclass."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel):
        own = {name: getattr(value, name, None) for name in type(value).model_fields}
        return {**own, **(value.model_extra or {})}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    return None


def _text(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
