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
from typing import Any

import msgspec

from trajscope.errors import DecodeError, Location, Problems
from trajscope.formats._documents import iter_documents
from trajscope.model.span import Json, LogRecord, Span, SpanLink
from trajscope.ports import Source
from trajscope.values import decode_json, text_of

PREFIX = "mastra.record."

_OWN_NAMES = ("traceId", "spanId", "parentSpanId", "name", "startedAt", "endedAt")
_JSON_MEMBERS = frozenset(
    {"attributes", "metadata", "links", "input", "output", "error", "tags", "scope"}
)
_SNAKE = re.compile(r"_([a-z])")
_RECORD = re.compile(rb'"(?:spanType|span_type)"\s*:')
_SPAN_ID = re.compile(rb'"(?:spanId|span_id)"\s*:')
_FRACTION = re.compile(r"\.(\d+)")


class MastraSpans:
    """The format."""

    name = "mastra-spans"
    description = (
        "Stored span records of Mastra (spanType, startedAt, …): array, {spans}, {traces} or "
        "JSON lines."
    )

    def sniff(self, source: Source) -> int:
        """Return 3 when records with a span type lie in the head."""
        head = source.head
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return 3 if start in (b"{", b"[") and _RECORD.search(head) and _SPAN_ID.search(head) else 0

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield a span for every record."""
        for document in iter_documents(source, problems):
            try:
                value = msgspec.json.decode(document.text)
            except (msgspec.DecodeError, RecursionError) as error:
                problems.add(f"cannot be decoded ({error})", at=document.at)
                continue
            for number, record in enumerate(_records(value), start=1):
                given = document.at.record
                at = Location(source.name, line=document.at.line, record=given or number)
                try:
                    yield span_from_record(record)
                except DecodeError as error:
                    problems.add(error.message, at=at, hint=error.hint)


def _records(value: Json) -> Iterator[Json]:
    """Yield the records inside any of the containers, without recursion."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict) and isinstance(node.get("spans"), list):
            stack.append(node["spans"])
        elif isinstance(node, dict) and isinstance(node.get("traces"), list | dict):
            traces = node["traces"]
            stack.append(list(traces.values()) if isinstance(traces, dict) else traces)
        else:
            yield node


def span_from_record(record: Mapping[str, Any]) -> Span:
    """Return the span of a stored record; camelCase or snake_case members.

    Raises:
        DecodeError: it is no object, or lacks an id, or a time cannot be read.
    """
    if not isinstance(record, Mapping):
        raise DecodeError(f"no record (got {record!r:.60}); expected a JSON object")
    members = {_camel(k): v for k, v in record.items()}
    trace_id, span_id = text_of(members.get("traceId")), text_of(members.get("spanId"))
    if trace_id is None or span_id is None:
        which = "traceId" if trace_id is None else "spanId"
        raise DecodeError(
            f"the record has no {which} (got {members.get(which)!r:.60}); expected non-empty text"
        )
    for name in _JSON_MEMBERS & members.keys():
        if name not in ("input", "output"):
            members[name] = decode_json(members[name])
    error = members.get("error")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=text_of(members.get("parentSpanId")),
        name=str(members.get("name") or ""),
        start_ns=to_time_ns(members.get("startedAt"), "startedAt"),
        end_ns=to_time_ns(members.get("endedAt"), "endedAt"),
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


def to_time_ns(value: Any, key: str) -> int | None:
    """Return a stored time in nanoseconds since the epoch; None for null and "".

    ISO 8601 text keeps its digits below the microsecond; text without a zone is UTC.

    >>> to_time_ns("2026-03-03T09:00:00.000000100Z", "startedAt")
    1772528400000000100
    >>> to_time_ns(1772528400123, "startedAt")
    1772528400123000000

    Raises:
        DecodeError: it is no time.
    """
    if value is None or value == "":
        return None
    expected = f"{key} is no time (got {value!r:.60}); expected ISO 8601 text or an epoch number"
    if isinstance(value, bool):
        raise DecodeError(expected)
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit():
            value = int(text)
        else:
            return _from_iso(text, expected)
    if isinstance(value, int | float) and 0 <= value < 2**63:
        for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
            if value < limit:
                return round(value * factor)
        return int(value)
    raise DecodeError(expected)


def _from_iso(text: str, expected: str) -> int:
    fraction = _FRACTION.search(text)
    digits = fraction[1][:9].ljust(9, "0") if fraction else "0"
    whole = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError as error:
        raise DecodeError(expected) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = int(moment.timestamp())
    if seconds < 0:
        raise DecodeError(expected)
    return seconds * 10**9 + int(digits)


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
