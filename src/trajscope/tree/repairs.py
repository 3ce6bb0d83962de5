"""What may be wrong with the spans of one trace, and what is assumed then: the `REPAIRS` tuple.

One thing a newcomer would get wrong: times never move a span. A child that starts before its
parent, or ends before it starts, is flagged and stays under the parent it names.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import msgspec

from trajscope.model.repair import Repair, RepairKind
from trajscope.model.span import Span
from trajscope.tree.forest import time_order

SKEW_TOLERANCE_NS = 1_000_000
"""How far a child may start before its parent without being called skewed: one millisecond.

Some recorders keep whole milliseconds and cut the rest off, others nanoseconds; where the two meet
in one trace, a child that truly started later can seem up to one millisecond early. Real skew
between hosts is larger.
"""


class Draft:
    """One trace while it is repaired.

    versions: every record received, by span id; spans: the one kept of each, in time order;
    parents: where each will hang (None: at the top); missing: the absent parent of each orphan.
    """

    __slots__ = ("missing", "parents", "spans", "trace_id", "versions")

    def __init__(self, trace_id: str, received: Iterable[Span]) -> None:
        self.trace_id = trace_id
        self.versions: defaultdict[str, list[Span]] = defaultdict(list)
        for span in received:
            self.versions[span.span_id].append(span)
        self.spans: dict[str, Span] = {}
        self.parents: dict[str, str | None] = {}
        self.missing: dict[str, str] = {}

    def repair(self, kind: RepairKind, span_id: str, detail: str) -> Repair:
        """Return a repair of this trace."""
        return Repair(kind, self.trace_id, span_id, detail)


def version_rank(span: Span) -> tuple[bool, int, int, str]:
    """Return the rank of a record among the records of one span; the highest is kept.

    Ended before open, then the later end, then more attributes and events. The last item is the
    whole content as text: without it the choice between two equally good versions would depend
    on the order of the file.
    """
    detail = len(span.attributes) + len(span.events)
    return (span.ended, span.end_ns or 0, detail, _content(span))


def _content(span: Span) -> str:
    try:
        return json.dumps(msgspec.to_builtins(span), sort_keys=True, default=str)
    except RecursionError:  # a value nested deeper than the interpreter can follow
        return ""


def merge_duplicates(draft: Draft) -> Iterator[Repair]:
    """Keep one record of each span: exporters retry, and stores keep started and ended ones."""
    kept = []
    for span_id, records in draft.versions.items():
        if len(records) == 1:
            kept.append(records[0])
            continue
        ranked = sorted(((version_rank(record), i) for i, record in enumerate(records)))
        kept.append(records[ranked[-1][1]])
        versions = len({rank for rank, _ in ranked})
        yield draft.repair("duplicate_merged", span_id, _merge_detail(len(records), versions))
    kept.sort(key=time_order)
    draft.spans = {span.span_id: span for span in kept}
    draft.parents = {span.span_id: span.parent_span_id for span in kept}


def _merge_detail(records: int, versions: int) -> str:
    if versions == 1:
        return f"received {records} times, all alike"
    return f"received {records} times in {versions} versions; kept the most finished"


def break_self_parents(draft: Draft) -> Iterator[Repair]:
    """Make a span that names itself as its parent a root."""
    for span_id, parent in draft.parents.items():
        if parent == span_id:
            draft.parents[span_id] = None
            yield draft.repair("self_parent_broken", span_id, "named itself as its parent")


def break_cycles(draft: Draft) -> Iterator[Repair]:
    """Make the earliest span of each cycle a root; the rest of the cycle hangs below it.

    Each span has at most one parent, so climbing from every span and stopping at whatever was
    climbed before finds every cycle once, in linear time.
    """
    climbed_from: dict[str, str] = {}
    for start in draft.parents:
        path = []
        at: str | None = start
        while at is not None and at in draft.parents and at not in climbed_from:
            climbed_from[at] = start
            path.append(at)
            at = draft.parents[at]
        if at is None or climbed_from.get(at) != start:
            continue  # ended at a root, an orphan, or on a path already climbed
        cycle = path[path.index(at) :]
        first = min(cycle, key=lambda span_id: time_order(draft.spans[span_id]))
        was = draft.parents[first]
        draft.parents[first] = None
        yield draft.repair(
            "cycle_broken",
            first,
            f"was its own ancestor in a cycle of {len(cycle)} spans; its parent was {was}",
        )


def mark_orphans(draft: Draft) -> Iterator[Repair]:
    """Keep spans whose parent is not in the trace at the top; a later batch may bring it."""
    for span_id, parent in draft.parents.items():
        if parent is not None and parent not in draft.spans:
            draft.missing[span_id] = parent
            yield draft.repair("orphan", span_id, f"parent {parent} is not in the trace")
    for span_id in draft.missing:
        draft.parents[span_id] = None


def flag_negative_durations(draft: Draft) -> Iterator[Repair]:
    """Report spans that end before they start; their duration is unknown, their times are kept."""
    for span_id, span in draft.spans.items():
        if span.start_ns is not None and span.end_ns is not None and span.end_ns < span.start_ns:
            early = _ms(span.start_ns - span.end_ns)
            yield draft.repair(
                "negative_duration",
                span_id,
                f"ended {early} before it started; its duration is unknown",
            )


def flag_clock_skew(draft: Draft) -> Iterator[Repair]:
    """Report children that start before their parent does.

    A child that *ends* after its parent is no fault: asynchronous work outlives its caller.
    """
    for span_id, parent in draft.parents.items():
        if parent is None:
            continue
        start, above = draft.spans[span_id].start_ns, draft.spans[parent].start_ns
        if start is None or above is None or above - start <= SKEW_TOLERANCE_NS:
            continue
        early = _ms(above - start)
        yield draft.repair(
            "clock_skew", span_id, f"started {early} before its parent {parent}; times are kept"
        )


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:g} ms"


REPAIRS: tuple[Callable[[Draft], Iterator[Repair]], ...] = (
    # First, so that each of the following sees a span once, with its final parent and times.
    merge_duplicates,
    # Before cycles: a self-parent is a cycle of one, but says something else about its recorder.
    break_self_parents,
    # Before orphans: a broken cycle leaves a root, which must not look like an orphan.
    break_cycles,
    mark_orphans,
    # Times last: they need the final parents and change nothing.
    flag_negative_durations,
    flag_clock_skew,
)
"""The repairs in the order they are made. The order is the meaning: it is never discovered."""
