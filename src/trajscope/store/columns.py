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

from trajscope.model.reading import NOT_UNDERSTOOD, Reading
from trajscope.model.span import Span
from trajscope.store.classified import CLASSIFIED, LAST_NS, clamped, json_field
from trajscope.store.encoding import encode_json, well_formed

Record = tuple[Span, Reading]
"""A span and what its convention understood of it."""

BATCH_ROWS = 20_000
"""Rows of one Arrow batch: about 30 MB of real agent spans."""

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
    resources: dict[int, bytes] = {}  # by identity: all spans of one resource share the object
    for span in spans:
        key = id(span.resource)
        if key not in resources:
            resources[key] = encode_json(span.resource)
    values: tuple[list[Any], ...] = (
        [s.trace_id for s in spans],
        [s.span_id for s in spans],
        [s.parent_span_id for s in spans],
        [s.name for s in spans],
        [s.kind for s in spans],
        [clamped(s.start_ns) for s in spans],
        [clamped(s.end_ns) for s in spans],
        [clamped(s.duration_ns) for s in spans],
        [s.status_code for s in spans],
        [s.status_message for s in spans],
        [s.trace_state for s in spans],
        [s.service_name for s in spans],
        [s.scope_name for s in spans],
        [s.scope_version for s in spans],
        [resources[id(s.resource)] for s in spans],
        [encode_json(s.attributes) for s in spans],
        [encode_json(s.events) if s.events else _EMPTY_LIST for s in spans],
        [encode_json(s.links) if s.links else _EMPTY_LIST for s in spans],
        [len(s.attributes) + len(s.events) for s in spans],
        [_beyond(s) for s in spans],
    )
    return [_array(column, field.type) for column, field in zip(values, _RAW, strict=True)]


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
        _array([value(reading) for reading in known], field.type).take(spread)
        for field, value in CLASSIFIED.items()
    ]


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if kind == _TIME:
        return pa.array(values, _INT).cast(_TIME)
    return pa.array(values, kind)


def _beyond(span: Span) -> bytes | None:
    """The exact times of a span, if a column cannot hold them."""
    start, end = span.start_ns, span.end_ns
    if (start is None or -LAST_NS <= start <= LAST_NS) and (
        end is None or -LAST_NS <= end <= LAST_NS
    ):
        return None
    return encode_json({"start_ns": start, "end_ns": end})
