"""Spans as OTLP, written independently of the code that reads it: protobuf, and JSON by hand.

One thing a newcomer would get wrong: google's own JSON of a message has ids in base64 and enums by
name, which OTLP/JSON forbids and stores of traces still send; `as_json` is what OTLP asks for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from trajscope.model.span import Json, Span

KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
CODES = ("UNSET", "OK", "ERROR")


def _any_value(value: Json) -> AnyValue:
    found = AnyValue()
    if isinstance(value, bool):
        found.bool_value = value
    elif isinstance(value, int):
        found.int_value = value
    elif isinstance(value, float):
        found.double_value = value
    elif isinstance(value, str):
        found.string_value = value
    elif isinstance(value, list):
        found.array_value.values.extend(map(_any_value, value))
        found.array_value.SetInParent()
    elif isinstance(value, dict):
        found.kvlist_value.values.extend(_pairs(value))
        found.kvlist_value.SetInParent()
    return found


def _pairs(attributes: dict[str, Json]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any_value(value)) for key, value in attributes.items()]


def _span(span: Span) -> SpanMessage:
    return SpanMessage(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id or ""),
        name=span.name,
        kind=KINDS.index(span.kind),  # type: ignore[arg-type]
        start_time_unix_nano=span.start_ns or 0,
        end_time_unix_nano=span.end_ns or 0,
        status=Status(
            code=CODES.index(span.status_code),  # type: ignore[arg-type]
            message=span.status_message,
        ),
        trace_state=span.trace_state,
        attributes=_pairs(span.attributes),
        events=[
            SpanMessage.Event(
                name=e.name, time_unix_nano=e.time_ns or 0, attributes=_pairs(e.attributes)
            )
            for e in span.events
        ],
        links=[
            SpanMessage.Link(
                trace_id=bytes.fromhex(link.trace_id),
                span_id=bytes.fromhex(link.span_id),
                attributes=_pairs(link.attributes),
            )
            for link in span.links
        ],
    )


def as_request(spans: Iterable[Span]) -> ExportTraceServiceRequest:
    """Return the spans as one export request, in their order."""
    request = ExportTraceServiceRequest()
    keyed = itertools.groupby(spans, lambda s: (s.resource, s.scope_name, s.scope_version))
    for (resource, scope_name, scope_version), group in keyed:
        part = request.resource_spans.add()
        part.resource.attributes.extend(_pairs(resource))
        scope = part.scope_spans.add()
        scope.scope.name, scope.scope.version = scope_name, scope_version
        scope.spans.extend(map(_span, group))
    return request


def as_protobuf(spans: Iterable[Span]) -> bytes:
    """Return the spans as the bytes of one export request."""
    return as_request(spans).SerializeToString()


def as_google_json(spans: Iterable[Span], *, proto_names: bool = False) -> dict[str, Any]:
    """Return the request as google's protobuf library writes JSON: base64 ids, enums by name."""
    return json_format.MessageToDict(
        as_request(spans),
        preserving_proto_field_name=proto_names,
        always_print_fields_with_no_presence=True,
    )


def as_json(spans: Iterable[Span]) -> dict[str, Any]:
    """Return the request as OTLP/JSON: ids in hex, enums as numbers, 64-bit integers as text."""
    document = json_format.MessageToDict(as_request(spans), use_integers_for_enums=True)
    written = iter(list(spans))
    for resource_spans in document.get("resourceSpans", ()):
        for scope_spans in resource_spans["scopeSpans"]:
            for part in scope_spans["spans"]:
                span = next(written)
                part["traceId"], part["spanId"] = span.trace_id, span.span_id
                part.pop("parentSpanId", None)
                if span.parent_span_id is not None:
                    part["parentSpanId"] = span.parent_span_id
                for link, link_part in zip(span.links, part.get("links", ()), strict=True):
                    link_part["traceId"], link_part["spanId"] = link.trace_id, link.span_id
    return document
