"""Spans and their readings as Arrow columns: the way in. No database here, so workers can do it.

One thing a newcomer would get wrong: a span that no convention understands has NULL in every
classified column, and most spans are such. Their columns are never built: the readings that say
something are columns of their own, spread over the rows at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from trajscope.model.reading import NOT_UNDERSTOOD, Reading
from trajscope.model.span import Span
from trajscope.store.classified import CLASSIFIED, LAST_NS, clamped, json_field
from trajscope.store.encoding import encode_column, encode_json, well_formed

Record = tuple[Span, Reading]
"""A span and what its convention understood of it."""

BATCH_ROWS = 5_000
"""Rows of one Arrow batch. Four times as many are no faster and cost 100 MB more at the peak."""

_EMPTY_LIST = b"[]"
_TEXT, _INT, _TIME = pa.string(), pa.int64(), pa.timestamp("ns")

_RAW = (
    *(pa.field(n, _TEXT) for n in ("trace_id", "span_id", "parent_span_id", "name", "kind")),
    pa.field("start_time", _TIME),
    pa.field("end_time", _TIME),
    pa.field("duration_ns", _INT),
    *(pa.field(n, _TEXT) for n in ("status_code", "status_message", "trace_state")),
    *(pa.field(n, _TEXT) for n in ("service_name", "scope_name", "scope_version")),
    *map(json_field, ("resource_attributes", "attributes", "events", "links")),
    pa.field("detail_count", pa.int32()),
    json_field("beyond"),
)
SPAN_SCHEMA = pa.schema([*_RAW, *CLASSIFIED])
"""The Arrow form of the columns of `spans` that come from outside."""


def batches(records: Iterable[Record], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the records as Arrow batches of `size` rows, holding one batch at a time."""
    iterator = iter(records)
    while chunk := list(islice(iterator, size)):
        yield to_batch(chunk)


def to_batch(records: Sequence[Record]) -> pa.RecordBatch:
    """Return the records as one Arrow batch of `SPAN_SCHEMA`."""
    try:
        return _to_batch(records)
    except UnicodeEncodeError:  # half of a surrogate pair somewhere, which no UTF-8 can hold
        return _to_batch([(_cleaned(span), _cleaned(reading)) for span, reading in records])


def _cleaned(value: Any) -> Any:
    if value is NOT_UNDERSTOOD:
        return value
    return msgspec.convert(well_formed(msgspec.to_builtins(value)), type(value))


def _to_batch(records: Sequence[Record]) -> pa.RecordBatch:
    spans = [span for span, _ in records]
    readings = [reading for _, reading in records]
    return pa.RecordBatch.from_arrays(
        [*_raw_columns(spans), *_classified_columns(readings)], schema=SPAN_SCHEMA
    )


def _raw_columns(spans: list[Span]) -> list[pa.Array]:
    resources: dict[int, tuple[bytes, str | None]] = {}  # by identity: spans of a resource share it
    for span in spans:
        key = id(span.resource)
        if key not in resources:
            resources[key] = (encode_json(span.resource), span.service_name)
    shared = [resources[id(s.resource)] for s in spans]
    start, end, duration, beyond = _times(spans)
    texts: dict[str, list[Any]] = {
        "trace_id": [s.trace_id for s in spans],
        "span_id": [s.span_id for s in spans],
        "parent_span_id": [s.parent_span_id for s in spans],
        "name": [s.name for s in spans],
        "kind": [s.kind for s in spans],
        "status_code": [s.status_code for s in spans],
        "status_message": [s.status_message for s in spans],
        "trace_state": [s.trace_state for s in spans],
        "service_name": [name for _, name in shared],
        "scope_name": [s.scope_name for s in spans],
        "scope_version": [s.scope_version for s in spans],
        "resource_attributes": [text for text, _ in shared],
        "attributes": encode_column(s.attributes for s in spans),
        "events": [encode_json(s.events) if s.events else _EMPTY_LIST for s in spans],
        "links": [encode_json(s.links) if s.links else _EMPTY_LIST for s in spans],
    }
    columns = {
        **{name: pa.array(values, _TEXT) for name, values in texts.items()},
        "start_time": start.cast(_TIME),
        "end_time": end.cast(_TIME),
        "duration_ns": duration,
        "detail_count": pa.array([len(s.attributes) + len(s.events) for s in spans], pa.int32()),
        "beyond": beyond,
    }
    return [columns[field.name] for field in _RAW]


def _times(spans: list[Span]) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    """Return start, end, duration, and the exact times of those no column can hold."""
    starts, ends = [s.start_ns for s in spans], [s.end_ns for s in spans]
    try:
        start, end = pa.array(starts, _INT), pa.array(ends, _INT)
        fits = all(_fits(column) for column in (start, end))
    except OverflowError:
        fits = False
    if not fits:
        return (
            pa.array([clamped(v) for v in starts], _INT),
            pa.array([clamped(v) for v in ends], _INT),
            pa.array([clamped(s.duration_ns) for s in spans], _INT),
            pa.array([_beyond(s) for s in spans], _TEXT),
        )
    ran = pc.subtract(end, start)  # cannot overflow: both are of this age
    duration = pc.if_else(pc.greater_equal(ran, 0), ran, pa.scalar(None, _INT))
    return start, end, duration, pa.nulls(len(spans), _TEXT)


def _fits(column: pa.Array) -> bool:
    """Whether all times lie between 1970 and 2262, as nearly all do."""
    bounds = pc.min_max(column).as_py()
    return bounds["min"] is None or (bounds["min"] >= 0 and bounds["max"] <= LAST_NS)


def _classified_columns(readings: list[Reading]) -> list[pa.Array]:
    known: list[Reading] = []
    places: list[int | None] = []
    for reading in readings:
        if reading is NOT_UNDERSTOOD:
            places.append(None)
        else:
            places.append(len(known))
            known.append(reading)
    spread = pa.array(places, pa.int32())
    return [
        pa.array(filled(known), field.type).take(spread) for field, filled in CLASSIFIED.items()
    ]


def _beyond(span: Span) -> bytes | None:
    """The exact times of a span, if a column cannot hold them."""
    start, end = span.start_ns, span.end_ns
    if (start is None or -LAST_NS <= start <= LAST_NS) and (
        end is None or -LAST_NS <= end <= LAST_NS
    ):
        return None
    return encode_json({"start_ns": start, "end_ns": end})
