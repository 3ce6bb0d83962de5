"""Spans of opentelemetry-sdk as our spans: the same that a collector would have written for them.

One thing a newcomer would get wrong: ids of the SDK are whole numbers, and a span's parent is a
context of its own. Whether that parent lives in another process is known here, and not in OTLP.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id

from trajscope.model import span as model
from trajscope.model.span import Json, Span, SpanEvent, SpanLink

_KINDS: dict[SpanKind, model.SpanKind] = {
    SpanKind.INTERNAL: "INTERNAL",
    SpanKind.SERVER: "SERVER",
    SpanKind.CLIENT: "CLIENT",
    SpanKind.PRODUCER: "PRODUCER",
    SpanKind.CONSUMER: "CONSUMER",
}
_CODES: dict[StatusCode, model.StatusCode] = {
    StatusCode.UNSET: "UNSET",
    StatusCode.OK: "OK",
    StatusCode.ERROR: "ERROR",
}


def to_span(span: ReadableSpan) -> Span:
    """Return an ended span of the SDK as a `Span`; types are kept, times are exact.

    Equal to what comes out of the OTLP the SDK's own exporter writes for it, a property a test
    holds. A time of zero is no time, as there.
    """
    context, parent, scope = span.context, span.parent, span.instrumentation_scope
    if context is None:
        raise ValueError("a span without a context has no ids")
    return Span(
        trace_id=format_trace_id(context.trace_id),
        span_id=format_span_id(context.span_id),
        parent_span_id=format_span_id(parent.span_id) if parent and parent.span_id else None,
        name=span.name,
        kind=_KINDS[span.kind],
        start_ns=span.start_time or None,
        end_ns=span.end_time or None,
        status_code=_CODES[span.status.status_code],
        status_message=span.status.description or "",
        trace_state=context.trace_state.to_header(),
        scope_name=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
        attributes=to_json(span.attributes or {}),
        events=tuple(
            SpanEvent(event.name, event.timestamp or None, to_json(event.attributes or {}))
            for event in span.events
        ),
        links=tuple(
            SpanLink(
                format_trace_id(link.context.trace_id),
                format_span_id(link.context.span_id),
                to_json(link.attributes or {}),
            )
            for link in span.links
        ),
        resource=to_json(span.resource.attributes),
    )


def is_local_root(span: ReadableSpan) -> bool:
    """Return whether nothing of this process can lie above the span."""
    return span.parent is None or span.parent.is_remote


def to_json(value: Any) -> Json:
    """Return an attribute value as JSON: sequences as lists, bytes as base64, no NaN.

    >>> to_json({"n": (1, 2.5, b"ab", float("nan"))})
    {'n': [1, 2.5, 'YWI=', None]}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [to_json(inner) for inner in value]
    return str(value)
