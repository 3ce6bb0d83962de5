"""Stored span records in Mastra's form: an array, `{"spans": …}`, `{"traces": …}`, JSON lines.

One thing a newcomer would get wrong: ids are any text, kept letter for letter. Every member of a
record becomes the attribute `mastra.record.<member>`, so nothing of it is lost; the convention
`mastra-record` reads them. Epoch numbers are taken as seconds, milliseconds, microseconds or
nanoseconds by their size: dates between 1973 and 5138 are told apart without doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import msgspec

from trajscope.errors import Problems, SpanError
from trajscope.formats._documents import is_text, iter_documents
from trajscope.formats._times import Unit, to_time_ns
from trajscope.model.span import Json, LogRecord, Span, SpanLink
from trajscope.otlp import Report, refused, shown
from trajscope.ports import Source
from trajscope.values import decode_json, text_of

PREFIX = "mastra.record."

_OWN_NAMES = ("traceId", "spanId", "parentSpanId", "name", "startedAt", "endedAt")
_JSON_COLUMNS = ("attributes", "metadata", "links", "tags", "scope", "requestContext")
"""Members that are never plain text, so text in them is an encoded column."""
_TEXT_OR_JSON_COLUMNS = ("input", "output", "error")
"""Members that may be plain text; decoded only in records whose other columns are encoded."""
_UNITS: tuple[tuple[int, Unit], ...] = ((10**11, "s"), (10**14, "ms"), (10**17, "us"))
_SNAKE = re.compile(r"_([a-z])")
_NAMES = re.compile(
    rb'"(traceId|spanId|spanType|startedAt|trace_id|span_id|span_type|started_at)"\s*:'
)
_ZERO_ID = re.compile(r"0{16}(?:0{16})?").fullmatch


class MastraSpans:
    """The format."""

    name = "mastra-spans"
    description = (
        "Stored span records of Mastra (spanType, startedAt, …): array, {spans}, {traces} or "
        "JSON lines."
    )

    def sniff(self, source: Source) -> int:
        """Return how many of the four names every record has lie in the head, less one."""
        names = {name.replace(b"_", b"").lower() for name in _NAMES.findall(source.head)}
        if b"spanid" not in names or not names & {b"spantype", b"startedat"}:
            return 0
        return len(names) - 1 if is_text(source.head) else 0

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield a span for every record."""
        for document in iter_documents(source, problems, msgspec.json.decode):
            report = Report(problems, document.at)
            value = document.value
            if value is None:
                try:
                    value = msgspec.json.decode(document.text)
                except (msgspec.DecodeError, RecursionError) as error:
                    report.add(f"cannot be decoded ({error}); the record is left out")
                    continue
            for keys, record in _records(value):
                try:
                    yield span_from_record(record)
                except SpanError as error:
                    report.below(*keys).add_error(error, lost="the record is left out")


def _records(value: Json) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the records inside any of the containers, each with the way to it; no recursion."""
    stack: list[tuple[tuple[str | int, ...], Json]] = [((), value)]
    while stack:
        keys, node = stack.pop()
        inner: Json = node
        if isinstance(node, dict) and "spans" in node and "spanId" not in node:
            keys, inner = (*keys, "spans"), node["spans"]
        elif isinstance(node, dict) and "traces" in node and "spanId" not in node:
            keys, inner = (*keys, "traces"), node["traces"]
            if isinstance(inner, dict):
                stack.extend(((*keys, name), part) for name, part in reversed([*inner.items()]))
                continue
        if isinstance(inner, list):
            stack.extend(((*keys, n), part) for n, part in reversed([*enumerate(inner)]))
        else:
            yield keys, inner


def span_from_record(record: Mapping[str, Any]) -> Span:
    """Return the span of a stored record; camelCase or snake_case members.

    Raises:
        SpanError: it is no object, or lacks an id, or a time cannot be read.
    """
    if not isinstance(record, Mapping):
        raise SpanError(f"no record (got {shown(record)}); expected a JSON object")
    members = {_camel(k): v for k, v in record.items()}
    _decode_columns(members)
    error = members.get("error")
    parent_span_id = members.get("parentSpanId")
    return Span(
        trace_id=_required_id(members, "traceId"),
        span_id=_required_id(members, "spanId"),
        parent_span_id=None if _is_no_parent(parent_span_id) else str(parent_span_id),
        name=str(members.get("name") or ""),
        start_ns=_time_ns(members, "startedAt"),
        end_ns=_time_ns(members, "endedAt"),
        status_code="ERROR" if error else "UNSET",
        status_message=_message(error),
        attributes={
            PREFIX + name: value
            for name, value in members.items()
            if name not in _OWN_NAMES and (value is not None or name in ("input", "output"))
        },
        links=tuple(_links(members.get("links"))),
        resource=_resource(members),
    )


def _decode_columns(members: dict[str, Any]) -> None:
    """Decode JSON columns that a dump of the database left as text."""
    encoded = False
    for name in _JSON_COLUMNS:
        value = members.get(name)
        if isinstance(value, str):
            members[name] = decode_json(value)
            encoded |= members[name] is not value
    for name in _TEXT_OR_JSON_COLUMNS if encoded else ():
        members[name] = _decoded(members.get(name))
    if isinstance(members.get("isEvent"), int):
        members["isEvent"] = bool(members["isEvent"])


def _decoded(column: Json) -> Json:
    if isinstance(column, str):
        try:
            return msgspec.json.decode(column)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            pass
    return column


def _required_id(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise refused(name, value, "non-empty text")
    return value


def _is_no_parent(value: Any) -> bool:
    return not value or (isinstance(value, str) and _ZERO_ID(value) is not None)


def record_from_span(span: Span) -> dict[str, Json]:
    """Return the stored record of a span that came from one; the inverse of `span_from_record`.

    Times come back as ISO text with nanoseconds where they need them.
    """
    record: dict[str, Json] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id,
        "name": span.name,
        "startedAt": _iso(span.start_ns),
        "endedAt": _iso(span.end_ns),
    }
    for name, value in span.attributes.items():
        if name.startswith(PREFIX):
            record[name.removeprefix(PREFIX)] = value
    return record


def _time_ns(members: Mapping[str, Any], name: str) -> int | None:
    value = members.get(name)
    if isinstance(value, datetime):
        value = value.isoformat()
    try:
        return stored_time_ns(value)
    except ValueError as error:
        raise refused(name, value, "ISO 8601 text or an epoch number") from error


def stored_time_ns(value: Json) -> int | None:
    """Return a stored time in nanoseconds since the epoch; None for null and "".

    ISO 8601 text keeps its digits below the millisecond; text without a zone is UTC.

    >>> stored_time_ns("2026-03-03T09:00:00.000000100Z")
    1772528400000000100
    >>> stored_time_ns(1772528400123) == stored_time_ns("1772528400.123")
    True

    Raises:
        ValueError: it is no time.
    """
    if isinstance(value, float) and isfinite(value):
        value = repr(value) if "e" not in repr(value) else int(value)
    try:
        size = abs(float(value)) if isinstance(value, str | int) else 0.0
    except (ValueError, OverflowError):
        size = 0.0
    unit: Unit = next((unit for limit, unit in _UNITS if size < limit), "ns")
    return to_time_ns(value, unit)


def _iso(time_ns: int | None) -> str | None:
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 10**9)
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    digits = 3 if rest % 10**6 == 0 else 9
    return f"{moment}.{rest // 10 ** (9 - digits):0{digits}d}Z"


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda m: m[1].upper(), name) if "_" in name else name


def _message(error: Json) -> str:
    if isinstance(error, dict):
        return str(error.get("message") or "")
    return error if isinstance(error, str) else ""


def _links(value: Json) -> Iterator[SpanLink]:
    for link in value if isinstance(value, list) else ():
        if isinstance(link, dict):
            trace_id, span_id = text_of(link.get("traceId")), text_of(link.get("spanId"))
            if trace_id and span_id:
                yield SpanLink(trace_id, span_id)


def _resource(members: Mapping[str, Json]) -> dict[str, Json]:
    name = text_of(members.get("serviceName"))
    return {"service.name": name} if name else {}


FORMAT = MastraSpans()
