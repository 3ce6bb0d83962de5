"""Spans that gained or lost log records are read again, from what was sent.

One thing a newcomer would get wrong: the columns of what was sent never change by that; only what
a convention makes of it, and only a span that is then read otherwise changes its trace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec
import pyarrow as pa
from msgspec import UNSET

from trajscope.model.completing import completed
from trajscope.model.reading import Reading, ReadSpan, as_stored
from trajscope.model.reading_json import reading_from_json
from trajscope.model.span import Span, SpanEvent
from trajscope.store.classified import json_field
from trajscope.store.columns import to_batch
from trajscope.store.encoding import encode_json
from trajscope.store.logs import Key, events_of_rows, joined
from trajscope.store.reading_back import to_record
from trajscope.store.statements import Connection, clear, rows, run, run_with

Read = Callable[[Span], Reading]
"""Reads a span again; None where spans keep the readings they came with."""


@runtime_checkable
class EventRead(Protocol):
    """A reader that also knows what events tell of a span that cannot be read again."""

    def __call__(self, span: Span) -> Reading:
        """Return the reading of the span."""

    def completed(self, span: ReadSpan) -> Reading:
        """Return the reading the span brings, with what its events tell beyond it."""


CHUNK = 2_000
"""Spans read again at once."""


def read_again(connection: Connection, read: Read | None) -> None:
    """Read the spans of `reread` again, with the log records they have now."""
    if read is not None:
        numbers = [row[0] for row in rows(connection, "reread_rows")]
        for at in range(0, len(numbers), CHUNK):
            _read_chunk_again(connection, numbers[at : at + CHUNK], read)
    clear(connection, "reread")


class SpanRow(NamedTuple):
    """A span of the table: as it was sent, what is made of it, and what is made of it alone."""

    number: int
    span: Span
    reading: Reading
    own: Reading
    capture_no: int


class Replaced(NamedTuple):
    """A span that goes into the table in place of another. own: None where it is the reading."""

    span: Span
    reading: Reading
    own: Reading | None
    capture_no: int


def _read_chunk_again(connection: Connection, numbers: list[int], read: Read) -> None:
    events = events_of_rows(connection, numbers)
    told: dict[Key, list[Reading]] = defaultdict(list)
    for trace_id, span_id, text in rows(connection, "read_row_readings", {"rows": numbers}):
        told[trace_id, span_id].append(reading_from_json(text))
    gone: list[int] = []
    news: list[Replaced] = []
    for row in read_rows(connection, numbers):
        more = told.get((row.span.trace_id, row.span.span_id), ())
        again = _reading(row, events, more, read)
        text = encode_json(again)
        if text != encode_json(row.reading):
            own = None if text == encode_json(row.own) else row.own
            gone.append(row.number)
            news.append(Replaced(row.span, again, own, row.capture_no))
    replace_spans(connection, gone, news)
    note_changed(connection, {one.span.trace_id for one in news})


def _reading(
    row: SpanRow,
    events: Mapping[Key, list[SpanEvent]],
    told: Iterable[Reading],
    read: Read,
) -> Reading:
    """Return what a span says together with its log records.

    One that cannot be read as it was (attributes went, a mapping file read it) keeps its reading,
    and learns what the events tell; of records that lost attributes there are readings.
    """
    together, _ = joined((as_stored(row.span, row.own), row.own), events)
    if not isinstance(together, ReadSpan):
        again = read(together)
    elif isinstance(read, EventRead) and (row.span.trace_id, row.span.span_id) in events:
        again = read.completed(together)
    else:
        again = row.own
    for said in told:
        got_over = row.span.status_code == "OK" and said.result is UNSET and not said.convention
        again = completed(again, _without_failure(said) if got_over else said)
    return again


def _without_failure(said: Reading) -> Reading:
    """An exception that a span got over is no failure of it."""
    return msgspec.structs.replace(said, failed=None, failure=None, not_failure=False)


def read_rows(connection: Connection, numbers: list[int]) -> Iterator[SpanRow]:
    """Yield spans with their rows and the numbers of their captures."""
    for row in rows(connection, "read_rows", {"rows": numbers}):
        span, reading = to_record(row[1:])
        own = reading if row[20] is None else reading_from_json(row[20])
        yield SpanRow(row[0], span, reading, own, row[19])


def replace_spans(connection: Connection, gone: list[int], news: list[Replaced]) -> None:
    """Take spans out and put others in."""
    if gone:
        run(connection, "delete_rows", {"rows": gone})
    if news:
        batch = to_batch([(one.span, one.reading) for one in news])
        numbers = pa.array([one.capture_no for one in news], pa.int32())
        own = pa.array([None if n.own is None else encode_json(n.own) for n in news], pa.string())
        table = pa.Table.from_batches([batch]).append_column("capture_no", numbers)
        run_with(connection, table.append_column(json_field("own_reading"), own), "replace_spans")


def note_changed(connection: Connection, trace_ids: set[str]) -> None:
    """Add traces to `changed`."""
    if trace_ids:
        run(connection, "change_listed", {"trace_ids": sorted(trace_ids)})
