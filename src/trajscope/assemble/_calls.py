"""The recorded tool calls of one id, and which of them a record about a call of that id means.

One thing a newcomer would get wrong: an id does not tell one call. Programs number their calls anew
in every turn or trace, so thousands may have it, and looking at all of them for each record would
take hours. So they are sorted once, by when they ended.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Call(NamedTuple):
    """What is asked of a recorded tool call; end_ns: 0 if it is not known."""

    end_ns: int
    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str


class Calls:
    """The calls of one id. Each is given once; all are added before the first is."""

    def __init__(self) -> None:
        self._of_trace: dict[str, list[Call]] = defaultdict(list)
        self._sorted: dict[str | None, _Sorted] = {}
        self._taken: set[Call] = set()

    def add(self, call: Call) -> None:
        """Take note of a call."""
        self._of_trace[call.trace_id].append(call)

    def take(
        self, trace_id: str | None, span_id: str | None, name: str, end_ns: int
    ) -> Call | None:
        """Return the call that is nearest to what a record says of it; no other record gets it.

        trace_id, span_id: what the record names. A call of that span or just below it comes first,
        then the one that ended nearest to the record. One without a name may have any.
        """
        found = self._among(trace_id).nearest(span_id, name, end_ns)
        if found is not None:
            for place in (None, found.trace_id):
                if place in self._sorted:
                    self._sorted[place].remove(found)
            self._taken.add(found)
        return found

    def _among(self, trace_id: str | None) -> _Sorted:
        """The calls of a trace, or of all; sorted when they are first asked for."""
        if trace_id not in self._sorted:
            of_trace = self._of_trace
            among = of_trace.values() if trace_id is None else [of_trace.get(trace_id, [])]
            left = (call for calls in among for call in calls if call not in self._taken)
            self._sorted[trace_id] = _Sorted(left)
        return self._sorted[trace_id]


class _Sorted:
    """Calls by name and by the span they are or lie below, each line in order of their ends."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._lines: dict[tuple[str, str | None], list[Call]] = defaultdict(list)
        for call in sorted(calls, key=_order):
            for line in self._lines_of(call):
                line.append(call)

    def nearest(self, span_id: str | None, name: str, end_ns: int) -> Call | None:
        for near in (None,) if span_id is None else (span_id, None):
            lines = [self._lines.get((named, near)) for named in {"", name}]
            found = [call for line in lines if line for call in _neighbours(line, end_ns)]
            if found:
                return min(found, key=lambda call: (abs(call.end_ns - end_ns), _order(call)))
        return None

    def remove(self, call: Call) -> None:
        for line in self._lines_of(call):
            del line[bisect_left(line, _order(call), key=_order)]

    def _lines_of(self, call: Call) -> list[list[Call]]:
        return [self._lines[call.name, near] for near in {None, call.span_id, call.parent_span_id}]


def _order(call: Call) -> tuple[int, str, str]:
    return call[:3]


def _neighbours(line: list[Call], end_ns: int) -> Iterator[Call]:
    """Yield the first of the calls that ended then or next, and of those that ended before."""
    at = bisect_left(line, end_ns, key=lambda call: call.end_ns)
    if at < len(line):
        yield line[at]
    if at:
        yield line[bisect_left(line, line[at - 1].end_ns, key=lambda call: call.end_ns)]
