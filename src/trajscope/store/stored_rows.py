"""Trajectories read back as the rows they are stored in, with their steps, bounded in memory.

One thing a newcomer would get wrong: this is far cheaper than `iter_traces`, since no reading and
no attribute is touched; but what steps do not say (attributes, events) is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET

from trajscope.model.reading import StepType
from trajscope.model.step_row import StepRow, TrajectoryRow
from trajscope.store.encoding import decode_json
from trajscope.store.reading_back import CHUNK_SPANS
from trajscope.store.statements import Connection, rows


def iter_rows(
    connection: Connection, trace_ids: Sequence[str] | None = None
) -> Iterator[TrajectoryRow]:
    """Yield every trajectory (or those listed) in the order of its start."""
    ids: list[str] = []
    bounds: list[int] = []
    held = 0
    listed = None if trace_ids is None else list(trace_ids)
    for trace_id, steps, first, last in rows(connection, "plan_steps", {"trace_ids": listed}):
        if ids and (held + steps > CHUNK_SPANS or len(ids) >= CHUNK_SPANS):
            yield from _read_chunk(connection, ids, bounds)
            ids, bounds, held = [], [], 0
        ids.append(trace_id)
        bounds += (first, last) if steps else ()
        held += steps
    if ids:
        yield from _read_chunk(connection, ids, bounds)


def _read_chunk(
    connection: Connection, ids: list[str], bounds: list[int]
) -> Iterator[TrajectoryRow]:
    steps: dict[str, list[StepRow]] = {trace_id: [] for trace_id in ids}
    if bounds:
        params = {"trace_ids": ids, "first_row": min(bounds), "last_row": max(bounds)}
        for row in rows(connection, "read_steps", params):
            steps[row[0]].append(to_step_row(row))
    whole = {r[0]: r for r in rows(connection, "read_trajectories", {"trace_ids": ids})}
    for trace_id in ids:
        yield _to_trajectory(whole[trace_id], steps[trace_id])


def _to_trajectory(row: tuple[Any, ...], steps: list[StepRow]) -> TrajectoryRow:
    return TrajectoryRow(
        trace_id=row[0],
        session_id=row[1],
        start_ns=row[2],
        duration_ns=row[3],
        root_span_ids=tuple(row[4]),
        orphans=tuple(row[5]),
        missing_parents=tuple(row[6]),
        agents=tuple(row[7]),
        span_count=row[8],
        noise_span_count=row[9],
        model_calls=row[10],
        input_tokens=row[11],
        output_tokens=row[12],
        cached_input_tokens=row[13],
        tokens_complete=row[14],
        context_ids=tuple(row[15] or ()),
        steps=tuple(steps),
    )


def to_step_row(row: Sequence[Any]) -> StepRow:
    """Return the step of one row of `queries/read_steps`."""
    return StepRow(
        trace_id=row[0],
        span_id=row[1],
        step_id=row[2],
        parent_step_id=row[3],
        depth=row[4],
        ord=row[5],
        lft=row[6],
        rgt=row[7],
        step_type=StepType(row[8]),
        name=row[9],
        label=row[10],
        agent=row[11],
        agent_span_id=row[12],
        args=UNSET if row[13] is None else decode_json(row[13]),
        result=UNSET if row[14] is None else decode_json(row[14]),
        success=row[15],
        failed=row[16],
        failure=row[17],
        executed=row[18],
        from_messages=row[19],
        tool_call_id=row[20],
        mcp_server=row[21],
        model=row[22],
        input_tokens=row[23],
        output_tokens=row[24],
        model_calls=row[25],
        start_ns=row[26],
        end_ns=row[27],
        session_id=row[28],
        fields={} if row[29] is None else decode_json(row[29]),
    )
