"""Log records join the spans they speak of, before anything else: the first step of RESOLVE.

One thing a newcomer would get wrong: a joined record is a span event like any other, so the store,
the readings and the rules know nothing of logs. Only a record that stands for a call no span
records becomes a span of its own; where spans record that kind of step, they are the authority.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Set

import msgspec

from trajscope.assemble._encoded import encoded
from trajscope.assemble._standins import FROM_LOG, Key, Known, Standin, place_standins
from trajscope.model.reading import Reading
from trajscope.model.span import Json, LogRecord, Span, SpanEvent
from trajscope.ports import LogReader
from trajscope.tree import version_rank

Read = Callable[[Span], Reading]


def join_logs(spans: Iterable[Span], logs: Iterable[LogRecord], read: Read) -> list[Span]:
    """Return `spans` with the log records about them as events, and spans for unrecorded calls.

    The result does not depend on the order of `spans` or `logs`, and joining the same records again
    changes nothing. Records about spans that are not here, and records of no trace that stand for
    nothing, are left out.
    """
    known, records = list(spans), list(logs)
    if not records:
        return known
    events: dict[Key, list[SpanEvent]] = defaultdict(list)
    standins: dict[bytes, Standin] = {}  # a record that came twice stands for one span
    for number, record in enumerate(records):
        span = stood_for(record, read)
        if span is not None:
            item = Standin(number, record.trace_id, record.span_id, span, read(span))
            standins.setdefault(encoded(record), item)
        elif record.trace_id is not None and record.span_id is not None:
            events[record.trace_id, record.span_id].append(event_of(record))
    places = {place for item in standins.values() for place in item.places}
    before = {(s.trace_id, s.span_id): s.events for s in known if _is_made(s, places)}
    known = [s for s in known if not _is_made(s, places)]
    kept = _kept(known)
    made: dict[Key, Span] = {}
    if standins:
        seen = Known()
        for one in kept.values():
            seen.add(one, read(one))
        for number, place in place_standins(seen, standins.values()).items():
            if isinstance(place, Standin):
                key = (place.span.trace_id, place.span.span_id)
                made[key] = with_events(place.span, before.get(key, ()))
            else:
                events[place].append(event_of(records[number]))
    joined = [
        with_events(s, events.get(key, ())) if kept[key] is s else s
        for s in known
        for key in [(s.trace_id, s.span_id)]
    ]
    return joined + [with_events(made[key], events.get(key, ())) for key in sorted(made)]


def _is_made(span: Span, places: Set[Key]) -> bool:
    """Whether a span was made of one of the records by an earlier join: it is made anew."""
    return span.attributes.get(FROM_LOG) is True and (span.trace_id, span.span_id) in places


def _kept(spans: Iterable[Span]) -> dict[Key, Span]:
    """The version of every span that `tree` will keep: what an earlier one said does not count."""
    found: dict[Key, Span] = {}
    for span in spans:
        other = found.setdefault((span.trace_id, span.span_id), span)
        if other is not span and version_rank(span) > version_rank(other):
            found[span.trace_id, span.span_id] = span
    return found


def stood_for(record: LogRecord, read: Read) -> Span | None:
    """Return the span a record stands for; None when it is an event of the span it names."""
    span = read.span_of_log(record) if isinstance(read, LogReader) else None
    if span is not None and (record.trace_id, record.span_id) == (span.trace_id, span.span_id):
        return None
    return span


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


def with_events(span: Span, events: Iterable[SpanEvent]) -> Span:
    """Return a span with more events among its own, in order; one it has is not there twice."""
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
    return (at is None, at or 0, encoded(event))
