"""Decides `Chain`: forbidden sequences, one sweep over the line per matcher and pass.

One thing a newcomer would get wrong: guards are taken the other way round than steps. What makes a
sequence allowed must be sure before the possible pass lets it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trajscope.model.check import Chain
from trajscope.model.rule import Matcher, Order
from trajscope.rules._join import Joins
from trajscope.rules._latest import Entry, Latest
from trajscope.rules._lines import NEVER, Line, LineStep
from trajscope.rules._outcome import Context, Hit, Outcome, beyond, counts_as, within


def decide_chain(check: Chain, line: Line, context: Context) -> Outcome:
    """Return where the steps of a chain follow one another."""
    results = [context.matched(line, [matcher]) for matcher in check.steps]
    certain, possible = (
        list(_find(check, line, context, results, certain=certain)) for certain in (True, False)
    )
    started = sum(result is not False for result in results[0])
    return Outcome(certain, beyond(certain, possible), started)


def _find(
    check: Chain, line: Line, context: Context, results: list[list[bool | None]], *, certain: bool
) -> Iterator[Hit]:
    joins = Joins(check.same, check.differ, context.values)
    entries = [
        Entry(item, joins.key(item, 0), item.rank)
        for item in line.steps
        if counts_as(results[0][item.rank], certain=certain)
    ]
    for stage in range(1, len(check.steps)):
        entries = _continued(check, line, entries, results[stage], stage, joins, certain=certain)
        if not entries:
            return
    guarded = guards(line, check.unless, context, check.order, certain=not certain)
    for entry in entries:
        first, last = entry.chain[0], entry.item
        if counts_as(within(first, last, check.within_ns), certain=certain) and not guarded(
            first, last
        ):
            yield Hit((*entry.chain, last))


def _continued(
    check: Chain,
    line: Line,
    entries: list[Entry],
    results: list[bool | None],
    stage: int,
    joins: Joins,
    *,
    certain: bool,
) -> list[Entry]:
    """Return the chains one step longer."""
    released = released_by(entries, over_of(check.order, certain=certain), len(line.steps))
    latest = Latest(certain=certain)
    longer: list[Entry] = []
    for item in line.steps:
        for entry in released[item.rank]:
            latest.add(entry)
        if not counts_as(results[item.rank], certain=certain):
            continue
        key = joins.key(item, stage)
        before = latest.find(key)
        if before is None:
            continue
        if check.max_gap is None or before.item.gap_to(item) <= check.max_gap:
            longer.append(Entry(item, key, item.rank, (*before.chain, before.item)))
    return longer


def over_of(order: Order, *, certain: bool) -> Callable[[LineStep], int]:
    """Return what gives the rank from which a step counts as being before."""
    if order == "start":
        return lambda item: item.rank + 1
    if certain:
        return lambda item: item.over
    return lambda item: item.over_possibly


def released_by(
    entries: list[Entry], over: Callable[[LineStep], int], length: int
) -> list[list[Entry]]:
    """Return, by rank, the candidates that are over from there on."""
    released: list[list[Entry]] = [[] for _ in range(length)]
    for entry in entries:
        at = over(entry.item)
        if at < length:
            released[at].append(entry)
    return released


def guards(
    line: Line, unless: Matcher | None, context: Context, order: Order, *, certain: bool
) -> Callable[[LineStep, LineStep], bool]:
    """Return what says whether a guard lies between two steps: surely, or also possibly."""
    if unless is None:
        return lambda _first, _last: False
    over = over_of(order, certain=certain)
    results = context.matched(line, [unless])
    ended = [-1] * (len(line.steps) + 1)
    for item in line.steps:
        if counts_as(results[item.rank], certain=certain) and over(item) != NEVER:
            at = min(over(item), len(line.steps))
            ended[at] = max(ended[at], item.rank)
    for rank in range(1, len(ended)):
        ended[rank] = max(ended[rank], ended[rank - 1])
    return lambda first, last: ended[last.rank] >= over(first)
