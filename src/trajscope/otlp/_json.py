"""From one OTLP/JSON document to records: the envelope, and whose turn it is to read a span.

One thing a newcomer would get wrong: the envelope is never decoded into objects. Each level keeps
its parts as raw bytes, so a document of 140 MB costs its bytes and one span at a time, and one
unreadable span costs only itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from trajscope.model.span import Json, LogRecord, Span
from trajscope.otlp import _logs, _tolerant, _typed
from trajscope.otlp._fields import shown
from trajscope.otlp._report import Report

T = TypeVar("T")
Members = dict[str, msgspec.Raw]
Items = list[msgspec.Raw] | None

RESOURCE_SPANS = ("resourceSpans", "resource_spans", "batches")
"""Names of the list of resources; `batches` is Tempo's."""
SCOPE_SPANS = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
)
"""Names of the list of scopes; the last two are of OTLP before 0.19."""
SCOPE = ("scope", "instrumentationLibrary", "instrumentation_library")
RESOURCE_LOGS = ("resourceLogs", "resource_logs")
SCOPE_LOGS = (
    "scopeLogs",
    "scope_logs",
    "instrumentationLibraryLogs",
    "instrumentation_library_logs",
)
LOG_RECORDS = ("logRecords", "log_records", "logs")
_METRICS = (
    {"resourceMetrics", "resource_metrics"},
    {"scopeMetrics", "scope_metrics", "instrumentationLibraryMetrics"},
)
Buffer = bytes | bytearray | memoryview
_members: msgspec.json.Decoder[Members | None] = msgspec.json.Decoder(Members | None)
_anything: msgspec.json.Decoder[Json] = msgspec.json.Decoder()
_items: msgspec.json.Decoder[Items] = msgspec.json.Decoder(Items)


def records_from_json(document: Buffer, report: Report) -> Iterator[Span | LogRecord]:
    """Yield the spans and log records of one OTLP/JSON document.

    An export request, TracesData, LogsData, a Tempo trace. Metrics are counted as skipped. Whatever
    cannot be read is added to `report`; nothing is raised for it unless its problems are strict.
    """
    try:
        envelope = _typed.decode_envelope(document)
    except _typed.REFUSALS:
        yield from records_from_odd_json(document, report)
    else:
        yield from spans_from_envelope(envelope, report)


def spans_from_envelope(envelope: _typed.Envelope, report: Report) -> Iterator[Span]:
    """Yield the spans of a document whose envelope has the common form."""
    for index, resource_spans in enumerate(envelope.resource_spans):
        place = report.below("resourceSpans", index)
        try:
            resource = resource_spans.attributes()
        except _typed.REFUSALS:
            part = msgspec.json.encode(resource_spans.resource)
            resource = _resource(msgspec.Raw(part), place.below("resource"))
        for number, scope_spans in enumerate(resource_spans.scope_spans):
            scope = scope_spans.scope
            yield from _spans(
                scope_spans.spans,
                resource,
                scope.name if scope else "",
                scope.version if scope else "",
                place.below("scopeSpans", number, "spans"),
            )


def records_from_odd_json(document: Buffer, report: Report) -> Iterator[Span | LogRecord]:
    """Yield the records of a document in any other spelling, level by level."""
    envelope = _decode(_members, document, report)
    if envelope is None:
        return
    if "trace" in envelope and not any(name in envelope for name in RESOURCE_SPANS):
        report = report.below("trace")  # Tempo's second version wraps the trace once more.
        envelope = _decode(_members, envelope["trace"], report) or {}
    if any(name in envelope for name in SCOPE_SPANS):
        yield from _resource_spans(envelope, report)
        return
    known = False
    for name, raw in envelope.items():
        if name in RESOURCE_SPANS:
            known = True
            for part, place in _parts(raw, report.below(name)):
                yield from _resource_spans(part, place)
        elif name in RESOURCE_LOGS:
            known = True
            for part, place in _parts(raw, report.below(name)):
                yield from _resource_logs(part, place)
        known |= _skip_metrics(name, raw, report)
    if not known:
        report.add(
            f"no OTLP document (got an object with {shown([*envelope][:5])}); "
            f"expected one of {', '.join(RESOURCE_SPANS)}"
        )


def _resource_spans(part: Members, report: Report) -> Iterator[Span]:
    resource = _resource(part.get("resource"), report.below("resource"))
    for name in SCOPE_SPANS:
        if name in part:
            for scope_part, place in _parts(part[name], report.below(name)):
                if "spans" in scope_part:
                    spans_place = place.below("spans")
                    spans = _decode(_items, scope_part["spans"], spans_place) or []
                    yield from _spans(spans, resource, *_scope(scope_part, place), spans_place)


def _resource_logs(part: Members, report: Report) -> Iterator[LogRecord]:
    resource = _resource(part.get("resource"), report.below("resource"))
    for name in SCOPE_LOGS:
        if name in part:
            for scope_part, place in _parts(part[name], report.below(name)):
                scope_name, _ = _scope(scope_part, place)
                yield from _log_records(scope_part, resource, scope_name, place)


def _log_records(
    part: Members, resource: dict[str, Json], scope_name: str, report: Report
) -> Iterator[LogRecord]:
    for name in LOG_RECORDS:
        if name in part:
            items = _decode(_items, part[name], report.below(name))
            for index, raw in enumerate(items or ()):
                place = report.below(name, index)
                plain = _decode(_anything, raw, place)
                record = _logs.read_log_record(plain, resource, scope_name, place)
                if record is not None:
                    yield record


def _spans(
    raws: list[msgspec.Raw],
    resource: dict[str, Json],
    scope_name: str,
    scope_version: str,
    report: Report,
) -> Iterator[Span]:
    read = _typed.SpanReader(resource, scope_name, scope_version).read
    for index, raw in enumerate(raws):
        try:
            span: Span | None = read(raw)
        except _typed.REFUSALS:
            place = report.below(index)
            span = _read_thoroughly(raw, resource, scope_name, scope_version, place)
        if span is not None:
            yield span


def _read_thoroughly(
    raw: msgspec.Raw, resource: dict[str, Json], scope_name: str, scope_version: str, report: Report
) -> Span | None:
    try:
        plain = msgspec.json.decode(raw)
        return _tolerant.read_span(plain, resource, scope_name, scope_version, report)
    except _typed.REFUSALS as error:
        report.add(f"cannot be decoded ({error}); the span is left out")
        return None


def _resource(raw: msgspec.Raw | None, report: Report) -> dict[str, Json]:
    part = {} if raw is None else _decode(_members, raw, report)
    if not part or "attributes" not in part:
        return {}
    place = report.below("attributes")
    return _tolerant.read_attributes(_decode(_anything, part["attributes"], place), place)


def _scope(part: Members, report: Report) -> tuple[str, str]:
    for name in SCOPE:
        if name in part:
            place = report.below(name)
            scope = _decode(_members, part[name], place) or {}
            return _text(scope, "name", place), _text(scope, "version", place)
    return "", ""


def _text(part: Members, name: str, report: Report) -> str:
    if name not in part:
        return ""
    place = report.below(name)
    return _tolerant.read_text(_decode(_anything, part[name], place), place)


def _skip_metrics(name: str, raw: msgspec.Raw, report: Report) -> bool:
    resources, scopes = _METRICS
    if name not in resources:
        return False
    count = 0
    for part, place in _parts(raw, report.below(name)):
        for key in scopes & part.keys():
            for scope_part, below in _parts(part[key], place.below(key)):
                if "metrics" in scope_part:
                    items = _decode(_items, scope_part["metrics"], below.below("metrics"))
                    count += len(items or ())
    report.problems.skip("metrics", count)
    return True


def _parts(raw: msgspec.Raw, report: Report) -> Iterator[tuple[Members, Report]]:
    """Yield the objects of a list, each with its place; what is no object is reported."""
    items = _decode(_items, raw, report)
    for index, item in enumerate(items or ()):
        place = report.below(index)
        part = _decode(_members, item, place)
        if part is not None:
            yield part, place


def _decode(
    decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | Buffer, report: Report
) -> T | None:
    try:
        return decoder.decode(raw)
    except _typed.REFUSALS as error:
        report.add(f"cannot be decoded ({error}); the part is left out")
        return None
