"""The spans of traces that are still running, or ended a moment ago, in bounded memory.

One thing a newcomer would get wrong: a trace that was given is not gone. A late span makes it due
again, whole, so its spans are kept until it has been silent for long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from trajscope.model.span import Json, Span

_SPAN_WEIGHT = 2000
"""What a span takes beside its texts, in bytes; measured at 1.5 to 2.5 kB."""


class Waits(NamedTuple):
    """How long a trace may be silent, in seconds, until it is given.

    settle: after a root of it ended. late: when spans came after it was given for that. quiet:
    when no root of it ended yet; a given trace is forgotten after it too.
    """

    settle: float
    late: float
    quiet: float


@dataclass(slots=True)
class _Open:
    """One trace as far as it was received.

    touched: when its last span came. root_ended: a local root came since it was last given; rooted:
    at any time. grew: it holds spans that were not yet given.
    """

    trace_id: str
    spans: list[Span] = field(default_factory=list)
    weight: int = 0
    touched: float = 0.0
    root_ended: bool = False
    rooted: bool = False
    grew: bool = False


class OpenTraces:
    """Open traces, each in the queue of what it waits for. Not thread-safe; times are seconds."""

    def __init__(self, waits: Waits, max_bytes: float) -> None:
        self._max_bytes = max_bytes
        self._weight = 0
        # The first of a queue is the first of it to be due: a trace goes to the end when touched.
        self._settling: dict[str, _Open] = {}
        self._late: dict[str, _Open] = {}
        self._quiet: dict[str, _Open] = {}
        self._given: dict[str, _Open] = {}
        self._parked: dict[str, _Open] = {}
        self._due = (
            (self._settling, waits.settle),
            (self._late, waits.late),
            (self._quiet, waits.quiet),
        )
        self._forget_after = waits.quiet

    def add(self, span: Span, *, is_root: bool, now: float) -> None:
        """Add one span to its trace."""
        trace = self._remove(span.trace_id) or _Open(span.trace_id)
        weight = _SPAN_WEIGHT + _text_size(span.attributes)
        weight += sum(_text_size(event.attributes) for event in span.events)
        trace.spans.append(span)
        trace.weight += weight
        self._weight += weight
        trace.touched = now
        trace.grew = True
        trace.root_ended |= is_root
        trace.rooted |= is_root
        self._queue_of(trace)[trace.trace_id] = trace

    def take_due(self, now: float) -> list[list[Span]]:
        """Return the spans of the traces that are due; forget those long silent since then."""
        due: list[list[Span]] = []
        for queue, wait in self._due:
            while (first := _first(queue)) is not None and now - first.touched >= wait:
                due.append(self._give(first))
        while (first := _first(self._given)) is not None:
            if now - first.touched < self._forget_after:
                break
            self._forget(first)
        return due

    def take_all(self) -> list[list[Span]]:
        """Return every trace that grew since it was last given, as far as it goes."""
        grown = [trace for queue, _ in self._due for trace in queue.values()]
        return [self._give(trace) for trace in grown]

    def make_room(self) -> tuple[list[list[Span]], list[str]]:
        """Forget what was silent for longest until the rest fits.

        Returns the spans and the ids of those traces that had not been given as they are.
        """
        due: list[list[Span]] = []
        evicted: list[str] = []
        while self._weight > self._max_bytes:
            firsts = (_first(queue) for queue in self._queues())
            oldest = min((f for f in firsts if f is not None), key=lambda trace: trace.touched)
            if oldest.grew:
                evicted.append(oldest.trace_id)
                due.append(oldest.spans)
            self._forget(oldest)
        return due, evicted

    def next_due(self) -> float | None:
        """Return when a trace will be due; None: not before a span comes."""
        firsts = ((_first(queue), wait) for queue, wait in self._due)
        return min((f.touched + wait for f, wait in firsts if f is not None), default=None)

    def _queues(self) -> tuple[dict[str, _Open], ...]:
        return (self._settling, self._late, self._quiet, self._given, self._parked)

    def _queue_of(self, trace: _Open) -> dict[str, _Open]:
        if trace.root_ended:
            return self._settling
        if trace.rooted:
            return self._late if trace.grew else self._given
        return self._quiet if trace.grew else self._parked

    def _remove(self, trace_id: str) -> _Open | None:
        for queue in self._queues():
            if trace_id in queue:
                return queue.pop(trace_id)
        return None

    def _give(self, trace: _Open) -> list[Span]:
        self._remove(trace.trace_id)
        trace.grew = trace.root_ended = False
        self._queue_of(trace)[trace.trace_id] = trace
        return list(trace.spans)

    def _forget(self, trace: _Open) -> None:
        self._remove(trace.trace_id)
        self._weight -= trace.weight


def _first(queue: dict[str, _Open]) -> _Open | None:
    return next(iter(queue.values()), None)


def _text_size(value: Json) -> int:
    """Return how many characters stand in a JSON value: what makes spans large."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _text_size(inner) for key, inner in value.items())
    return sum(map(_text_size, value)) if isinstance(value, list) else 8
