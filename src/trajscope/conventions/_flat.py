"""Messages written as one attribute per leaf, rebuilt."""

from __future__ import annotations

import re
from typing import Any

from trajscope.conventions._vocabulary import Names
from trajscope.model.span import Json

_INDEX = re.compile(r"\d{1,6}")
_MAX_PARTS = 32
"""Longest path of a leaf that is followed; real ones have nine parts."""


def unflattened(attributes: dict[str, Json], prefixes: Names) -> list[Json]:
    """Rebuild messages written as one attribute per leaf: `p.0.message.role` -> [{"role": …}].

    Numbers in a path are positions; the wrapper words `message`, `tool_call` and
    `message_content` of OpenInference are left out of the result.
    """
    if not prefixes:
        return []
    tree: dict[str, Any] = {}
    for prefix in prefixes:
        for key, value in attributes.items():
            if not key.startswith(prefix):
                continue
            parts = [p for p in key[len(prefix) :].split(".") if p not in _WRAPPERS]
            if not 0 < len(parts) <= _MAX_PARTS:
                continue
            *path, leaf = parts
            node = tree
            for part in path:
                inner = node.setdefault(part, {})
                if not isinstance(inner, dict):
                    inner = node[part] = {}
                node = inner
            node.setdefault(leaf, value)
    listed = _listed(tree)
    return listed if isinstance(listed, list) else []


_WRAPPERS = frozenset({"message", "tool_call", "message_content"})


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(_INDEX.fullmatch(k) for k in node):
        return [_listed(node[k]) for k in sorted(node, key=int)]
    return {k: _listed(v) for k, v in node.items()}
