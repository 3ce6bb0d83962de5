"""Zipkin v2 JSON: a list of spans, a list of traces (the API), or one span a line.

Built from Zipkin's API description and OTel's rules for exporting to Zipkin; no recording exists.
One thing a newcomer would get wrong: with `shared` a server writes its half of a call under the
*client's* span id. The half gets an id of its own here, below the client's span.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.formats._row import Row, decode_text, present
from trajscope.formats._rows import RowFormat
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent, StatusCode

_OWN_TAGS = frozenset(
    {"otel.status_code", "otel.status_description", "otel.scope.name", "otel.scope.version"}
    | {"otel.library.name", "otel.library.version", "w3c.tracestate"}
)
_OWN_NAMES = ("localEndpoint", "annotations", "duration", "timestamp", "tags", "shared")
_FOREIGN_NAMES = ("spanId", "startTime", "start_time", "type", "observations", "object")


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a span with Zipkin's endpoint or annotations, 2 for its outer shape."""
    if "traceId" not in record or "id" not in record:
        return 0
    if any(name in record for name in _FOREIGN_NAMES):
        return 0
    if "localEndpoint" in record or "annotations" in record:
        return 3
    return 2 if any(name in record for name in _OWN_NAMES) else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the record."""
    trace_id = to_hex(row.required_id("traceId"), 32)
    span_id = to_hex(row.required_id("id"), 16)
    if not trace_id or not span_id:
        row.refuse("id", row.get("id"), "ids that are not all zeros")
    parent = to_hex(row.id("parentId"), 16) or None
    if row.get("shared") is True:
        parent, span_id = span_id, f"{span_id}-{row.kind('kind').lower()}"
    tags = row.mapping("tags")
    start = row.time("timestamp", unit="us")
    status, message = _status(tags)
    endpoint = row.mapping("remoteEndpoint")
    local = row.mapping("localEndpoint")
    rest = {f"zipkin.local_endpoint.{k}": v for k, v in local.items() if k != "serviceName"}
    yield Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        name=row.text("name"),
        kind=row.kind("kind"),
        start_ns=start,
        end_ns=row.end(start, "duration", unit="us"),
        status_code=status,
        status_message=message,
        trace_state=_tag(tags, "w3c.tracestate"),
        scope_name=_tag(tags, "otel.scope.name", "otel.library.name"),
        scope_version=_tag(tags, "otel.scope.version", "otel.library.version"),
        attributes={k: v for k, v in tags.items() if k not in _OWN_TAGS}
        | {f"zipkin.remote_endpoint.{k}": v for k, v in endpoint.items()},
        events=tuple(_event(part) for part in row.rows("annotations")),
        resource=present({"service.name": local.get("serviceName")} | rest),
    )


def _tag(tags: dict[str, Json], *names: str) -> str:
    return next((v for n in names if isinstance(v := tags.get(n), str)), "")


def _status(tags: dict[str, Json]) -> tuple[StatusCode, str]:
    """The status by OTel's tags; else an `error` tag, whose text is the description."""
    code = _tag(tags, "otel.status_code").upper()
    message = _tag(tags, "otel.status_description")
    error = tags.get("error")
    if code in ("OK", "UNSET"):
        return ("OK" if code == "OK" else "UNSET"), message
    if code == "ERROR" or (isinstance(error, str) and error.lower() != "false"):
        text = error if isinstance(error, str) and error.lower() not in ("true", "") else ""
        return "ERROR", message or text
    return "UNSET", message


def _event(part: Row) -> SpanEvent:
    """An annotation: a name, OTel's `{"name": {attributes}}`, or the Collector's `name|{…}|n`."""
    value = part.text("value")
    time_ns = part.time("timestamp", unit="us")
    decoded = decode_text(value) if value.startswith("{") else None
    if isinstance(decoded, dict) and len(decoded) == 1:
        [(name, attributes)] = decoded.items()
        if isinstance(attributes, dict):
            return SpanEvent(name, time_ns, attributes)
    pieces = value.split("|")
    if len(pieces) >= 3:
        attributes = decode_text("|".join(pieces[1:-1]))
        if isinstance(attributes, dict):
            return SpanEvent(pieces[0], time_ns, attributes)
    return SpanEvent(value, time_ns)


FORMAT = RowFormat(
    name="zipkin",
    description="Zipkin v2 JSON: a list of spans, a list of traces, or one span a line.",
    judge=judge,
    read_row=read_row,
)
