"""Traces in which a RESOLVE rule has something to do: assembled in Python, written as flat rows.

One thing a newcomer would get wrong: a trajectory shows a single run at the top *unwrapped*, with
orphans among its children. The store keeps the true parents, so the run is put back above its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from msgspec import UNSET

from trajscope.assemble import assemble
from trajscope.model.span import Span
from trajscope.model.step import BaseStep
from trajscope.model.step_row import StepRow, TrajectoryRow, nested_bounds
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.store.columns import Record

_COLUMNS = {
    "agent": "agent",
    "agent_span_id": "agent_span_id",
    "failed": "failed",
    "failure": "failure",
    "start_ns": "start_ns",
    "end_ns": "end_ns",
    "tool_args": "args",
    "tool_result": "result",
    "success": "success",
    "executed": "executed",
    "from_messages": "from_messages",
    "tool_call_id": "tool_call_id",
    "mcp_server": "mcp_server",
    "model_id": "model",
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "model_calls": "model_calls",
}
"""Fields of steps that have a column of their own, and its name."""

_PLACED = {"step_type", "name", "label", "span_id", "trace_id", "order", "duration_ms", "children"}


def resolve(trace_id: str, records: Sequence[Record]) -> TrajectoryRow:
    """Return the trajectory of one trace; `records` may hold other traces that answer its calls."""
    readings = {(span.trace_id, span.span_id): reading for span, reading in records}
    found = assemble(
        (span for span, _ in records), lambda span: readings[span.trace_id, span.span_id]
    )
    trajectory = next(t for t in found if t.trace_id == trace_id)
    return to_row(trajectory, [span for span, _ in records if span.trace_id == trace_id])


def to_row(trajectory: Trajectory, spans: Sequence[Span]) -> TrajectoryRow:
    """Return a trajectory and its steps as rows; `spans` are the trace's own."""
    tokens = trajectory.tokens or TokenTotals()
    roots = [span for span in spans if span.span_id in trajectory.root_span_ids]
    return TrajectoryRow(
        trace_id=trajectory.trace_id or "",
        session_id=trajectory.session_id,
        start_ns=trajectory.start_ns,
        duration_ns=roots[0].duration_ns if len(roots) == 1 else None,
        root_span_ids=trajectory.root_span_ids,
        orphans=trajectory.orphans,
        missing_parents=trajectory.missing_parents,
        agents=trajectory.agents,
        span_count=trajectory.span_count or 0,
        noise_span_count=trajectory.noise_span_count or 0,
        model_calls=trajectory.model_calls,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cached_input_tokens=tokens.cached_input,
        tokens_complete=tokens.complete,
        steps=_to_steps(trajectory, spans),
    )


def _to_steps(trajectory: Trajectory, spans: Sequence[Span]) -> tuple[StepRow, ...]:
    placed = _placed(trajectory, spans)
    bounds = nested_bounds([depth for _, _, depth in placed])
    ids: dict[int, str] = {}
    taken: set[str] = set()
    rows = []
    for (step, parent, depth), (lft, rgt) in zip(placed, bounds, strict=True):
        ids[id(step)] = step_id = _step_id(step, taken)
        given = {name: getattr(step, name) for name in step.model_fields_set if name not in _PLACED}
        rows.append(
            StepRow(
                trace_id=step.trace_id or "",
                span_id=step.span_id or "",
                step_id=step_id,
                parent_step_id=None if parent is None else ids[id(parent)],
                depth=depth,
                ord=step.order or 0,
                lft=lft,
                rgt=rgt,
                step_type=step.step_type,
                name=step.name,
                label=step.label or "",
                session_id=trajectory.session_id,
                fields={k: v for k, v in given.items() if k not in _COLUMNS},
                **_columns(given),
            )
        )
    return tuple(rows)


def _columns(given: dict[str, Any]) -> dict[str, Any]:
    found = {_COLUMNS[name]: value for name, value in given.items() if name in _COLUMNS}
    found.setdefault("args", UNSET)
    found.setdefault("result", UNSET)
    return found


def _step_id(step: BaseStep, taken: set[str]) -> str:
    """The span id; with the call's id behind it for a call that has no span; always unique."""
    wanted = step.span_id or ""
    if getattr(step, "from_messages", False):
        wanted += f"#{getattr(step, 'tool_call_id', None) or step.name}"
    found = next(
        name for n in count() if (name := wanted if n == 0 else f"{wanted}#{n}") not in taken
    )
    taken.add(found)
    return found


Placed = tuple[BaseStep, BaseStep | None, int]
"""A step, its parent and its depth."""


def _placed(trajectory: Trajectory, spans: Sequence[Span]) -> list[Placed]:
    """Return every step with parent and depth, depth first, the unwrapped run put back."""
    root = trajectory.root
    stack: list[Placed] = []
    if root is None:
        stack = [(step, None, 0) for step in trajectory.steps]
    else:
        below = _below(root.span_id or "", spans)
        tops = [step for step in trajectory.steps if (step.span_id or "") not in below]
        tops.append(root)
        tops.sort(key=lambda step: step.order or 0)
        stack = [(step, None, 0) for step in tops]
        inside = [step for step in trajectory.steps if (step.span_id or "") in below]
    stack.reverse()
    found: list[Placed] = []
    while stack:
        step, parent, depth = stack.pop()
        found.append((step, parent, depth))
        children = inside if step is root else step.children
        stack.extend((child, step, depth + 1) for child in reversed(children))
    return found


def _below(root_id: str, spans: Sequence[Span]) -> set[str]:
    """The ids of the spans below one span, by their recorded parents, and its own.

    Its own is that of the calls which only its messages tell of.
    """
    children: dict[str | None, list[str]] = {}
    for span in spans:
        children.setdefault(span.parent_span_id, []).append(span.span_id)
    found = {root_id}
    stack = [root_id]
    while stack:
        for child in children.get(stack.pop(), ()):
            if child not in found:
                found.add(child)
                stack.append(child)
    return found
