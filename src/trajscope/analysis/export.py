"""An execution graph as text: GraphML, DOT, Mermaid.

One thing a newcomer would get wrong: names, arguments and results come from the trace and may hold
anything. Each writer escapes for its own language; what a language cannot hold (most control
characters) is spelled `\\u0000`, so that two ids that differ stay two ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import networkx as nx

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
LONGEST_LABEL = 80


def to_graphml(graph: nx.DiGraph[str]) -> str:
    """Return the graph as GraphML, every field a scalar: objects and lists as JSON, null left out.

    Written by networkx, whose reader gives the same ids, edges and scalars back.
    """
    flat: nx.DiGraph[str] = nx.DiGraph()
    for node, fields in graph.nodes(data=True):
        flat.add_node(_xml(node), **_scalars(fields))
    for start, end, fields in graph.edges(data=True):
        flat.add_edge(_xml(start), _xml(end), **_scalars(fields))
    return "\n".join(nx.generate_graphml(flat)) + "\n"


def to_dot(graph: nx.DiGraph[str]) -> str:
    """Return the graph in the language of Graphviz, parents above their children."""
    lines = ["digraph trajectory {", "  rankdir=BT;", "  node [shape=box, style=rounded];"]
    for node, fields in graph.nodes(data=True):
        marks = "".join(f", {mark}" for mark in _dot_marks(fields))
        label = _dot(_label(fields).replace("&", "&amp;"))  # Graphviz reads entities in labels
        lines.append(f"  {_dot(node)} [label={label}{marks}];")
    for start, end, fields in graph.edges(data=True):
        style = "" if fields["kind"] == "child_of" else " [style=dashed, constraint=false]"
        lines.append(f"  {_dot(start)} -> {_dot(end)}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(graph: nx.DiGraph[str]) -> str:
    """Return the graph as a Mermaid flowchart, parents above their children.

    Nodes are numbered, so that no id of the trace is read as Mermaid.
    """
    lines = ["flowchart BT"]
    numbers = {node: f"n{i}" for i, node in enumerate(graph)}
    for node, fields in graph.nodes(data=True):
        mark = ":::failed" if fields.get("failed") is True else ""
        lines.append(f'  {numbers[node]}["{_mermaid(_label(fields))}"]{mark}')
    for start, end, fields in graph.edges(data=True):
        arrow = "-->" if fields["kind"] == "child_of" else "-.->"
        lines.append(f"  {numbers[start]} {arrow} {numbers[end]}")
    lines.append("  classDef failed stroke:#c00,stroke-width:3px")
    return "\n".join(lines) + "\n"


GRAPH_FORMATS: dict[str, Callable[[nx.DiGraph[str]], str]] = {
    "graphml": to_graphml,
    "dot": to_dot,
    "mermaid": to_mermaid,
}
"""The writers by the name users type."""


def _label(fields: dict[str, Any]) -> str:
    name = CONTROL.sub("\ufffd", str(fields["name"]))
    if len(name) > LONGEST_LABEL:
        name = name[: LONGEST_LABEL - 1] + "…"
    label = f"{fields['step_type']} {name}"
    if fields.get("executed") is False:
        label += " (requested, not run)"
    if (duration := fields.get("duration_ms")) is not None:
        label += f" {duration:.6g} ms"
    return label + (" failed" if fields.get("failed") is True else "")


def _scalars(fields: dict[str, Any]) -> dict[str, bool | int | float | str]:
    flat: dict[str, bool | int | float | str] = {}
    for name, value in fields.items():
        if value is None:
            continue
        if isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**63):
            flat[name] = value
        else:
            flat[name] = _xml(value if isinstance(value, str) else _json(value))
    return flat


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deep to write)"


def _xml(text: str) -> str:
    return NOT_XML.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def _dot(text: str) -> str:
    escaped = CONTROL.sub(_spelled, text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _dot_marks(fields: dict[str, Any]) -> list[str]:
    marks = ["color=red", "penwidth=2"] if fields.get("failed") is True else []
    return [*marks, 'style="rounded,dashed"'] if fields.get("executed") is False else marks


def _mermaid(text: str) -> str:
    return "".join(c if c.isalnum() or c in " _.,:()-" else f"#{ord(c)};" for c in text)
