"""Trajectories out of stored steps, without assembling their spans again.

One thing a newcomer would get wrong: a trace with orphans cannot be done this way. Which of its
steps lie below an orphan only its spans can say, and that decides what is unwrapped.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.reading_json import with_tuples
from trajscope.model.step import BaseStep, build_step
from trajscope.model.step_row import StepRow, TrajectoryRow
from trajscope.model.trajectory import TokenTotals, Trajectory

_CONTAINERS = (StepType.AGENT_RUN, StepType.WORKFLOW_RUN)


def to_trajectory(row: TrajectoryRow) -> Trajectory | None:
    """Return the trajectory of stored rows, as `assemble` made it, without its repairs.

    `row.steps` stand depth first. None for a trace with orphans: assemble its spans.
    """
    if row.orphans:
        return None
    children: dict[str | None, list[BaseStep]] = {}
    top: list[StepRow] = []
    for step in reversed(row.steps):
        below = children.pop(step.step_id, [])
        children.setdefault(step.parent_step_id, []).append(_to_step(row, step, below[::-1]))
        if step.parent_step_id is None:
            top.append(step)
    steps = tuple(reversed(children.get(None, [])))
    values: dict[str, Any] = {
        "trace_id": row.trace_id,
        "session_id": row.session_id,
        "root_span_ids": row.root_span_ids,
        "orphans": (),
        "missing_parents": row.missing_parents,
        "agents": row.agents,
        "span_count": row.span_count,
        "noise_span_count": row.noise_span_count,
        "start_ns": row.start_ns,
        "model_calls": row.model_calls,
        "tokens": totals_of(
            row.input_tokens,
            row.output_tokens,
            row.cached_input_tokens,
            complete=row.tokens_complete,
        ),
    }
    if row.duration_ns is not None:
        values["total_duration_ms"] = row.duration_ns / 1_000_000
    if len(steps) == 1 and steps[0].step_type in _CONTAINERS:
        root = steps[0]
        values["root"] = _to_step(row, top[0], [])
        steps = root.children
    values["steps"] = steps
    return Trajectory.model_construct(**values)


def to_step(row: StepRow) -> BaseStep:
    """Return a stored step by itself, without what lies below it."""
    return build_step(row.step_type, _values(row))


def _to_step(trajectory: TrajectoryRow, row: StepRow, below: list[BaseStep]) -> BaseStep:
    values = _values(row)
    values["trace_id"] = trajectory.trace_id
    if below:
        values["children"] = tuple(below)
    return build_step(row.step_type, values)


def _values(row: StepRow) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": row.name,
        "span_id": row.span_id,
        "trace_id": row.trace_id,
        "label": row.label,
        "order": row.ord,
    }
    if not row.from_messages:
        start, end = row.start_ns, row.end_ns
        values |= {"start_ns": start, "end_ns": end}
        if start is not None and end is not None and end >= start:
            values["duration_ms"] = (end - start) / 1_000_000
    for name in ("agent", "agent_span_id", "failed", "failure"):
        if (value := getattr(row, name)) is not None:
            values[name] = value
    if row.step_type in TOOL_STEP_TYPES:
        values |= _tool_values(row)
    elif row.step_type is StepType.MODEL_GENERATION:
        values["model_calls"] = row.model_calls
        if row.model is not None:
            values["model_id"] = row.model
        if row.input_tokens is not None or row.output_tokens is not None:
            values |= {"prompt_tokens": row.input_tokens, "completion_tokens": row.output_tokens}
    elif row.model is not None:
        values["model_id"] = row.model
    values |= with_tuples(row.fields)
    return values


def _tool_values(row: StepRow) -> dict[str, Any]:
    values: dict[str, Any] = {"executed": row.executed, "from_messages": row.from_messages}
    if row.args is not UNSET:
        values["tool_args"] = row.args
    if row.result is not UNSET:
        values["tool_result"] = row.result
    for name in ("success", "tool_call_id", "mcp_server"):
        if (value := getattr(row, name)) is not None:
            values[name] = value
    return values


def totals_of(
    read: int | None, written: int | None, cached: int | None, *, complete: bool
) -> TokenTotals:
    """Return the tokens of a stored trace: input, output, and what of the input was cached."""
    known = [n for n in (read, written) if n is not None]
    if not known:
        return TokenTotals(complete=False)
    return TokenTotals(
        input=read, output=written, total=sum(known), cached_input=cached, complete=complete
    )
