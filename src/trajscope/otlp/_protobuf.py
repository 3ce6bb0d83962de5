"""From OTLP protobuf messages to spans and log records.

One thing a newcomer would get wrong: in protobuf nothing is absent. An id of no bytes and a time
of zero mean "not given", just as in JSON. And a request of log records decodes as one of spans,
so every record is looked at before it is taken for a span.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError as ProtobufError
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from trajscope.errors import SpanError
from trajscope.model.span import Json, LogRecord, Span, SpanEvent, SpanLink
from trajscope.otlp import wire
from trajscope.otlp._fields import KINDS, STATUS_CODES, required_id, to_id, to_severity
from trajscope.otlp._report import Report


def records_from_protobuf(
    message: bytes, report: Report, *, is_part: bool = False
) -> Iterator[Span | LogRecord]:
    """Yield the records of one message: an export request, or (`is_part`) one resource's part.

    Metrics are counted as skipped. Each record is decoded by itself, so one that is broken costs
    only itself; it is added to `report`.
    """
    data = memoryview(message)
    try:
        for index, part in enumerate([data] if is_part else wire.parts(data, 1)):
            yield from _resource_part(part, report.below("resources", index))
    except wire.WireError as error:
        report.add(f"cannot be decoded ({error}); the rest of the message is left out")


def _resource_part(data: memoryview, report: Report) -> Iterator[Span | LogRecord]:
    resource: dict[str, Json] = {}
    for part in wire.parts(data, 1):
        message = _parsed(Resource, part, report.below("resource"))
        resource = {} if message is None else _attributes(message.attributes)
    for number, part in enumerate(wire.parts(data, *wire.SCOPES)):
        yield from _scope_part(part, resource, report.below("scopes", number))


def _scope_part(
    data: memoryview, resource: dict[str, Json], report: Report
) -> Iterator[Span | LogRecord]:
    scope_name = scope_version = ""
    for part in wire.parts(data, 1):
        scope = _parsed(InstrumentationScope, part, report.below("scope"))
        if scope is not None:
            scope_name, scope_version = scope.name, scope.version
    for position, part in enumerate(wire.parts(data, wire.RECORDS)):
        signal = wire.signal_of(part)
        if signal == "metric":
            report.problems.skip("metrics")
            continue
        is_log = signal == "log record"
        place = report.below("records", position)
        message = _parsed(LogMessage if is_log else SpanMessage, part, place)
        if message is None:
            continue
        try:
            if is_log:
                yield _log_record(message, resource, scope_name)
            else:
                yield _span(message, resource, scope_name, scope_version, place)
        except SpanError as error:
            place.add_error(error, lost=f"the {'log record' if is_log else 'span'} is left out")


def _parsed(kind: Any, data: memoryview, report: Report) -> Any:
    try:
        return kind.FromString(data)
    except (ProtobufError, RecursionError) as error:
        report.add(f"cannot be decoded ({error}); the part is left out")
        return None


def _span(
    span: Any, resource: dict[str, Json], scope_name: str, scope_version: str, report: Report
) -> Span:
    status = span.status
    return Span(
        trace_id=required_id(span.trace_id, 16, "traceId"),
        span_id=required_id(span.span_id, 8, "spanId"),
        parent_span_id=to_id(span.parent_span_id, 8, "parentSpanId") or None,
        name=span.name,
        kind=KINDS[span.kind] if 0 <= span.kind < len(KINDS) else "UNSPECIFIED",
        start_ns=span.start_time_unix_nano or None,
        end_ns=span.end_time_unix_nano or None,
        status_code=STATUS_CODES[status.code] if 0 <= status.code < 3 else "UNSET",
        status_message=status.message,
        trace_state=span.trace_state,
        scope_name=scope_name,
        scope_version=scope_version,
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(e.name, e.time_unix_nano or None, _attributes(e.attributes))
            for e in span.events
        ),
        links=tuple(_links(span.links, report.below("links"))),
        resource=resource,
    )


def _log_record(record: Any, resource: dict[str, Json], scope_name: str) -> LogRecord:
    return LogRecord(
        trace_id=to_id(record.trace_id, 16, "traceId") or None,
        span_id=to_id(record.span_id, 8, "spanId") or None,
        time_ns=record.time_unix_nano or record.observed_time_unix_nano or None,
        event_name=record.event_name,
        body=_value(record.body),
        severity=to_severity(record.severity_text, int(record.severity_number)),
        scope_name=scope_name,
        attributes=_attributes(record.attributes),
        resource=resource,
    )


def _links(links: Any, report: Report) -> Iterator[SpanLink]:
    for index, link in enumerate(links):
        try:
            trace_id = required_id(link.trace_id, 16, "traceId")
            span_id = required_id(link.span_id, 8, "spanId")
        except SpanError as error:
            report.below(index).add_error(error, lost="the link is left out")
        else:
            yield SpanLink(trace_id, span_id, _attributes(link.attributes))


def _attributes(pairs: Any) -> dict[str, Json]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Json:
    kind = value.WhichOneof("value")
    if kind in ("string_value", "int_value", "bool_value"):
        return getattr(value, kind)
    if kind == "double_value":
        return value.double_value if math.isfinite(value.double_value) else None
    if kind == "array_value":
        return [_value(v) for v in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return None
