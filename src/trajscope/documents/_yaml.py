"""From the node graph of a YAML text to plain values and their positions, within limits."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trajscope.errors import Location, UsageError
from trajscope.model.span import Json

KeyPath = tuple[str | int, ...]
Positions = dict[KeyPath, tuple[int, int]]

MAX_VALUES = 200_000
"""Most values a file may stand for once its aliases are resolved."""
MAX_DEPTH = 100
"""Deepest nesting; beyond it nobody wrote the file by hand."""

_MERGE = "tag:yaml.org,2002:merge"
_DEEP = re.compile(rf"(?:[\[{{]\s*){{{3 * MAX_DEPTH}}}")
"""Brackets upon brackets; the reader takes seconds for them before it gives up."""
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{kind}"
    for kind in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge")
)


def build_yaml(text: str, name: str) -> tuple[Json, Positions]:
    """Return the plain value of a YAML text and the positions of its parts.

    Raises:
        UsageError: it is no YAML, holds several documents, repeats a key, uses a tag of its own,
            or is larger or deeper than the limits.
    """
    if _DEEP.search(text):
        raise UsageError("is nested too deeply", at=Location(name))
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = True  # found below, with a better message
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = Location(name, mark.line + 1, mark.column + 1) if mark else Location(name)
        said = f"is no YAML: {error.problem or error.context}"
        if "another document" in said:
            said = "holds several documents; one was expected"
        raise UsageError(said, at=at) from error
    except (YAMLError, ValueError) as error:
        raise UsageError(f"is no YAML: {error}", at=Location(name)) from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", at=Location(name)) from error
    if node is None:
        raise UsageError("is empty; a mapping or a list was expected", at=Location(name))
    builder = _Builder(yaml.constructor, name)
    return builder.build(node, (), 0), builder.positions


class _Builder:
    def __init__(self, constructor: Any, name: str) -> None:
        self._constructor = constructor
        self._name = name
        self._count = 0
        self.positions: Positions = {}

    def build(self, node: Node, keys: KeyPath, depth: int) -> Json:
        """Return the value of a node; recursion is bounded by `MAX_DEPTH`."""
        self._count += 1
        if self._count > MAX_VALUES:
            line, column = self.positions.get(keys[:1], _place(node))
            raise UsageError(
                f"stands for more than {MAX_VALUES} values",
                at=Location(self._name, line, column),
                hint="an alias (*name) stands for all that its anchor holds",
            )
        if depth > MAX_DEPTH:
            raise self._error(
                node, f"is nested more than {MAX_DEPTH} deep", "an alias may hold itself"
            )
        self.positions.setdefault(keys, _place(node))
        if str(node.tag) not in _PLAIN:
            raise self._error(node, f"uses the tag {node.tag}; plain YAML was expected")
        if isinstance(node, MappingNode):
            return self._mapping(node, keys, depth)
        if isinstance(node, SequenceNode):
            items = enumerate(node.value)
            return [self.build(item, (*keys, index), depth + 1) for index, item in items]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, keys: KeyPath, depth: int) -> dict[str, Json]:
        own: dict[str, Json] = {}
        merged: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if str(key_node.tag) == _MERGE:
                merged = {**self._merged(value_node, keys, depth), **merged}
                continue
            key = self._key(key_node)
            if key in own:
                raise self._error(key_node, f"the key {key!r:.80} stands twice in one mapping")
            self.positions[(*keys, key)] = _place(key_node)
            own[key] = self.build(value_node, (*keys, key), depth + 1)
        return {**merged, **own}

    def _merged(self, node: Node, keys: KeyPath, depth: int) -> dict[str, Json]:
        parts = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, Json] = {}
        for part in parts:
            value = self.build(part, keys, depth + 1)
            if not isinstance(value, dict):
                raise self._error(part, "<< merges no mapping; a mapping was expected")
            merged = {**value, **merged}
        return merged

    def _key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise self._error(node, "is no key; a text was expected")
        return str(node.value)

    def _scalar(self, node: Node) -> Json:
        try:
            value = self._constructor.construct_object(node)
        except (YAMLError, ValueError) as error:
            raise self._error(node, f"cannot be read (got {node.value!r:.80})") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(node, f"is no finite number (got {node.value})")
        if isinstance(value, date | datetime):
            return str(node.value)
        return value

    def _error(self, node: Node, message: str, hint: str | None = None) -> UsageError:
        line, column = _place(node)
        return UsageError(message, at=Location(self._name, line, column), hint=hint)


def _place(node: Node) -> tuple[int, int]:
    mark = node.start_mark
    return mark.line + 1, mark.column + 1
