"""Values as text that tells equal ones from others, for sorting and for keys.

One thing a newcomer would get wrong: not every value has a JSON text. Half of a surrogate pair and
a list nested beyond the stack come in as well, and must not stop an ingest.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.model.span import Json


def encoded(value: Json | msgspec.Struct) -> bytes:
    """Return a text that is equal for equal values, whatever the order of their keys."""
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (UnicodeEncodeError, RecursionError):  # no UTF-8, or nested beyond the stack
        return _flat(value).encode("utf-8", "surrogatepass")


def _flat(value: Json | msgspec.Struct) -> str:
    """Every part of a value after the kind and size of what it stands in; without recursion."""
    found: list[str] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, msgspec.Struct):
            item = msgspec.structs.asdict(item)
        if isinstance(item, dict):
            found.append(f"{{{len(item)}")
            stack.extend(part for key in sorted(item, reverse=True) for part in (item[key], key))
        elif isinstance(item, list | tuple):
            found.append(f"[{len(item)}")
            stack.extend(reversed(item))
        else:
            found.append(repr(item))
    return " ".join(found)
