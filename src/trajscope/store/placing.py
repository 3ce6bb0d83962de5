"""Records of calls find their place: an event of a span that records the call, or a new span.

One thing a newcomer would get wrong: records that depend on each other are placed together, in a
part; parts do not meet, so a few at a time are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from trajscope.assemble import Known, Standin, place_standins
from trajscope.model.reading import Reading, StepType
from trajscope.model.reading_json import reading_from_json
from trajscope.model.span import Span
from trajscope.store.columns import Record
from trajscope.store.encoding import decode_as, encode_json
from trajscope.store.logs import Key
from trajscope.store.rereading import (
    CHUNK,
    Replaced,
    SpanRow,
    note_changed,
    read_rows,
    replace_spans,
)
from trajscope.store.statements import Connection, clear, rows, run, run_with

PART_RECORDS = 10_000
"""Records placed at once; of records that depend on each other, all."""

_PARTS = ("join_part_traces", "join_part_calls", "join_part_spans")
_spans = msgspec.json.Decoder(Span)


def place_pending(connection: Connection) -> None:
    """Find out where the pending records belong, a few parts at a time."""
    while run(connection, "join_grow"):
        pass
    while sum(run(connection, query) for query in _PARTS):
        pass
    for first, last in _stretches(rows(connection, "join_parts")):
        _Placing(connection).place(first, last)
    clear(connection, "pending")


def _stretches(parts: Iterable[Sequence[int]]) -> Iterator[tuple[int, int]]:
    held: list[int] = []
    count = 0
    for part, records in parts:
        if held and count + records > PART_RECORDS:
            yield held[0], held[-1]
            held, count = [], 0
        held.append(part)
        count += records
    if held:
        yield held[0], held[-1]


class _Item(NamedTuple):
    """A record of a call: what it stands for, and where it belonged so far."""

    standin: Standin
    place: tuple[str | None, str | None, str | None]
    capture_no: int


_Made = tuple[int, Key]
"""A span that was made of a record: its row and its key."""


class _Placing:
    """Places the records of some parts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._capture_of: dict[str, int] = {}

    def place(self, first: int, last: int) -> None:
        """Place them, and change what was made of them before."""
        items = self._items(first, last)
        before = list(self._made_before(items))
        known = self._known(items, {key for _, key in before})
        found = place_standins(known, [item.standin for item in items.values()])
        places = {number: _place_of(found.get(number)) for number in items}
        moved = [n for n, item in items.items() if item.place != places[n]]
        self._note(moved, places)
        gained = [places[n] for n in moved] + [items[n].place for n in moved]
        self._reread(sorted({(t, s) for t, s, role in gained if role == "event" and t and s}))
        self._make(items, found, before)

    def _items(self, first: int, last: int) -> dict[int, _Item]:
        params = {"first_part": first, "last_part": last}
        found = {}
        for row in rows(self._connection, "join_records", params):
            span, reading = decode_as(_spans, row[3]), reading_from_json(row[4])
            standin = Standin(row[0], row[1], row[2], span, reading)
            found[row[0]] = _Item(standin, (row[7], row[8], row[9]), row[10])
        return found

    def _known(self, items: dict[int, _Item], made: set[Key]) -> Known:
        """What the recorded spans say that the records may belong to; those made of them do not."""
        readings = [item.standin.reading for item in items.values()]
        traces = {item.standin.span.trace_id for item in items.values()}
        traces |= {item.standin.trace_id or "" for item in items.values()}
        calls = {reading.tool_call_id for reading in readings if reading.tool_call_id}
        params = {
            "trace_ids": sorted(traces),
            "session_ids": sorted({r.session_id for r in readings if r.session_id}),
            "call_ids": sorted(calls),
        }
        known = Known(calls)
        unclear: list[int] = []
        for row in rows(self._connection, "join_known", params):
            trace_id, span_id, capture_no = row[1], row[2], row[10]
            if (trace_id, span_id) in made:
                continue
            self._capture_of[trace_id] = max(capture_no, self._capture_of.get(trace_id, 0))
            if row[11]:
                known.add(*_light(row))
            else:
                unclear.append(row[0])
        for row in self._rows(unclear):
            known.add(row.span, row.own)
        return known

    def _note(self, moved: list[int], places: dict[int, tuple[Any, ...]]) -> None:
        if not moved:
            return
        columns = {"row_no": pa.array(moved, pa.int64())}
        for at, name in enumerate(("trace_id", "span_id", "role")):
            columns[name] = pa.array([places[n][at] for n in moved], pa.string())
        run_with(self._connection, pa.table(columns), "join_place")

    def _reread(self, keys: list[Key]) -> None:
        if keys:
            columns = {n: pa.array([k[i] for k in keys]) for i, n in enumerate(_KEY_NAMES)}
            run_with(self._connection, pa.table(columns), "join_reread_listed")

    def _make(
        self, items: dict[int, _Item], found: dict[int, Key | Standin], before: list[_Made]
    ) -> None:
        """Make the spans that records became, and remove those they were before and are not now.

        What is made is read once more, with the records that name it: they may have come first.
        """
        wanted: dict[Key, Replaced] = {}
        for made in found.values():
            if isinstance(made, Standin):
                span = made.span
                capture_no = self._capture_of.get(span.trace_id, items[made.number].capture_no)
                key = (span.trace_id, span.span_id)
                wanted[key] = Replaced(span, made.reading, None, capture_no)
        gone = dict(before)
        for row in self._rows(row_no for row_no, key in before if key in wanted):
            key = (row.span.trace_id, row.span.span_id)
            if _same(row, wanted[key]):
                del wanted[key], gone[row.number]
        replace_spans(self._connection, list(gone), list(wanted.values()))
        self._reread(sorted(wanted))
        note_changed(self._connection, {key[0] for key in (*gone.values(), *wanted)})

    def _rows(self, numbers: Iterable[int]) -> Iterator[SpanRow]:
        listed = list(numbers)
        for at in range(0, len(listed), CHUNK):
            yield from read_rows(self._connection, listed[at : at + CHUNK])

    def _made_before(self, items: dict[int, _Item]) -> Iterator[_Made]:
        """Yield the spans that these records became before, also if by way of an export."""
        ids = sorted({item.standin.span.span_id for item in items.values()})
        places = {place for item in items.values() for place in item.standin.places}
        for row_no, trace_id, span_id in rows(self._connection, "join_made", {"span_ids": ids}):
            if (trace_id, span_id) in places:
                yield row_no, (trace_id, span_id)


_KEY_NAMES = ("trace_id", "span_id")


def _same(row: SpanRow, wanted: Replaced) -> bool:
    """Whether a span is as it would be made now; else by its text, for NaN is not NaN's equal."""
    if row.span == wanted.span and row.own == wanted.reading:
        return True
    return (encode_json(row.span), encode_json(row.own)) == (
        encode_json(wanted.span),
        encode_json(wanted.reading),
    )


def _place_of(found: Key | Standin | None) -> tuple[str | None, str | None, str | None]:
    if found is None:
        return (None, None, None)
    if isinstance(found, Standin):
        return (found.span.trace_id, found.span.span_id, "span")
    return (*found, "event")


def _light(row: Sequence[Any]) -> Record:
    """What `Known` asks of a span, out of the columns that hold it."""
    span = Span(trace_id=row[1], span_id=row[2], parent_span_id=row[3], end_ns=row[4])
    reading = Reading(
        step_type=None if row[5] is None else StepType(row[5]),
        name=row[6] or "",
        is_model_call=bool(row[7]),
        tool_call_id=row[8],
        session_id=row[9],
    )
    return span, reading
