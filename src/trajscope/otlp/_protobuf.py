"""From OTLP protobuf messages to spans.

One thing a newcomer would get wrong: in protobuf nothing is absent. An id of no bytes and a time
of zero mean "not given", just as in JSON.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import DecodeError as ProtobufError
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, TracesData

from trajscope.errors import SpanError
from trajscope.model.span import Json, LogRecord, Span, SpanEvent, SpanLink
from trajscope.otlp._fields import KINDS, STATUS_CODES, required_id, to_id
from trajscope.otlp._report import Report


def records_from_protobuf(
    message: bytes, report: Report, *, is_part: bool = False
) -> Iterator[Span | LogRecord]:
    """Yield the spans of one message: an export request, or (`is_part`) one ResourceSpans.

    What cannot be decoded is added to `report`.
    """
    try:
        if is_part:
            parts: Iterable[Any] = (ResourceSpans.FromString(message),)
        else:
            parts = TracesData.FromString(message).resource_spans
    except ProtobufError as error:
        report.add(f"cannot be decoded ({error}); the message is left out")
        return
    for index, part in enumerate(parts):
        resource = _attributes(part.resource.attributes)
        for number, scope_spans in enumerate(part.scope_spans):
            scope = scope_spans.scope
            place = report.below("resourceSpans", index, "scopeSpans", number, "spans")
            for position, span in enumerate(scope_spans.spans):
                try:
                    yield _span(span, resource, scope.name, scope.version)
                except SpanError as error:
                    place.below(position).add_error(error, lost="the span is left out")


def _span(span: Any, resource: dict[str, Json], scope_name: str, scope_version: str) -> Span:
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
        links=tuple(_link(link) for link in span.links),
        resource=resource,
    )


def _link(link: Any) -> SpanLink:
    trace_id = required_id(link.trace_id, 16, "links.traceId")
    span_id = required_id(link.span_id, 8, "links.spanId")
    return SpanLink(trace_id, span_id, _attributes(link.attributes))


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
