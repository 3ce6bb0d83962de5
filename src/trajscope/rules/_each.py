"""Decides `Need` with `each`: one need serves one trigger.

One thing a newcomer would get wrong: what is too old for a trigger is too old for every later one,
so nothing is looked at twice and the sweep stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from trajscope.model.check import Need
from trajscope.rules._chain import over_of, released_by
from trajscope.rules._join import Joins, Key
from trajscope.rules._latest import Entry
from trajscope.rules._lines import Line, LineStep
from trajscope.rules._match import Missing
from trajscope.rules._outcome import Context, counts_as, within

_Heap = list[tuple[int, Entry]]
_SWAPS = 64
"""Triggers served last that are asked to swap; with all of them the sweep were not linear."""


def serve_each(
    check: Need,
    line: Line,
    context: Context,
    triggers: Sequence[LineStep],
    needs: list[bool | None],
    *,
    sure: bool,
) -> set[int]:
    """Return the ranks of the triggers that have a need of their own."""
    joins = Joins(check.same, check.differ, context.values)
    before = check.direction == "before"
    over = over_of(check.order, certain=sure)
    offered = [
        Entry(item, joins.key(item, 1), item.rank if before else -item.rank)
        for item in line.steps
        if counts_as(needs[item.rank], certain=sure)
    ]
    pool = _Pool(check, over, sure=sure)
    released = released_by(offered, over, len(line.steps)) if before else []
    if not before:
        for entry in offered:
            pool.add(entry)
    served: set[int] = set()
    asking = {item.rank for item in triggers}
    for item in line.steps if before else reversed(line.steps):
        for entry in released[item.rank] if before else ():
            pool.add(entry)
        if item.rank in asking:
            earliest = 0 if before else over(item)
            if pool.take(item, joins.key(item, 0), earliest):
                served.add(item.rank)
    return served


class _Pool:
    """The needs nobody has taken yet, the next one to take first."""

    def __init__(self, check: Need, over: Callable[[LineStep], int], *, sure: bool) -> None:
        self._check = check
        self._over = over
        self._sure = sure
        self._heaps: dict[object, dict[object, _Heap]] = {}
        self._taken: dict[object, list[tuple[LineStep, Key, Entry]]] = {}

    def add(self, entry: Entry) -> None:
        """Offer a need; in a sure pass only one of which all that counts is known."""
        same, differ = entry.key
        if same is None or (self._sure and Missing.UNKNOWN in (same, differ)):
            return
        if self._sure and self._check.within_ns is not None and entry.item.step.start_ns is None:
            return
        heappush(self._heaps.setdefault(same, {}).setdefault(differ, []), (entry.rank, entry))

    def take(self, trigger: LineStep, key: Key, earliest: int) -> bool:
        """Take the next need that would do for a trigger; whether there was one."""
        best: _Heap | None = None
        for heap in self._fitting(key):
            while heap and heap[0][1].item.rank >= earliest:
                if not self._is_spent(trigger, heap[0][1].item):
                    best = heap if best is None or heap[0][0] < best[0][0] else best
                    break
                heappop(heap)
        if best is None:
            return key.differ is not None and self._swap(trigger, key)
        if key.differ is not None:
            self._taken.setdefault(key.same, []).append((trigger, key, best[0][1]))
        heappop(best)
        return True

    def _swap(self, trigger: LineStep, key: Key) -> bool:
        """Take a need from a trigger for which a free one does as well; only lately served ones.

        Without this, the approval of one's own that nobody else needed would stay free, and the
        one of somebody else would be gone.
        """
        taken = self._taken.get(key.same, [])
        for number in range(len(taken) - 1, max(-1, len(taken) - 1 - _SWAPS), -1):
            other, other_key, entry = taken[number]
            if not self._would_do(entry, trigger, key):
                continue
            for heap in self._heaps.get(key.same, {}).values():
                if heap and self._would_do(heap[0][1], other, other_key):
                    taken[number] = (other, other_key, heappop(heap)[1])
                    taken.append((trigger, key, entry))
                    return True
        return False

    def _would_do(self, entry: Entry, trigger: LineStep, key: Key) -> bool:
        """Whether a need that holds the same values would serve a trigger."""
        one, other = entry.key.differ, key.differ
        if one == other and one is not Missing.UNKNOWN:
            return False
        before = self._check.direction == "before"
        first, last = (entry.item, trigger) if before else (trigger, entry.item)
        return self._over(first) <= last.rank and not self._is_spent(trigger, entry.item)

    def _fitting(self, key: Key) -> Iterator[_Heap]:
        same, differ = key
        if same is None or (self._sure and Missing.UNKNOWN in (same, differ)):
            return
        free = differ is None or differ is Missing.UNKNOWN
        places = self._heaps if same is Missing.UNKNOWN else (same, Missing.UNKNOWN)
        for place in places:
            for value, heap in self._heaps.get(place, {}).items():
                if free or value is Missing.UNKNOWN or value != differ:
                    yield heap

    def _is_spent(self, trigger: LineStep, need: LineStep) -> bool:
        """Whether a need is too far from this trigger, and so from all that are still to come."""
        first, last = sorted((trigger, need), key=lambda item: item.rank)
        if self._check.immediately and first.gap_to(last) > 0:
            return True
        near = within(first, last, self._check.within_ns)
        return near is False or (self._sure and near is None)
