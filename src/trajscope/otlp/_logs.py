"""From one OTLP/JSON log record, given as plain JSON, to a `LogRecord`.

One thing a newcomer would get wrong: a log record may belong to no span and still matter, and many
exporters set only the time it was *observed*; that time is then the record's.
"""

from __future__ import annotations

from trajscope.errors import SpanError
from trajscope.model.span import Json, LogRecord
from trajscope.otlp._fields import shown, to_id, to_severity, to_time_ns
from trajscope.otlp._report import Report
from trajscope.otlp._tolerant import member, read_attributes, read_text, read_value


def read_log_record(
    part: Json, resource: dict[str, Json], scope_name: str, report: Report
) -> LogRecord | None:
    """Return the log record of one JSON value, or None (and a problem) if it cannot be placed."""
    if not isinstance(part, dict):
        report.add(f"no log record (got {shown(part)}); expected a JSON object")
        return None
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
        severity=to_severity(
            read_text(member(part, "severityText"), report.below("severityText")),
            member(part, "severityNumber"),
        ),
        scope_name=scope_name,
        attributes=read_attributes(member(part, "attributes"), report.below("attributes")),
        resource=resource,
    )
