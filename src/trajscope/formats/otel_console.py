"""Spans as the OTel SDK for Python writes them to a console or a file (`ReadableSpan.to_json`).

One thing a newcomer would get wrong: this form has no instrumentation scope, so conventions that
know their spans by it cannot claim them here; and its times end at the microsecond. The console
of the JavaScript SDK prints no JSON and is not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.formats._row import Row
from trajscope.formats._rows import RowFormat
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent, SpanLink


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a span with the context or kind the SDK writes, 2 for its outer shape."""
    context = record.get("context")
    if not isinstance(context, dict) or "trace_id" not in context or "span_kind" in record:
        return 0
    if "trace_state" in context or str(record.get("kind")).startswith("SpanKind."):
        return 3
    return 2 if isinstance(record.get("status"), dict) else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the record."""
    context = row.row("context")
    trace_id = to_hex(context.required_id("trace_id"), 32)
    span_id = to_hex(context.required_id("span_id"), 16)
    if not trace_id or not span_id:
        row.refuse("context", row.get("context"), "ids that are not all zeros")
    status = row.row("status")
    resource = row.row("resource")
    scope = row.row("instrumentation_scope", "instrumentation_info")
    yield Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=to_hex(row.id("parent_id"), 16) or None,
        name=row.text("name"),
        kind=row.kind("kind"),
        start_ns=row.time("start_time"),
        end_ns=row.time("end_time"),
        status_code=status.status("status_code"),
        status_message=status.text("description"),
        trace_state=_trace_state(context),
        scope_name=scope.text("name"),
        scope_version=scope.text("version"),
        attributes=row.mapping("attributes"),
        events=tuple(_event(part) for part in row.rows("events")),
        links=tuple(_links(row)),
        resource=resource.mapping("attributes") or _old_resource(resource),
    )


def _trace_state(context: Row) -> str:
    """The trace state; the SDK writes an empty one as the text of an empty list."""
    text = context.text("trace_state")
    return "" if text in ("[]", "{}") else text


def _old_resource(resource: Row) -> dict[str, Json]:
    """The resource of SDKs before 1.13, which wrote the attributes without a level around them."""
    return {k: v for k, v in resource.members.items() if k not in ("attributes", "schema_url")}


def _event(part: Row) -> SpanEvent:
    return SpanEvent(part.text("name"), part.time("timestamp"), part.mapping("attributes"))


def _links(row: Row) -> Iterator[SpanLink]:
    for part in row.rows("links"):
        context = part.row("context")
        trace_id, span_id = to_hex(context.id("trace_id"), 32), to_hex(context.id("span_id"), 16)
        if trace_id and span_id:
            yield SpanLink(trace_id, span_id, part.mapping("attributes"))
        else:
            part.fault("context", part.get("context"), "a trace id and a span id")


FORMAT = RowFormat(
    name="otel-console",
    description="Spans as the OTel SDK for Python prints them: ConsoleSpanExporter, to_json().",
    judge=judge,
    read_row=read_row,
)
