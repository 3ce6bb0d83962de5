"""The thorough way from one OTLP/JSON span, given as plain JSON, to a `Span`.

One thing a newcomer would get wrong: a span is refused only when its ids or times cannot be read,
for then its place is unknown. A bad attribute, event, link or enum costs that part alone, and is
reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from math import isfinite
from typing import Any, TypeVar

from trajscope.errors import SpanError
from trajscope.model.span import Json, Span, SpanEvent, SpanLink
from trajscope.otlp._fields import (
    refused,
    required_id,
    shown,
    to_id,
    to_kind,
    to_status_code,
    to_time_ns,
    to_whole,
)
from trajscope.otlp._report import Report

T = TypeVar("T")
_ABSENT: dict[str, Any] = {}


@cache
def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name)


def member(part: dict[str, T], name: str) -> T | None:
    """Return the member under its camelCase name or its proto spelling; None if neither is there.

    >>> member({"start_time_unix_nano": 5}, "startTimeUnixNano")
    5
    """
    return part[name] if name in part else part.get(_snake(name))


def read_span(
    part: Json, resource: dict[str, Json], scope_name: str, scope_version: str, report: Report
) -> Span | None:
    """Return the span of one JSON value, or None (and a problem) if it cannot be placed."""
    if not isinstance(part, dict):
        report.add(f"no span (got {shown(part)}); expected a JSON object")
        return None
    try:
        trace_id = required_id(member(part, "traceId"), 16, "traceId")
        span_id = required_id(member(part, "spanId"), 8, "spanId")
        parent_span_id = to_id(member(part, "parentSpanId"), 8, "parentSpanId") or None
        start_ns = to_time_ns(member(part, "startTimeUnixNano"), "startTimeUnixNano")
        end_ns = to_time_ns(member(part, "endTimeUnixNano"), "endTimeUnixNano")
    except SpanError as error:
        report.add_error(error, lost="the span is left out")
        return None
    status = member(part, "status") or _ABSENT
    if not isinstance(status, dict):
        report.add(f"status cannot be read (got {shown(status)}); expected a JSON object")
        status = _ABSENT
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent_span_id,
        name=read_text(member(part, "name"), report.below("name")),
        kind=_or_default(to_kind, member(part, "kind"), report),
        start_ns=start_ns,
        end_ns=end_ns,
        status_code=_or_default(to_status_code, member(status, "code"), report),
        status_message=read_text(member(status, "message"), report.below("status.message")),
        trace_state=read_text(member(part, "traceState"), report.below("traceState")),
        scope_name=scope_name,
        scope_version=scope_version,
        attributes=read_attributes(member(part, "attributes"), report.below("attributes")),
        events=tuple(_events(member(part, "events"), report.below("events"))),
        links=tuple(_links(member(part, "links"), report.below("links"))),
        resource=resource,
    )


def _or_default(convert: Callable[[Any], T], value: Any, report: Report) -> T:
    try:
        return convert(value)
    except SpanError as error:
        report.add_error(error, lost="read as unset")
        return convert(None)


def read_text(value: Json, report: Report) -> str:
    """Return text; "" for null, and for anything else (with a problem)."""
    if isinstance(value, str):
        return value
    if value is not None:
        report.add(f"cannot be read (got {shown(value)}); expected text")
    return ""


def read_list(value: Json, report: Report) -> list[Json]:
    """Return a list; empty for null, and for anything else (with a problem)."""
    if isinstance(value, list):
        return value
    if value is not None:
        report.add(f"cannot be read (got {shown(value)}); expected a list")
    return []


def _objects(value: Json, report: Report) -> Iterator[tuple[dict[str, Json], Report]]:
    for index, item in enumerate(read_list(value, report)):
        if isinstance(item, dict):
            yield item, report.below(index)
        else:
            report.below(index).add(f"left out (got {shown(item)}); expected a JSON object")


def _events(value: Json, report: Report) -> Iterator[SpanEvent]:
    for part, place in _objects(value, report):
        try:
            time_ns = to_time_ns(member(part, "timeUnixNano"), "timeUnixNano")
        except SpanError as error:
            place.add_error(error, lost="the event has no time")
            time_ns = None
        yield SpanEvent(
            read_text(member(part, "name"), place.below("name")),
            time_ns,
            read_attributes(member(part, "attributes"), place.below("attributes")),
        )


def _links(value: Json, report: Report) -> Iterator[SpanLink]:
    for part, place in _objects(value, report):
        try:
            yield SpanLink(
                required_id(member(part, "traceId"), 16, "traceId"),
                required_id(member(part, "spanId"), 8, "spanId"),
                read_attributes(member(part, "attributes"), place.below("attributes")),
            )
        except SpanError as error:
            place.add_error(error, lost="the link is left out")


def read_attributes(value: Json, report: Report) -> dict[str, Json]:
    """Return a list of key-value pairs as a dict; of equal keys the last one wins."""
    found: dict[str, Json] = {}
    for part, place in _objects(value, report):
        key = part.get("key")
        if key is None or isinstance(key, str):  # an absent key is the empty one, as in protobuf
            found[key or ""] = read_value(part.get("value"), place.below("value"))
        else:
            place.add(f"attribute left out (got the key {shown(key)}); expected text")
    return found


def read_value(value: Json, report: Report) -> Json:
    """Return an AnyValue as plain JSON; None for null, for `{}` and for NaN or infinity."""
    if value is None:
        return None
    if not isinstance(value, dict):
        report.add(f"no OTLP value (got {shown(value)}); expected an object as {{stringValue: …}}")
        return None
    try:
        for name, convert in _SCALARS.items():
            if (given := member(value, name)) is not None:
                return convert(given)
        for name, convert_below in _CONTAINERS.items():
            if (given := member(value, name)) is not None:
                return convert_below(given, report.below(name))
    except SpanError as error:
        report.add_error(error, lost="the value is unknown")
    return None


def _to_string(value: Json) -> str:
    if not isinstance(value, str):
        raise refused("stringValue", value, "text")
    return value


def _to_int(value: Json) -> int:
    whole = to_whole(value)
    if whole is None or not -(2**63) <= whole < 2**63:
        raise refused("intValue", value, "a whole number of 64 bits with sign")
    return whole


def _to_bool(value: Json) -> bool:
    if not isinstance(value, bool):
        raise refused("boolValue", value, "true or false")
    return value


def _to_double(value: Json) -> float | None:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            real = float(value)
        except (ValueError, OverflowError):
            pass
        else:
            # NaN and infinity have no place in JSON and mean "unknown" wherever they were seen.
            return real if isfinite(real) else None
    raise refused("doubleValue", value, "a number")


def _to_bytes(value: Json) -> str:
    if not isinstance(value, str):
        raise refused("bytesValue", value, "base64 text")
    return value


def _to_list(value: Json, report: Report) -> list[Json]:
    if not isinstance(value, dict):
        raise refused("arrayValue", value, "an object as {values: […]}")
    items = read_list(value.get("values"), report.below("values"))
    return [read_value(item, report.below("values", index)) for index, item in enumerate(items)]


def _to_dict(value: Json, report: Report) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise refused("kvlistValue", value, "an object as {values: […]}")
    return read_attributes(value.get("values"), report.below("values"))


_SCALARS: dict[str, Callable[[Json], Json]] = {
    "stringValue": _to_string,
    "intValue": _to_int,
    "boolValue": _to_bool,
    "doubleValue": _to_double,
    "bytesValue": _to_bytes,
}
_CONTAINERS: dict[str, Callable[[Json, Report], Json]] = {
    "arrayValue": _to_list,
    "kvlistValue": _to_dict,
}
