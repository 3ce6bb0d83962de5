"""Log records join the spans they speak of, before anything else: the first step of RESOLVE.

One thing a newcomer would get wrong: a joined record is a span event like any other, so the store,
the readings and the rules know nothing of logs. Only a record that stands for a call no span
records becomes a span of its own; where spans record that kind of step, they are the authority.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, LogRecord, Span, SpanEvent
from trajscope.ports import LogReader

Read = Callable[[Span], Reading]
Key = tuple[str, str]
_MODEL = "model call"

FROM_LOG = "trajscope.from_log"
"""Attribute of a span that was made from a log record; such a span is no authority over records."""


class _Standin(NamedTuple):
    """A span made from a log record, with its reading."""

    record: LogRecord
    span: Span
    reading: Reading


def join_logs(spans: Iterable[Span], logs: Iterable[LogRecord], read: Read) -> list[Span]:
    """Return `spans` with the log records about them as events, and spans for unrecorded calls.

    The result does not depend on the order of `spans` or `logs`, and joining the same records again
    changes nothing. Records about spans that are not here, and records of no trace that stand for
    nothing, are left out.
    """
    known, records = list(spans), list(logs)
    if not records:
        return known
    make = read.span_of_log if isinstance(read, LogReader) else None
    at = {(s.trace_id, s.span_id) for s in known}
    events: dict[Key, list[SpanEvent]] = defaultdict(list)
    standins: list[_Standin] = []
    for record in records:
        key = _key(record)
        span = make(record) if make is not None else None
        if span is not None and key != (span.trace_id, span.span_id):
            standins.append(_Standin(record, span, read(span)))
        elif key in at:
            events[key].append(event_of(record))
    made = _place_standins(known, standins, events, read) if standins else []
    joined = [_with_events(s, events.get((s.trace_id, s.span_id))) for s in known]
    return joined + made


def event_of(record: LogRecord) -> SpanEvent:
    """Return a log record as an event: attributes beside the fields of an object body.

    The name in the attributes comes first: some exporters put a source position where the event
    name belongs.
    """
    named = record.attributes.get("event.name")
    name = named if isinstance(named, str) and named else record.event_name
    body: dict[str, Json] = {}
    if isinstance(record.body, dict):
        body = record.body
    elif record.body is not None:
        body = {"body": record.body}
    return SpanEvent(name, record.time_ns, {**body, **record.attributes})


def _key(record: LogRecord) -> Key:
    return (record.trace_id or "", record.span_id or "")


def _with_events(span: Span, events: list[SpanEvent] | None) -> Span:
    if not events:
        return span
    known = {_order(event) for event in span.events}
    news = {order: event for event in events if (order := _order(event)) not in known}
    if not news:
        return span
    merged = sorted([*span.events, *news.values()], key=_order)
    return msgspec.structs.replace(span, events=tuple(merged))


def _order(event: SpanEvent) -> tuple[bool, int, bytes]:
    """By time; equal times by content, so that the order of arrival cannot show."""
    at = event.time_ns
    return (at is None, at or 0, msgspec.json.encode(event, order="deterministic"))


def _place_standins(
    spans: list[Span], standins: list[_Standin], events: dict[Key, list[SpanEvent]], read: Read
) -> list[Span]:
    """Give each record to the span of its call, or keep the span it stands for."""
    known = _Known(spans, read)
    kept: list[_Standin] = []
    for item in sorted(standins, key=_standin_order):
        if known.has(item):
            continue
        target = known.same_call(item)
        if target is not None:
            events[target].append(event_of(item.record))
        elif known.records_kind(item):
            if (key := _key(item.record)) in known.keys:
                events[key].append(event_of(item.record))
        else:
            kept.append(item)
    made = {(i.span.trace_id, i.span.span_id) for i in kept}
    placed = {(s.trace_id, s.span_id): s for s in (known.placed(item, made) for item in kept)}
    return [placed[key] for key in sorted(placed)]


def _standin_order(item: _Standin) -> tuple[int, str, str]:
    return (item.span.start_ns or 0, item.span.trace_id, item.span.span_id)


class _Known:
    """What the recorded spans already tell: their calls by id, and the kinds they record."""

    def __init__(self, spans: list[Span], read: Read) -> None:
        self.keys: set[Key] = set()
        self._traces: set[str] = set()
        self._calls: dict[str, list[tuple[Span, Reading]]] = defaultdict(list)
        self._claimed: set[Key] = set()
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self._of_session: dict[str, set[str]] = defaultdict(set)
        for span in sorted(spans, key=lambda s: (s.end_ns or 0, s.trace_id, s.span_id)):
            self.keys.add((span.trace_id, span.span_id))
            if span.attributes.get(FROM_LOG) is True:
                continue
            reading = read(span)
            self._traces.add(span.trace_id)
            if kind := _kind(reading):
                self._kinds[span.trace_id].add(kind)
            if reading.session_id:
                self._of_session[reading.session_id].add(span.trace_id)
            if reading.step_type in TOOL_STEP_TYPES and reading.tool_call_id:
                self._calls[reading.tool_call_id].append((span, reading))

    def has(self, item: _Standin) -> bool:
        """Whether the record's own span is here already, from an earlier join."""
        traces = (item.span.trace_id, item.record.trace_id or "")
        return any((trace, item.span.span_id) in self.keys for trace in traces)

    def same_call(self, item: _Standin) -> Key | None:
        """The span of the tool call a record is about: by call id, name and place."""
        if item.reading.step_type not in TOOL_STEP_TYPES or not item.reading.tool_call_id:
            return None
        found = [
            (span.trace_id, span.span_id)
            for span, reading in sorted(
                self._calls.get(item.reading.tool_call_id, ()), key=lambda c: _far(c[0], item)
            )
            if (span.trace_id, span.span_id) not in self._claimed
            and reading.name in ("", item.reading.name)
            and item.record.trace_id in (None, span.trace_id)
        ]
        if not found:
            return None
        self._claimed.add(found[0])
        return found[0]

    def records_kind(self, item: _Standin) -> bool:
        """Whether spans of the same trace or session already record steps of this kind.

        A tool call with an id is judged by its id alone: a call without a span is news.
        """
        kind = _kind(item.reading)
        if kind is None or (
            item.reading.step_type in TOOL_STEP_TYPES and item.reading.tool_call_id
        ):
            return kind is None
        traces = {
            item.record.trace_id or "",
            *self._of_session.get(item.reading.session_id or "", ()),
        }
        return any(kind in self._kinds.get(trace, ()) for trace in traces)

    def placed(self, item: _Standin, made: set[Key]) -> Span:
        """The kept span in the trace its record names, if that is here, else in its own."""
        record = item.record
        attributes = {**item.span.attributes, FROM_LOG: True}
        span = msgspec.structs.replace(item.span, attributes=attributes)
        if record.trace_id in self._traces and record.trace_id is not None:
            parent = record.span_id if _key(record) in self.keys else None
            return msgspec.structs.replace(span, trace_id=record.trace_id, parent_span_id=parent)
        above = (span.trace_id, span.parent_span_id or "")
        if above not in made and above not in self.keys:
            return msgspec.structs.replace(span, parent_span_id=None)
        return span


def _kind(reading: Reading) -> str | None:
    """What a span records, as one word: tools and model calls of any type are one kind each."""
    if reading.step_type in TOOL_STEP_TYPES:
        return StepType.TOOL_CALL
    if reading.is_model_call:
        return _MODEL
    return reading.step_type


def _far(span: Span, item: _Standin) -> tuple[bool, int]:
    """How far a span is from a record about it: named or just below the named one, then in time."""
    near = item.record.span_id in (span.span_id, span.parent_span_id)
    return (not near, abs((span.end_ns or 0) - (item.span.end_ns or 0)))
