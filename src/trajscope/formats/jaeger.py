"""Jaeger JSON: what the API and the UI export, one trace, or spans of its Elasticsearch storage.

One thing a newcomer would get wrong: a `FOLLOWS_FROM` reference to a span of the same trace is a
parent too, but only where no `CHILD_OF` is. Times are microseconds, so what began within one is
no longer in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from trajscope.formats._row import Row, present
from trajscope.formats._rows import RowFormat, build_each
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent, SpanKind, SpanLink, StatusCode

_SCOPE_NAMES = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSIONS = ("otel.scope.version", "otel.library.version")
_OWN_TAGS = frozenset(
    {*_SCOPE_NAMES, *_SCOPE_VERSIONS, "span.kind", "otel.status_code", "w3c.tracestate"}
    | {"otel.status_description"}
)
"""Tags that hold fields of the span and are no attributes."""
_KINDS: dict[str, SpanKind] = {
    "internal": "INTERNAL",
    "server": "SERVER",
    "client": "CLIENT",
    "producer": "PRODUCER",
    "consumer": "CONSUMER",
}
_CODES: dict[str, StatusCode] = {"OK": "OK", "ERROR": "ERROR", "UNSET": "UNSET"}


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a trace or a span with Jaeger's `traceID`, 2 for one that was cut early."""
    if "traceID" not in record:
        return 0
    own = ("spans", "processes", "operationName", "spanID", "references", "process")
    return 3 if any(name in record for name in own) else 2


def read_row(row: Row) -> Iterator[Span]:
    """Yield the spans of a trace, or the one span the record is."""
    if "spans" not in row.members:
        yield _span(row, row.row("process"))
        return
    processes = row.row("processes")
    yield from build_each(row.rows("spans"), lambda part: [_span(part, _process(part, processes))])


def _process(span: Row, processes: Row) -> Row:
    own = span.row("process")
    return own if own.members else processes.row(span.text("processID"))


def _span(row: Row, process: Row) -> Span:
    trace_id = to_hex(row.required_id("traceID"), 32)
    span_id = to_hex(row.required_id("spanID"), 16)
    if not trace_id or not span_id:
        row.refuse("spanID", row.get("spanID"), "ids that are not all zeros")
    tags = _tags(row)
    parent, links = _references(row, trace_id)
    start = row.time("startTime", unit="us")
    status, message = _status(tags)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent or to_hex(row.id("parentSpanID"), 16) or None,
        name=row.text("operationName"),
        kind=_kind(tags),
        start_ns=start,
        end_ns=row.end(start, "duration", unit="us"),
        status_code=status,
        status_message=message,
        trace_state=_first(tags, ("w3c.tracestate",)),
        scope_name=_first(tags, _SCOPE_NAMES),
        scope_version=_first(tags, _SCOPE_VERSIONS),
        attributes={k: v for k, v in tags.items() if k not in _OWN_TAGS} | _warnings(row),
        events=tuple(_event(log) for log in row.rows("logs")),
        links=links,
        resource=_resource(process),
    )


def _tags(row: Row, name: str = "tags") -> dict[str, Json]:
    """The tags by key; Elasticsearch may hold them as an object with `@` for dots."""
    found: dict[str, Json] = {}
    if "tag" in row.members and name == "tags":
        found |= {k.replace("@", "."): v for k, v in row.mapping("tag").items()}
    for index, part in enumerate(row.list(name)):
        if not isinstance(part, dict):
            row.leave_out(part, name, index)
        elif not isinstance(key := part.get("key"), str):
            row.below(part, name, index).fault("key", key, "text")
        elif isinstance(value := part.get("value"), str) and part.get("type") != "string":
            found[key] = _value(row.below(part, name, index), value)
        else:
            found[key] = value
    return found


def _value(tag: Row, value: str) -> Json:
    """The value by its type: stores write numbers and truth values as text."""
    kind = tag.text("type").lower()
    if kind == "bool" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        if kind == "int64":
            return int(value)
        if kind == "float64":
            number = float(value)
            return number if isfinite(number) else None
    except ValueError:
        tag.fault("value", value, f"a value of type {kind}")
    return value


def _references(row: Row, trace_id: str) -> tuple[str | None, tuple[SpanLink, ...]]:
    """The parent, and what else is referred to: CHILD_OF wins over FOLLOWS_FROM."""
    parents: list[tuple[bool, str]] = []
    links: list[SpanLink] = []
    for part in row.rows("references"):
        of_trace, span_id = to_hex(part.id("traceID"), 32), to_hex(part.id("spanID"), 16)
        if not span_id:
            continue
        follows = part.text("refType").upper() != "CHILD_OF"
        if of_trace in (trace_id, ""):
            parents.append((follows, span_id))
        else:
            links.append(SpanLink(of_trace, span_id))
    if not parents:
        return None, tuple(links)
    chosen = min(range(len(parents)), key=lambda i: (parents[i][0], i))
    others = (span_id for i, (_, span_id) in enumerate(parents) if i != chosen)
    links.extend(SpanLink(trace_id, span_id) for span_id in others)
    return parents[chosen][1], tuple(links)


def _first(tags: dict[str, Json], names: tuple[str, ...]) -> str:
    for name in names:
        if isinstance(value := tags.get(name), str):
            return value
    return ""


def _kind(tags: dict[str, Json]) -> SpanKind:
    return _KINDS.get(_first(tags, ("span.kind",)).lower(), "UNSPECIFIED")


def _status(tags: dict[str, Json]) -> tuple[StatusCode, str]:
    """The status by OTel's tags, else by `error`; the `error` that only repeats it goes."""
    code = _CODES.get(_first(tags, ("otel.status_code",)).upper())
    is_error = tags.get("error") is True or tags.get("error") == "true"
    if is_error and code in (None, "ERROR"):
        code = "ERROR"
        del tags["error"]
    return code or "UNSET", _first(tags, ("otel.status_description",))


def _event(log: Row) -> SpanEvent:
    fields = _tags(log, "fields")
    name = ""
    for key in ("event", "name"):
        if isinstance(value := fields.get(key), str):
            name = value
            del fields[key]
            break
    return SpanEvent(name, log.time("timestamp", unit="us"), fields)


def _warnings(row: Row) -> dict[str, Json]:
    return present({"jaeger.warnings": row.list("warnings") or None})


def _resource(process: Row) -> dict[str, Json]:
    return present({"service.name": process.text("serviceName")}) | _tags(process)


FORMAT = RowFormat(
    name="jaeger",
    description="Jaeger JSON: the export of its API and UI, one trace, or spans as JSON lines.",
    judge=judge,
    read_row=read_row,
    members=("data",),
)
