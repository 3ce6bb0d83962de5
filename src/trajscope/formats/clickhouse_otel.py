"""The table `otel_traces` of the Collector's ClickHouse exporter: JSONEachRow, JSON or Parquet.

Built from the exporter's table definitions; no recording exists. One thing a newcomer would get
wrong: attributes are `Map(String, String)`, so every value is text, numbers and lists too; only the
exporter's JSON tables keep types, and nest the names at their dots.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.formats._flatten import flattened
from trajscope.formats._row import Row
from trajscope.formats._rows import RowFormat
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent, SpanLink


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a row of `otel_traces`."""
    return 3 if {"TraceId", "SpanId", "SpanName"} <= record.keys() else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the row."""
    trace_id = to_hex(row.required_id("TraceId"), 32)
    span_id = to_hex(row.required_id("SpanId"), 16)
    if not trace_id or not span_id:
        row.refuse("SpanId", row.get("SpanId"), "ids that are not all zeros")
    start = row.time("Timestamp", unit="ns")
    resource = _attributes(row, "ResourceAttributes")
    if service := row.text("ServiceName"):
        resource.setdefault("service.name", service)
    yield Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=to_hex(row.id("ParentSpanId"), 16) or None,
        name=row.text("SpanName"),
        kind=row.kind("SpanKind"),
        start_ns=start,
        end_ns=row.end(start, "Duration", unit="ns"),
        status_code=row.status("StatusCode"),
        status_message=row.text("StatusMessage"),
        trace_state=row.text("TraceState"),
        scope_name=row.text("ScopeName"),
        scope_version=row.text("ScopeVersion"),
        attributes=_attributes(row, "SpanAttributes"),
        events=tuple(
            SpanEvent(part.text("Name"), part.time("Timestamp"), _attributes(part, "Attributes"))
            for part in _nested(row, "Events", ("Timestamp", "Name", "Attributes"))
        ),
        links=tuple(_links(row)),
        resource=resource,
    )


def _attributes(row: Row, name: str) -> dict[str, Json]:
    return flattened(row.mapping(name), lambda _: False)


def _nested(row: Row, name: str, members: tuple[str, ...]) -> Iterator[Row]:
    """The elements of a Nested column: lists side by side (`Events.Name`), or a list of objects."""
    if name in row.members:
        yield from row.rows(name)
        return
    columns = {member: row.list(f"{name}.{member}") for member in members}
    for index in range(max(map(len, columns.values()))):
        found = {key: values[index] for key, values in columns.items() if index < len(values)}
        yield row.below(found, name, index)


def _links(row: Row) -> Iterator[SpanLink]:
    for part in _nested(row, "Links", ("TraceId", "SpanId", "Attributes")):
        trace_id, span_id = to_hex(part.id("TraceId"), 32), to_hex(part.id("SpanId"), 16)
        if trace_id and span_id:
            yield SpanLink(trace_id, span_id, _attributes(part, "Attributes"))


FORMAT = RowFormat(
    name="clickhouse-otel",
    description="Rows of the ClickHouse exporter's otel_traces: JSONEachRow, JSON or Parquet.",
    judge=judge,
    read_row=read_row,
    members=("data",),
    has_parquet=True,
)
