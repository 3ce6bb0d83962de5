"""From OTLP log records, JSON or protobuf, to `LogRecord` values.

One thing a newcomer would get wrong: a log record may belong to no span and still matter, and many
exporters set only the time it was *observed*; that time is then the record's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError as ProtobufError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData, ResourceLogs

from trajscope.errors import SpanError
from trajscope.model.span import Json, LogRecord
from trajscope.otlp._fields import shown, to_id, to_time_ns
from trajscope.otlp._protobuf import _attributes as attributes_of
from trajscope.otlp._protobuf import _value as value_of
from trajscope.otlp._report import Report
from trajscope.otlp._tolerant import member, read_attributes, read_list, read_text, read_value

_SCOPES = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
_SCOPE = ("scope", "instrumentationLibrary", "instrumentation_library")
_RECORDS = ("logRecords", "log_records", "logs")


def logs_from_json(resources: Json, report: Report) -> Iterator[LogRecord]:
    """Yield the records of a `resourceLogs` list, given as plain JSON."""
    for part, place in _objects(resources, report):
        resource = part.get("resource")
        resource = resource if isinstance(resource, dict) else {}
        below = place.below("resource", "attributes")
        shared = read_attributes(resource.get("attributes"), below)
        for scopes in _SCOPES:
            for scope_part, at in _objects(part.get(scopes), place.below(scopes)):
                scope = next((s for n in _SCOPE if isinstance(s := scope_part.get(n), dict)), {})
                name = read_text(scope.get("name"), at.below("scope", "name"))
                for key in _RECORDS:
                    for record, spot in _objects(scope_part.get(key), at.below(key)):
                        found = _from_json(record, shared, name, spot)
                        if found is not None:
                            yield found


def _objects(value: Json, report: Report) -> Iterator[tuple[dict[str, Json], Report]]:
    for index, item in enumerate(read_list(value, report)):
        place = report.below(index)
        if isinstance(item, dict):
            yield item, place
        else:
            place.add(f"left out (got {shown(item)}); expected a JSON object")


def _from_json(
    part: dict[str, Json], resource: dict[str, Json], scope_name: str, report: Report
) -> LogRecord | None:
    try:
        trace_id = to_id(member(part, "traceId"), 16, "traceId") or None
        span_id = to_id(member(part, "spanId"), 8, "spanId") or None
        time_ns = to_time_ns(member(part, "timeUnixNano"), "timeUnixNano") or to_time_ns(
            member(part, "observedTimeUnixNano"), "observedTimeUnixNano"
        )
    except SpanError as error:
        report.add_error(error, lost="the log record is left out")
        return None
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time_ns=time_ns,
        event_name=read_text(member(part, "eventName"), report.below("eventName")),
        body=read_value(member(part, "body"), report.below("body")),
        severity=read_text(member(part, "severityText"), report.below("severityText")),
        scope_name=scope_name,
        attributes=read_attributes(member(part, "attributes"), report.below("attributes")),
        resource=resource,
    )


def logs_from_protobuf(
    message: bytes, report: Report, *, is_part: bool = False
) -> Iterator[LogRecord]:
    """Yield the records of one message: an export request, or (`is_part`) one ResourceLogs."""
    try:
        if is_part:
            parts: Any = (ResourceLogs.FromString(message),)
        else:
            parts = LogsData.FromString(message).resource_logs
    except ProtobufError as error:
        report.add(f"cannot be decoded ({error}); the message is left out")
        return
    for index, part in enumerate(parts):
        resource = attributes_of(part.resource.attributes)
        for number, scope_logs in enumerate(part.scope_logs):
            place = report.below("resourceLogs", index, "scopeLogs", number, "logRecords")
            for position, record in enumerate(scope_logs.log_records):
                try:
                    yield _from_protobuf(record, resource, scope_logs.scope.name)
                except SpanError as error:
                    place.below(position).add_error(error, lost="the log record is left out")


def _from_protobuf(record: Any, resource: dict[str, Json], scope_name: str) -> LogRecord:
    return LogRecord(
        trace_id=to_id(record.trace_id, 16, "traceId") or None,
        span_id=to_id(record.span_id, 8, "spanId") or None,
        time_ns=record.time_unix_nano or record.observed_time_unix_nano or None,
        event_name=record.event_name,
        body=value_of(record.body) if record.HasField("body") else None,
        severity=record.severity_text,
        scope_name=scope_name,
        attributes=attributes_of(record.attributes),
        resource=resource,
    )
