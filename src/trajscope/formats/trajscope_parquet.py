"""Parquet of the store's own `spans` table: what `export` wrote reads back as it was.

One thing a newcomer would get wrong: only the columns of the span itself are read. What a
convention made of it is found out anew, so an old export profits from what was learned since;
unless that cannot be: attributes were dropped, or a mapping file read it (`as_stored`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from trajscope.formats._row import Row
from trajscope.formats._rows import RowFormat
from trajscope.model.reading import NOT_UNDERSTOOD, Reading, as_stored
from trajscope.model.reading_json import reading_from_json
from trajscope.model.span import Json, Span, SpanEvent, SpanLink

_OWN = frozenset(
    {"trace_id", "span_id", "parent_span_id", "start_time", "end_time", "attributes", "events"}
    | {"resource_attributes", "scope_name", "status_code"}
)
_events = msgspec.json.Decoder(list[SpanEvent])
_links = msgspec.json.Decoder(list[SpanLink])


def judge(record: dict[str, Json]) -> int:
    """Return 3 for the columns of the `spans` table."""
    return 3 if record.keys() >= _OWN else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the row."""
    beyond = row.mapping("beyond")
    span = Span(
        trace_id=row.required_id("trace_id"),
        span_id=row.required_id("span_id"),
        parent_span_id=row.get("parent_span_id"),
        name=row.text("name"),
        kind=row.kind("kind"),
        start_ns=_time(row, "start", beyond),
        end_ns=_time(row, "end", beyond),
        status_code=row.status("status_code"),
        status_message=row.text("status_message"),
        trace_state=row.text("trace_state"),
        scope_name=row.text("scope_name"),
        scope_version=row.text("scope_version"),
        attributes=_object(row, "attributes"),
        events=tuple(_decoded(row, "events", _events)),
        links=tuple(_decoded(row, "links", _links)),
        resource=_object(row, "resource_attributes"),
    )
    yield as_stored(span, _reading(row))


def _reading(row: Row) -> Reading:
    text = row.get("reading")
    if not isinstance(text, str):
        return NOT_UNDERSTOOD
    try:
        return reading_from_json(text)
    except (ValueError, TypeError, RecursionError):
        row.fault("reading", text, "a reading as trajscope writes it")
        return NOT_UNDERSTOOD


def _time(row: Row, name: str, beyond: dict[str, Json]) -> int | None:
    """The time by its column; one that no TIMESTAMP_NS holds stands beside, exactly."""
    exact = beyond.get(f"{name}_ns")
    return exact if isinstance(exact, int) else row.time(f"{name}_time")


def _object(row: Row, name: str) -> dict[str, Json]:
    """An object of a JSON column, NaN and the infinities kept as the store keeps them."""
    text = row.get(name)
    if not isinstance(text, str):
        return row.mapping(name)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, dict):
        return value
    row.fault(name, text, "a JSON object")
    return {}


def _decoded(row: Row, name: str, decoder: msgspec.json.Decoder[list[Json]]) -> list[Json]:
    text = row.get(name)
    if text in (None, "", "[]"):
        return []
    try:
        if isinstance(text, str):
            try:
                return decoder.decode(text)
            except msgspec.DecodeError:  # NaN and the infinities
                text = json.loads(text)
        found: list[Json] = msgspec.convert(text, decoder.type)
    except (ValueError, RecursionError, TypeError):
        row.fault(name, text, f"a list of {name}")
        return []
    return found


FORMAT = RowFormat(
    name="trajscope-parquet",
    description="Parquet of the store's spans table, as trajscope export writes it.",
    judge=judge,
    read_row=read_row,
    has_parquet=True,
)
