"""One text per JSON value, for comparing and grouping values without comparing each with each.

One thing a newcomer would get wrong: this is no `json.dumps`. It does not recurse (recorded values
may be nested deeper than the interpreter's stack), and writes 1 and 1.0 alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence

from trajscope.model.span import Json


class _Text:
    """Something to write: a text, and the container it closes."""

    __slots__ = ("closes", "text")

    def __init__(self, text: str, closes: int | None = None) -> None:
        self.text = text
        self.closes = closes


def write_json(
    value: Json,
    scalar: Callable[[Json], str],
    keys: Callable[[Mapping[str, Json]], Sequence[str]],
) -> str | None:
    """Return a text of a JSON value: `scalar` writes what is no container, `keys` orders objects.

    None when the value contains itself.
    """
    out: list[str] = []
    stack: list[Json] = [value]
    open_ids: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, _Text):
            out.append(item.text)
            open_ids.discard(item.closes or 0)
        elif isinstance(item, Mapping | list | tuple):
            if id(item) in open_ids:
                return None
            open_ids.add(id(item))
            stack.extend(_opened(item, keys))
        else:
            out.append(scalar(item))
    return "".join(out)


def _opened(
    item: Mapping[str, Json] | Sequence[Json], keys: Callable[[Mapping[str, Json]], Sequence[str]]
) -> list[Json]:
    """Return what to write for a container, last first."""
    if isinstance(item, Mapping):
        todo: list[Json] = [_Text("}", id(item))]
        for key in reversed(keys(item)):
            todo += [_Text(","), item[key], _Text(f"{json.dumps(key)}:")]
        return [*todo, _Text("{")]
    todo = [_Text("]", id(item))]
    for element in reversed(item):
        todo += [_Text(","), element]
    return [*todo, _Text("[")]


def json_key(value: Json) -> str:
    """Return a text that is equal for two JSON values exactly when they are equal.

    >>> json_key({"b": 1.0, "a": True}) == json_key({"a": True, "b": 1}), json_key(True)
    (True, 'true')
    """
    text = write_json(value, _scalar, sorted)
    return text if text is not None else f"circular {id(value)}"


def _scalar(value: Json) -> str:
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return json.dumps(value, default=str)
