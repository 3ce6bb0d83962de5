"""Decides `Need`: what a step must have before it, after it, or beside it.

One thing a newcomer would get wrong: needs are taken the other way round than triggers. A need that
may have been met is no violation, and one that is not surely met is no satisfaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajscope.model.check import Need
from trajscope.rules._chain import over_of, released_by
from trajscope.rules._each import serve_each
from trajscope.rules._join import Joins
from trajscope.rules._latest import Entry, Latest
from trajscope.rules._lines import Line, LineStep
from trajscope.rules._outcome import PENDING, Context, Hit, Outcome, counts_as, within


def decide_need(check: Need, line: Line, context: Context) -> Outcome:
    """Return the triggers that lack what they need."""
    triggers = context.matched(line, [check.trigger])
    needs = context.matched(line, check.needs)
    outcome = Outcome(activations=sum(result is not False for result in triggers))
    short: dict[bool, set[int]] = {}
    for certain in (True, False):
        asking = [i for i in line.steps if counts_as(triggers[i.rank], certain=certain)]
        serve = serve_each if check.each else _serve
        served = serve(check, line, context, asking, needs, sure=not certain) if asking else set()
        short[certain] = {item.rank for item in asking} - served
    for rank in sorted(short[True] | short[False]):
        item = line.steps[rank]
        if item.rank in short[True] and not _pending(check, item, line):
            outcome.violated.append(Hit((item,)))
        else:
            outcome.unknown.append(Hit((item,)))
            if item.rank in short[True]:
                outcome.reason = PENDING
    return outcome


def _pending(check: Need, trigger: LineStep, line: Line) -> bool:
    """Whether the need may still come."""
    if check.direction == "before" or not line.unfinished:
        return False
    last = line.steps[-1]
    if check.immediately and trigger.gap_to(last) + last.executed > 0:
        return False
    over = check.within_ns is not None and within(trigger, last, check.within_ns) is False
    return not over


def _serve(
    check: Need,
    line: Line,
    context: Context,
    triggers: Sequence[LineStep],
    needs: list[bool | None],
    *,
    sure: bool,
) -> set[int]:
    """Return the ranks of the triggers that have what they need."""
    joins = Joins(check.same, check.differ, context.values)
    offered = [
        Entry(item, joins.key(item, 1), item.rank)
        for item in line.steps
        if counts_as(needs[item.rank], certain=sure)
    ]
    served: set[int] = set()
    if check.direction != "after":
        served |= _before(check, line, triggers, offered, joins, sure=sure)
    if check.direction != "before":
        served |= _after(check, line, triggers, offered, joins, sure=sure)
    return served


class _Nearest:
    """The nearest candidates, those of known start apart: only these can be surely within."""

    def __init__(self, check: Need, *, sure: bool) -> None:
        self._check = check
        self._sure = sure
        self._apart = check.within_ns is not None
        self._indexes = (Latest(certain=sure), Latest(certain=sure))

    def add(self, entry: Entry) -> None:
        self._indexes[self._apart and entry.item.step.start_ns is None].add(entry)

    def serves(self, trigger: LineStep, joins: Joins) -> bool:
        key = joins.key(trigger, 0)
        return any(
            found is not None and self._fits(trigger, found.item)
            for found in (index.find(key) for index in self._indexes)
        )

    def _fits(self, trigger: LineStep, need: LineStep) -> bool:
        first, last = sorted((trigger, need), key=lambda item: item.rank)
        near = not self._check.immediately or first.gap_to(last) == 0
        return near and counts_as(within(first, last, self._check.within_ns), certain=self._sure)


def _before(
    check: Need,
    line: Line,
    triggers: Sequence[LineStep],
    offered: list[Entry],
    joins: Joins,
    *,
    sure: bool,
) -> set[int]:
    over = over_of("start" if check.direction == "any" else check.order, certain=sure)
    released = released_by(offered, over, len(line.steps))
    nearest = _Nearest(check, sure=sure)
    asking = {item.rank for item in triggers}
    served: set[int] = set()
    for item in line.steps:
        for entry in released[item.rank]:
            nearest.add(entry)
        if item.rank in asking and nearest.serves(item, joins):
            served.add(item.rank)
    return served


def _after(
    check: Need,
    line: Line,
    triggers: Sequence[LineStep],
    offered: list[Entry],
    joins: Joins,
    *,
    sure: bool,
) -> set[int]:
    over = over_of("start" if check.direction == "any" else check.order, certain=sure)
    asking: dict[int, list[LineStep]] = {}
    for item in triggers:
        asking.setdefault(over(item), []).append(item)
    coming = {entry.item.rank: entry._replace(rank=-entry.rank) for entry in offered}
    nearest = _Nearest(check, sure=sure)
    served: set[int] = set()
    for rank in range(len(line.steps) - 1, -1, -1):
        if rank in coming:
            nearest.add(coming[rank])
        served |= {item.rank for item in asking.get(rank, ()) if nearest.serves(item, joins)}
    return served
