"""Objects written as Python reprs inside a text: `ToolCall(name='add', arguments={'a': 1})`.

One thing a newcomer would get wrong: such a text as a whole is no literal; it holds enums and
addresses between `<` and `>`. Only the objects asked for are read, each on its own.
"""

from __future__ import annotations

import ast
import re

from trajscope.model.span import Json
from trajscope.values import MAX_REPR_CHARS, decode_json, repr_at

_OPAQUE = re.compile(r"<(?:[\w.]+: )?('[^'\\]*'|\d+)>|<[^<>'\"]*>")
_MAX_OBJECTS = 1_000


def objects_in(value: Json, name: str) -> list[dict[str, Json]]:
    """Return the fields of every object of the class `name` in the texts of a value, in order.

    An object inside another one is an object of fields; what is no literal is null.

    >>> objects_in("[Call(tool='add', args={'a': 1}, kind=<Kind.X: 'x'>)]", "Call")
    [{'tool': 'add', 'args': {'a': 1}, 'kind': 'x'}]
    """
    found: list[dict[str, Json]] = []
    stack = [decode_json(value)]
    while stack and len(found) < _MAX_OBJECTS:
        node = stack.pop()
        if isinstance(node, dict | list):
            inner = node.values() if isinstance(node, dict) else node
            stack += reversed(list(inner))
        elif isinstance(node, str) and name in node:
            found += _objects_in(node, name)
    return found


def _objects_in(text: str, name: str) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = []
    for match in list(re.finditer(rf"\b{re.escape(name)}(?=\()", text))[:_MAX_OBJECTS]:
        literal = repr_at(text, match.end())
        if not literal or len(literal) > MAX_REPR_CHARS:
            continue
        try:
            node = ast.parse("f" + _OPAQUE.sub(_named, literal), mode="eval").body
            fields = _value(node)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if isinstance(fields, dict):
            found.append(fields)
    return found


def _named(match: re.Match[str]) -> str:
    return match[1] or "None"


def _value(node: ast.expr) -> Json:
    if isinstance(node, ast.Call):
        return {k.arg: _value(k.value) for k in node.keywords if k.arg is not None}
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_value(k)): _value(v) for k, v in pairs if k is not None}
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else None
