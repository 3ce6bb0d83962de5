"""The figures of traces, for `trajscope list`: of captures by assembling, of a store by one query.

One thing a newcomer would get wrong: a store is not assembled for this. It holds the figures,
derived when the spans came in, and a test holds them equal to what assembling says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajscope.errors import Problems
from trajscope.model.figures import TraceFigures
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.pipeline.load import InputOptions, load, nothing_understood, refuse_unknown
from trajscope.scope import tool_steps


class Listing(NamedTuple):
    """Traces in the order of their first span; note: why there is nothing to see, else None."""

    traces: list[TraceFigures]
    problems: Problems
    note: str | None


def list_traces(targets: Sequence[str], options: InputOptions, db: str | None = None) -> Listing:
    """Return the figures of captures, or of the traces of a store that have these ids (else all).

    Raises:
        UsageError, InputError, SpanError, StoreError: as `load`.
    """
    if db is None:
        loaded = load(targets, options)
        traces = [figures_of(trajectory) for trajectory in loaded.trajectories]
        return Listing(traces, loaded.problems, loaded.nothing_understood())
    options.refuse_mapping()
    from trajscope.store import Store  # late: DuckDB and Arrow take their time to load

    with Store.open(db, read_only=True) as store:
        if targets:
            refuse_unknown(store, targets)
        traces = store.trace_figures(targets or None)
    spans = sum(trace.spans or 0 for trace in traces)
    note = nothing_understood(len(traces), any(trace.steps for trace in traces), spans)
    return Listing(traces, options.problems, note)


def figures_of(trajectory: Trajectory) -> TraceFigures:
    """Return a trajectory in figures."""
    calls = tool_steps(trajectory)
    return TraceFigures(
        trace_id=trajectory.trace_id,
        session_id=trajectory.session_id,
        start_ns=trajectory.start_ns,
        duration_ms=trajectory.total_duration_ms,
        roots=len(trajectory.root_span_ids),
        orphans=len(trajectory.orphans),
        missing_parents=trajectory.missing_parents,
        agents=trajectory.agents,
        spans=trajectory.span_count,
        noise_spans=trajectory.noise_span_count,
        model_calls=trajectory.model_calls,
        tokens=trajectory.tokens or TokenTotals(),
        steps=sum(1 for _ in trajectory.walk()),
        tool_calls=len(calls),
        failed_tool_calls=sum(step.success is False for step in calls),
    )
