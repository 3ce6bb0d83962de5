"""Spans and readings read back from the store, exactly as they went in, trace by trace.

One thing a newcomer would get wrong: no ORDER BY over wide rows. Sorting 200,000 spans by trace
id holds all of them; here the traces are planned first (narrow), and every chunk reads only the
stretch of the table its traces lie in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.model.reading_json import reading_from_json
from trajscope.model.span import Span, SpanEvent, SpanLink
from trajscope.store.columns import Record
from trajscope.store.encoding import decode_as, decode_json
from trajscope.store.logs import events_of_traces, has_events, joined
from trajscope.store.sqltext import sql_text
from trajscope.store.statements import Connection, rows

CHUNK_SPANS = 20_000
"""Spans held at once while reading back; a longer trace is held whole."""

Trace = tuple[str, list[Record]]
"""A trace id and the trace's spans with their readings, in no particular order."""

_events = msgspec.json.Decoder(tuple[SpanEvent, ...])
_links = msgspec.json.Decoder(tuple[SpanLink, ...])


def iter_traces(connection: Connection, trace_ids: Sequence[str] | None = None) -> Iterator[Trace]:
    """Yield every trace once (or those listed), in the order of their first span.

    Spans come with the log records about them as events.
    Each chunk is fetched before it is yielded, so the connection is free between two traces.
    """
    plan = _plan(connection, trace_ids)
    logged = has_events(connection)
    for ids, first_row, last_row in _chunks(plan):
        found = _read_chunk(connection, ids, first_row, last_row)
        if logged and (events := events_of_traces(connection, ids)):
            found = {key: [joined(one, events) for one in own] for key, own in found.items()}
        yield from found.items()


def _plan(connection: Connection, trace_ids: Sequence[str] | None) -> pa.Table:
    if trace_ids is None:
        return connection.sql(sql_text("queries/plan_all")).to_arrow_table()
    return connection.sql(
        sql_text("queries/plan_listed"), params={"trace_ids": list(trace_ids)}
    ).to_arrow_table()


def _chunks(plan: pa.Table) -> Iterator[tuple[list[str], int, int]]:
    """Cut the plan where it reaches `CHUNK_SPANS`: trace ids, and the rows they lie between."""
    ids: list[str] = []
    bounds: list[int] = []
    held = 0
    for batch in plan.to_batches(max_chunksize=1000):
        for trace_id, spans, first, last in zip(
            *(batch.column(i).to_pylist() for i in range(4)), strict=True
        ):
            if ids and held + spans > CHUNK_SPANS:
                yield ids, min(bounds), max(bounds)
                ids, bounds, held = [], [], 0
            ids.append(trace_id)
            bounds += (first, last)
            held += spans
    if ids:
        yield ids, min(bounds), max(bounds)


def _read_chunk(
    connection: Connection, ids: list[str], first_row: int, last_row: int
) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {trace_id: [] for trace_id in ids}
    params = {"trace_ids": ids, "first_row": first_row, "last_row": last_row}
    for row in rows(connection, "read_spans", params):
        found[row[0]].append(to_record(row))
    return found


def to_record(row: Sequence[Any]) -> Record:
    """Return the span and reading of one row of `queries/read_spans`."""
    beyond = decode_json(row[16]) if row[16] is not None else {}
    span = Span(
        trace_id=row[0],
        span_id=row[1],
        parent_span_id=row[2],
        name=row[3],
        kind=row[4],
        start_ns=beyond.get("start_ns", row[5]),
        end_ns=beyond.get("end_ns", row[6]),
        status_code=row[7],
        status_message=row[8],
        trace_state=row[9],
        scope_name=row[10],
        scope_version=row[11],
        attributes=decode_json(row[12]),
        events=() if row[13] == "[]" else decode_as(_events, row[13]),
        links=() if row[14] == "[]" else decode_as(_links, row[14]),
        resource=decode_json(row[15]),
    )
    return span, NOT_UNDERSTOOD if row[17] is None else reading_from_json(row[17])
