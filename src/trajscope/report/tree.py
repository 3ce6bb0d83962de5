"""The execution tree of a trajectory for terminals, and as nested JSON.

One thing a newcomer would get wrong: the JSON is written without recursion, since a chain of
spans may be far deeper than the interpreter's stack; deep trees are cut in the text form only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from trajscope.analysis import critical_path
from trajscope.assemble import OutlineRow
from trajscope.model.step import BaseStep, ModelGenerationStep, ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.report.show import json_text, outcome_of
from trajscope.report.text import count_text, duration_text, safe_text

MAX_DEPTH = 100
"""Deepest level that is drawn; what lies below is counted."""


def print_trees(console: Console, trajectories: Iterable[Trajectory]) -> None:
    """Print every trajectory as a tree: type, name, duration, tokens, failure marks."""
    for trajectory in trajectories:
        console.print(_tree(trajectory))


def _tree(trajectory: Trajectory) -> Tree:
    label = Text("trace ", style="bold") + Text(safe_text(trajectory.trace_id or "?"))
    label.append(f"  {duration_text(trajectory.total_duration_ms)}", style="dim")
    if trajectory.noise_span_count:
        label.append(f"  (+{trajectory.noise_span_count} noise spans hidden)", style="dim")
    tree = Tree(label, guide_style="dim")
    top = tree if trajectory.root is None else tree.add(_label(trajectory.root))
    orphans = set(trajectory.orphans)
    stack = [(step, top, 1) for step in reversed(trajectory.steps)]
    while stack:
        step, above, depth = stack.pop()
        if depth > MAX_DEPTH:
            above.add(Text("… deeper steps are not drawn", style="dim"))
            continue
        branch = above.add(_label(step, orphan=step.span_id in orphans))
        stack.extend((child, branch, depth + 1) for child in reversed(step.children))
    return tree


def _label(step: BaseStep, *, orphan: bool = False) -> Text:
    label = Text(f"{step.step_type.value} ", style="cyan") + Text(safe_text(step.name, 80))
    if isinstance(step, ToolStep):
        if step.tool_args is not None:
            label.append(" " + json_text(step.tool_args, 60), style="dim")
        mark, style, outcome = outcome_of(step)
        label.append(f" {mark} {outcome}", style=style)
    elif step.failed:
        label.append(f" ✗ {safe_text(step.failure or 'failed', 80)}", style="red")
    if isinstance(step, ModelGenerationStep):
        total = _tokens(step)
        label.append(f"  {count_text(total)} tokens", style="dim")
        if step.model_calls is not None and step.model_calls > 1:
            label.append(f" in {step.model_calls} model calls", style="dim")
    if step.duration_ms is not None:
        label.append(f"  {duration_text(step.duration_ms)}", style="dim")
    if orphan:
        label.append("  orphan: its parent is not in the trace", style="yellow")
    return label


def _tokens(step: ModelGenerationStep) -> int | None:
    if step.prompt_tokens is None and step.completion_tokens is None:
        return None
    return (step.prompt_tokens or 0) + (step.completion_tokens or 0)


def tree_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return the trajectory's steps as a flat list in walking order with `depth` and `parent`.

    Flat on purpose: nested JSON of a deep trace breaks most readers.
    """
    rows: list[dict[str, Any]] = []
    top = trajectory.root
    stack: list[tuple[BaseStep, str | None, int]] = []
    start = 0
    if top is not None:
        rows.append(_row(top, None, 0))
        start = 1
    stack = [(s, top.span_id if top else None, start) for s in reversed(trajectory.steps)]
    while stack:
        step, parent, depth = stack.pop()
        rows.append(_row(step, parent, depth))
        stack.extend((c, step.span_id, depth + 1) for c in reversed(step.children))
    return {
        "trace_id": trajectory.trace_id,
        "total_duration_ms": trajectory.total_duration_ms,
        "noise_spans": trajectory.noise_span_count,
        "orphans": list(trajectory.orphans),
        "steps": rows,
    }


def _row(step: BaseStep, parent: str | None, depth: int) -> dict[str, Any]:
    own = step.model_copy(update={"children": ()}).model_dump(mode="json", exclude={"children"})
    return {"depth": depth, "parent_span_id": parent, **own}


def print_outlines(console: Console, outlines: Iterable[list[OutlineRow]]) -> None:
    """Print every span, noise too, with what it became and why."""
    for rows in outlines:
        tree = Tree(Text(f"trace {safe_text(rows[0].span.trace_id)}", style="bold"))
        branches = [tree]
        for row in rows:
            depth = min(row.depth, MAX_DEPTH)
            branch = branches[depth].add(_outline_label(row))
            branches[depth + 1 :] = [branch]
        console.print(tree)


def _outline_label(row: OutlineRow) -> Text:
    if row.step_type is None:
        why = safe_text(row.reason, 100)
        return Text(f"{safe_text(row.span.name, 80)}  noise: {why}", style="dim")
    label = Text(f"{row.step_type.value} ", style="cyan") + Text(safe_text(row.name, 80))
    if row.failed:
        label.append(f" ✗ {safe_text(row.failure or 'failed', 80)}", style="red")
    if row.requested:
        label.append("  requested, no span of its own", style="yellow")
    if row.is_orphan:
        label.append("  orphan: its parent is not in the trace", style="yellow")
    return label


def print_critical_paths(console: Console, trajectories: Iterable[Trajectory]) -> None:
    """Print the steps each run waited for, with the time each spent itself."""
    for trajectory in trajectories:
        path = critical_path(trajectory)
        head = Text("trace ", style="bold") + Text(safe_text(trajectory.trace_id or "?"))
        console.print(head + Text(f"  {duration_text(path.total_ms)}", style="dim"))
        if path.reason:
            console.print(Text(f"  no critical path: {safe_text(path.reason)}", style="yellow"))
            continue
        table = Table(box=None, padding=(0, 2, 0, 2))
        for heading in ("self time", "share", "type", "step"):
            table.add_column(heading, justify="right" if "s" in heading[:2] else "left")
        names = {s.id: s.step for s in path.segments}
        for ident, self_ms in path.self_times_ms().items():
            step = names[ident]
            share = f"{self_ms / path.total_ms:.0%}" if path.total_ms else ""
            kind = step.step_type.value if step else ""
            table.add_row(
                Text(duration_text(self_ms)),
                Text(share),
                Text(kind, style="cyan"),
                Text(safe_text(step.name if step else "(nothing ran)", 60)),
            )
        console.print(table)


def critical_path_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return the critical path as JSON: segments in time order, self times per step."""
    path = critical_path(trajectory)
    return {
        "trace_id": trajectory.trace_id,
        "total_ms": path.total_ms,
        "reason": path.reason,
        "unknown": list(path.unknown),
        "segments": [
            {
                "id": s.id,
                "name": s.step.name if s.step else None,
                "step_type": s.step.step_type.value if s.step else None,
                "start_ns": s.start_ns,
                "end_ns": s.end_ns,
                "self_ms": s.self_ms,
            }
            for s in path.segments
        ],
    }
