"""Nested attributes to the dotted names they were recorded under.

One thing a newcomer would get wrong: not every object was nested by the store. Attributes that hold
JSON text (`metadata`, tool arguments) come out of some stores decoded, and stay one attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trajscope.model.span import Json

_MAX_PARTS = 32
"""Longest path that is followed; real ones have nine parts."""


def flattened(nested: Mapping[str, Json], is_whole: Callable[[str], bool]) -> dict[str, Json]:
    """Return nested attributes by dotted names; nulls are left out.

    A list of objects gives `name.0.member`; a list of plain values is one attribute. `is_whole`
    says of a dotted name that its value is one attribute, whatever it holds.

    >>> flattened({"llm": {"messages": [{"message.role": "user"}]}}, lambda name: False)
    {'llm.messages.0.message.role': 'user'}
    """
    if not any(value is None or isinstance(value, dict | list) for value in nested.values()):
        return dict(nested)
    flat: dict[str, Json] = {}
    stack: list[tuple[str, Json, int]] = [(k, v, 1) for k, v in reversed(list(nested.items()))]
    while stack:
        name, value, parts = stack.pop()
        if value is None:
            continue
        if parts < _MAX_PARTS and not is_whole(name):
            if isinstance(value, dict) and value:
                inner = [(f"{name}.{k}", v, parts + 1) for k, v in value.items()]
                stack.extend(reversed(inner))
                continue
            if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
                inner = [(f"{name}.{i}", v, parts + 1) for i, v in enumerate(value)]
                stack.extend(reversed(inner))
                continue
        flat.setdefault(name, value)
    return flat
