"""Derives trajectories, steps and repairs of the touched traces: set-wise, Python where it must.

One thing a newcomer would get wrong: this runs inside the transaction of an ingest, on its
connection; a cursor would not see the spans that are being written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import UNSET

from trajscope.model.step_row import StepRow, TrajectoryRow
from trajscope.store.args_key import args_key
from trajscope.store.classified import clamped, fields_text, json_field
from trajscope.store.columns import BATCH_ROWS
from trajscope.store.encoding import encode_json
from trajscope.store.reading_back import iter_traces
from trajscope.store.resolve import resolve
from trajscope.store.statements import Connection, clear, rows, run, run_with
from trajscope.tree import SKEW_TOLERANCE_NS

PART_SPANS = 100_000
"""Spans derived at once: about 40 MB of work tables, whatever the size of the capture."""

FEW_SPANS = 500
"""Up to so many spans the traces of a part are all left to Python: to plan the set-wise statements
takes a tenth of a second, however few spans they place."""

_FORGET = (
    "forget_steps",
    "forget_trajectories",
    "forget_repairs",
    "forget_scores",
    "forget_findings",
)
_WORK = ("nodes", "edges", "cycles", "kept", "places", "unresolved")
_SET_WISE = (
    # Place the steps among them.
    "derive_kept",
    "derive_places",
    # Leave to Python what needs it, and write the rest.
    "derive_unresolved",
    "derive_trajectories",
    "derive_steps",
)
"""The statements of one part, in order; each reads what the ones before it wrote."""


class Derived(NamedTuple):
    """How many traces were derived, and how many of them in Python."""

    traces: int
    resolved: int


def derive(
    connection: Connection, touch: str, params: dict[str, object], *, joined: bool = False
) -> Derived:
    """Derive afresh the traces that the query `touch` names, and those that log records changed."""
    clear(connection, "touched")
    run(connection, touch, {**params, "part_spans": PART_SPANS})
    if joined:
        run(connection, "touch_joined", {"part_spans": PART_SPANS})
    [(traces, parts, known)] = rows(connection, "touched_parts")
    if not traces:
        return Derived(0, 0)
    for query in _FORGET if known else ():
        run(connection, query)
    resolved = sum(_derive_part(connection, part) for part in range(parts))
    clear(connection, "touched")
    return Derived(traces, resolved)


def _derive_part(connection: Connection, part: int) -> int:
    spans = run(connection, "derive_nodes", {"part": part})
    for query in ("derive_edges", "derive_cycles", "derive_break_cycles"):
        run(connection, query)
    run(connection, "derive_repairs", {"skew_tolerance_ns": SKEW_TOLERANCE_NS})
    for query in _SET_WISE if spans > FEW_SPANS else ("derive_none",):
        run(connection, query)
    resolved = _resolve_rest(connection)
    clear(connection, *_WORK)
    return resolved


def _resolve_rest(connection: Connection) -> int:
    ids = [row[0] for row in rows(connection, "unresolved_ids")]
    if not ids:
        return 0
    contexts: dict[str, list[str]] = dict(rows(connection, "unresolved_contexts"))
    save_trajectories(connection, _resolved(connection, ids, contexts))
    return len(ids)


def _resolved(
    connection: Connection, ids: list[str], contexts: dict[str, list[str]]
) -> Iterator[TrajectoryRow]:
    for trace_id, records in iter_traces(connection, ids):
        group = list(records)
        answering = contexts.get(trace_id, [])
        if answering:
            group += (r for _, more in iter_traces(connection, answering) for r in more)
        row = resolve(trace_id, group)
        yield msgspec.structs.replace(row, context_ids=tuple(sorted(answering)))


def save_trajectories(
    connection: Connection, trajectories: Iterable[TrajectoryRow], size: int = 1000
) -> None:
    """Append trajectories and their steps, `size` trajectories at a time."""
    iterator = iter(trajectories)
    while chunk := list(islice(iterator, size)):
        run_with(connection, trajectory_table(chunk), "insert_trajectories")
        steps = [step for row in chunk for step in row.steps]
        for start in range(0, len(steps), BATCH_ROWS):
            table = step_table(steps[start : start + BATCH_ROWS])
            run_with(connection, table, "insert_steps")


_TEXT, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()
_TIME, _TEXTS = pa.timestamp("ns"), pa.list_(pa.string())


def _times(values: Iterable[int | None]) -> pa.Array:
    return pa.array([clamped(v) for v in values], _INT).cast(_TIME)


def trajectory_table(rows: list[TrajectoryRow]) -> pa.Table:
    """Return trajectories as the Arrow form of the table `trajectories`."""
    texts = ("root_span_ids", "orphans", "missing_parents", "agents", "context_ids")
    counts = (
        "duration_ns",
        "span_count",
        "noise_span_count",
        "model_calls",
        "input_tokens",
        "output_tokens",
        "cached_input_tokens",
    )
    return pa.table(
        {
            "trace_id": pa.array([r.trace_id for r in rows], _TEXT),
            "session_id": pa.array([r.session_id for r in rows], _TEXT),
            "start_time": _times(r.start_ns for r in rows),
            **{n: pa.array([list(getattr(r, n)) for r in rows], _TEXTS) for n in texts},
            **{n: pa.array([clamped(getattr(r, n)) for r in rows], _INT) for n in counts},
            "tokens_complete": pa.array([r.tokens_complete for r in rows], _BOOL),
        }
    )


def step_table(rows: list[StepRow]) -> pa.Table:
    """Return steps as the Arrow form of the table `steps`."""
    kinds: dict[pa.DataType, tuple[str, ...]] = {
        _TEXT: (
            *("trace_id", "span_id", "step_id", "parent_step_id", "step_type", "name", "label"),
            *("agent", "agent_span_id", "failure", "tool_call_id", "mcp_server", "model"),
            "session_id",
        ),
        _INT: (*("depth", "ord", "lft", "rgt", "input_tokens", "output_tokens", "model_calls"),),
        _BOOL: ("success", "failed", "executed", "from_messages"),
    }
    columns: dict[str, pa.Array] = {}
    for kind, names in kinds.items():
        for name in names:
            values: list[Any] = [getattr(r, name) for r in rows]
            columns[name] = pa.array([clamped(v) for v in values] if kind == _INT else values, kind)
    columns["args_key"] = pa.array([args_key(r.args) for r in rows], _TEXT)
    columns["start_time"] = _times(r.start_ns for r in rows)
    columns["end_time"] = _times(r.end_ns for r in rows)
    columns["duration_ns"] = pa.array([_duration(r) for r in rows], _INT)
    json_columns = {
        "args": [None if r.args is UNSET else encode_json(r.args) for r in rows],
        "result": [None if r.result is UNSET else encode_json(r.result) for r in rows],
        "fields": [fields_text(r.fields) for r in rows],
    }
    fields = [pa.field(name, column.type) for name, column in columns.items()]
    return pa.Table.from_arrays(
        [*columns.values(), *(pa.array(v, _TEXT) for v in json_columns.values())],
        schema=pa.schema([*fields, *map(json_field, json_columns)]),
    )


def _duration(row: StepRow) -> int | None:
    if row.start_ns is None or row.end_ns is None or row.end_ns < row.start_ns:
        return None
    return clamped(row.end_ns - row.start_ns)
