"""Log records as rows of the store: the way in, and the way back as events of their spans.

One thing a newcomer would get wrong: a record is stored whether its span is here or not. Which
span it belongs to is a column of its own (`joined_*`), which `joining` finds out, again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from trajscope.assemble import event_of, with_events
from trajscope.model.reading import TOOL_STEP_TYPES, Reading
from trajscope.model.span import LogRecord, Span, SpanEvent
from trajscope.store.classified import clamped, json_field
from trajscope.store.columns import BATCH_ROWS, Record, to_batch
from trajscope.store.encoding import TOO_DEEP, decode_as, decode_json, encode_json, well_formed
from trajscope.store.statements import Connection, rows

_span_events = msgspec.json.Decoder(tuple[SpanEvent, ...])

Key = tuple[str, str]
"""A trace id and a span id."""


class LogRow(NamedTuple):
    """A log record with what is found out about it on the way in.

    key: equal for one record however often it comes. standin, reading: the span it stands for where
    no span records that call, and what its convention understood of that. A reading alone: what it
    told as an event before it lost attributes.
    """

    record: LogRecord
    key: str
    standin: Span | None = None
    reading: Reading | None = None


_TEXTS = ("trace_id", "span_id", "event_name", "severity", "service_name", "scope_name")
_JSON = ("body", "attributes", "resource_attributes", "beyond", "standin", "reading")
_FOUND = (
    *("joined_trace_id", "joined_span_id", "role", "standin_trace_id", "standin_span_id"),
    *("tool_call_id", "session_id", "record_key"),
)
LOG_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in (*_TEXTS, *_FOUND)),
        pa.field("time", pa.timestamp("ns")),
        *map(json_field, _JSON),
    ]
)
"""The Arrow form of the columns of `log_records` that come from outside."""


def capture_batches(
    records: Iterable[Record | LogRow], size: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Yield spans as batches of `SPAN_SCHEMA` and log records as batches of `LOG_SCHEMA`.

    One batch of each is held at most, however they are mixed.
    """
    spans: list[Record] = []
    logs: list[LogRow] = []
    for record in records:
        if isinstance(record, LogRow):
            logs.append(record)
            if len(logs) == size:
                yield log_batch(logs)
                logs = []
            continue
        spans.append(record)
        if len(spans) == size:
            yield to_batch(spans)
            spans = []
    if spans:
        yield to_batch(spans)
    if logs:
        yield log_batch(logs)


def log_batch(logs: Sequence[LogRow]) -> pa.RecordBatch:
    """Return log records as one Arrow batch of `LOG_SCHEMA`."""
    found = [_row(log) for log in logs]
    try:
        return _log_batch(found)
    except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 can hold
        return _log_batch([{k: well_formed(v) for k, v in row.items()} for row in found])


def _log_batch(found: list[dict[str, Any]]) -> pa.RecordBatch:
    columns = []
    for field in LOG_SCHEMA:
        values = [row.get(field.name) for row in found]
        if field.name == "time":
            columns.append(pa.array(values, pa.int64()).cast(field.type))
        else:
            columns.append(pa.array(values, pa.string()))
    return pa.RecordBatch.from_arrays(columns, schema=LOG_SCHEMA)


def _row(log: LogRow) -> dict[str, Any]:
    record = log.record
    service = record.resource.get("service.name")
    at = clamped(record.time_ns)
    found: dict[str, Any] = {
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "time": at,
        "event_name": record.event_name,
        "severity": record.severity,
        "service_name": service if isinstance(service, str) else None,
        "scope_name": record.scope_name,
        "body": None if record.body is None else encode_json(record.body),
        "attributes": encode_json(record.attributes),
        "resource_attributes": encode_json(record.resource),
        "beyond": None if at == record.time_ns else encode_json({"time_ns": record.time_ns}),
        "record_key": log.key,
    }
    if log.standin is not None and log.reading is not None:
        return found | _standin_columns(log.standin, log.reading)
    if record.trace_id is not None and record.span_id is not None:
        found |= {
            "joined_trace_id": record.trace_id,
            "joined_span_id": record.span_id,
            "role": "event",
            "reading": None if log.reading is None else encode_json(log.reading),
        }
    return found


def _standin_columns(span: Span, reading: Reading) -> dict[str, Any]:
    is_tool = reading.step_type in TOOL_STEP_TYPES
    return {
        "standin_trace_id": span.trace_id,
        "standin_span_id": span.span_id,
        "tool_call_id": (reading.tool_call_id or None) if is_tool else None,
        "session_id": reading.session_id,
        "standin": _whole(span),
        "reading": encode_json(reading),
    }


def _whole(span: Span) -> bytes:
    """A span as JSON; without its values if the interpreter cannot follow them to their bottom."""
    text = encode_json(span)
    if text != TOO_DEEP:
        return text
    return encode_json(
        msgspec.structs.replace(span, attributes=decode_json(TOO_DEEP.decode()), resource={})
    )


def to_log_record(row: Sequence[Any]) -> LogRecord:
    """Return the log record of one row of `queries/read_logs`."""
    beyond = {} if row[9] is None else decode_json(row[9])
    return LogRecord(
        trace_id=row[0],
        span_id=row[1],
        time_ns=beyond.get("time_ns", row[2]),
        event_name=row[3],
        severity=row[4],
        scope_name=row[5],
        body=None if row[6] is None else decode_json(row[6]),
        attributes=decode_json(row[7]),
        resource=decode_json(row[8]),
    )


def iter_logs(
    connection: Connection, trace_ids: Sequence[str] | None = None, size: int = BATCH_ROWS
) -> Iterator[LogRecord]:
    """Yield all log records, or those that name one of some traces, in the order they came."""
    listed = None if trace_ids is None else list(trace_ids)
    after = -1
    while found := rows(
        connection, "read_logs", {"trace_ids": listed, "after": after, "most": size}
    ):
        yield from map(to_log_record, found)
        after = found[-1][10]


def has_events(connection: Connection) -> bool:
    """Whether any log record is an event of a span; mostly there are none at all."""
    return bool(rows(connection, "has_log_events")[0][0])


def events_of_traces(
    connection: Connection, trace_ids: Sequence[str]
) -> Mapping[Key, list[SpanEvent]]:
    """Return the log records that are events of spans of some traces, by span."""
    return _events(rows(connection, "read_trace_events", {"trace_ids": list(trace_ids)}))


def events_of_rows(connection: Connection, numbers: Sequence[int]) -> Mapping[Key, list[SpanEvent]]:
    """Return the log records that are events of some spans, given by their rows, by span."""
    return _events(rows(connection, "read_row_events", {"rows": list(numbers)}))


def _events(found: Iterable[Sequence[Any]]) -> Mapping[Key, list[SpanEvent]]:
    events: dict[Key, list[SpanEvent]] = defaultdict(list)
    for trace_id, span_id, time_ns, name, body, attributes, beyond in found:
        exact = {} if beyond is None else decode_json(beyond)
        record = LogRecord(
            time_ns=exact.get("time_ns", time_ns),
            event_name=name,
            body=None if body is None else decode_json(body),
            attributes=decode_json(attributes),
        )
        events[trace_id, span_id].append(event_of(record))
    return events


def joined(record: Record, events: Mapping[Key, list[SpanEvent]]) -> Record:
    """Return a stored span as it is read: with the log records about it as events."""
    span, reading = record
    more = events.get((span.trace_id, span.span_id))
    return record if more is None else (with_events(span, more), reading)


def more_events(text: str, more: Iterable[SpanEvent]) -> str:
    """Return the JSON of a span's events with further ones among them."""
    span = Span(trace_id="", span_id="", events=decode_as(_span_events, text))
    return encode_json(with_events(span, more).events).decode()
