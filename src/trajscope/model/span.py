"""The recorded facts: spans, their events and links, and log records. Frozen, JSON-like values.

One thing a newcomer would get wrong: a span is identified by trace id *and* span id; span ids
alone repeat across traces. Attribute values keep their JSON type (an OTLP `intValue` is an int,
a `kvlistValue` a dict); nothing is turned into text.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict of them."""

SpanKind = Literal["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
StatusCode = Literal["UNSET", "OK", "ERROR"]


class SpanEvent(msgspec.Struct, frozen=True, gc=False):
    """A timed event inside a span; `time_ns` is nanoseconds since the Unix epoch."""

    name: str
    time_ns: int | None = None
    attributes: dict[str, Json] = {}


class SpanLink(msgspec.Struct, frozen=True, gc=False):
    """A reference to a span, mostly of another trace. A link is never a parent."""

    trace_id: str
    span_id: str
    attributes: dict[str, Json] = {}


class Span(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One recorded operation, as it was sent.

    Ids are lower-case hex for OTLP and any text for stored records. `parent_span_id` is None when
    the record names no parent (absent, null, "" or all zeros). Times are nanoseconds since the
    Unix epoch; `end_ns` is None while the span has not ended.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str = ""
    kind: SpanKind = "UNSPECIFIED"
    start_ns: int | None = None
    end_ns: int | None = None
    status_code: StatusCode = "UNSET"
    status_message: str = ""
    trace_state: str = ""
    scope_name: str = ""
    scope_version: str = ""
    attributes: dict[str, Json] = {}
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    resource: dict[str, Json] = {}

    @property
    def service_name(self) -> str | None:
        """The resource's `service.name`, if it is text."""
        name = self.resource.get("service.name")
        return name if isinstance(name, str) else None

    @property
    def ended(self) -> bool:
        """Whether the span is known to have ended."""
        return self.end_ns is not None

    @property
    def duration_ns(self) -> int | None:
        """End minus start in nanoseconds; None if either is unknown or the end lies earlier.

        A negative duration is a clock fault (the tree reports it as a repair), not a figure.
        """
        if self.start_ns is None or self.end_ns is None or self.end_ns < self.start_ns:
            return None
        return self.end_ns - self.start_ns


class LogRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One OTLP log record; `trace_id` and `span_id` are None when it belongs to no span."""

    trace_id: str | None = None
    span_id: str | None = None
    time_ns: int | None = None
    event_name: str = ""
    body: Json = None
    severity: str = ""
    scope_name: str = ""
    attributes: dict[str, Json] = {}
    resource: dict[str, Json] = {}
