"""Decides `Occurrence`, `Repeat`, `Conflict` and `Edge`: what occurs, how often, and where.

One thing a newcomer would get wrong: the largest number of matches there may have been decides
whether too few are a violation, the smallest whether too many are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trajscope.match import json_key, tool_key
from trajscope.model.check import Conflict, Edge, Occurrence, Repeat
from trajscope.rules._join import Joins
from trajscope.rules._latest import Entry, Latest
from trajscope.rules._lines import Line, LineStep
from trajscope.rules._match import Missing, Values
from trajscope.rules._outcome import PENDING, Context, Hit, Outcome, beyond, counts_as, within


def decide_occurrence(check: Occurrence, line: Line, context: Context) -> Outcome:
    """Return where a step occurs too often, and whether it occurs too rarely."""
    results = context.matched(line, [check.matcher])
    sure = [item for item in line.steps if results[item.rank] is True]
    possible = [item for item in line.steps if results[item.rank] is not False]
    outcome = Outcome(activations=len(line.steps) + check.min_count)
    if check.max_count is not None and check.within_ns is None:
        _too_many(check.max_count, sure, possible, outcome)
    elif check.max_count is not None:
        _too_many_within(check, sure, possible, outcome)
    if len(sure) < check.min_count:
        said = f"{len(sure)} of at least {check.min_count}"
        if len(possible) >= check.min_count:
            outcome.unknown.append(Hit(tuple(i for i in possible if i not in sure), said))
        elif line.unfinished:
            outcome.unknown.append(Hit((), said))
            outcome.reason = PENDING
        else:
            outcome.violated.append(Hit((), said))
    return outcome


def _too_many(limit: int, sure: list[LineStep], possible: list[LineStep], outcome: Outcome) -> None:
    if limit == 0:
        known = {item.rank for item in sure}
        outcome.violated += [Hit((item,)) for item in sure]
        outcome.unknown += [Hit((item,)) for item in possible if item.rank not in known]
    elif len(sure) > limit:
        outcome.violated.append(Hit(tuple(sure), f"{len(sure)} of at most {limit}"))
    elif len(possible) > limit:
        outcome.unknown.append(Hit(tuple(possible), f"{len(possible)} of at most {limit}"))


def _too_many_within(
    check: Occurrence, sure: list[LineStep], possible: list[LineStep], outcome: Outcome
) -> None:
    limit = check.max_count or 0
    outcome.violated += _windows(sure, limit + 1, check.within_ns)
    unclear = len(sure) < len(possible) or any(i.step.start_ns is None for i in possible)
    if unclear and len(possible) > limit and not outcome.violated:
        outcome.unknown.append(Hit(tuple(possible), f"{len(possible)} of at most {limit}"))


def _windows(items: Iterable[LineStep], size: int, within_ns: int | None) -> Iterator[Hit]:
    """Yield every `size` neighbouring matches of known start that lie close enough together."""
    known = [item for item in items if item.step.start_ns is not None]
    for index in range(size - 1, len(known)):
        window = known[index - size + 1 : index + 1]
        if within(window[0], window[-1], within_ns):
            yield Hit(tuple(window), f"{size} within the time")


def decide_repeat(check: Repeat, line: Line, context: Context) -> Outcome:
    """Return the groups of equal calls that are too large."""
    results = context.matched(line, [check.matcher])
    matches = [item for item in line.steps if results[item.rank] is not False]
    outcome = Outcome(activations=len(matches))
    keys = {item.rank: _key(check, item, context.values) for item in matches}
    doubtful = {i.rank for i in matches if keys[i.rank] is None or results[i.rank] is None}
    if check.within_ns is not None:
        doubtful |= {item.rank for item in matches if item.step.start_ns is None}
    if check.consecutive:
        _stretches(check, matches, keys, doubtful, outcome)
    else:
        _groups(check, matches, keys, doubtful, outcome)
    return outcome


def _key(check: Repeat, item: LineStep, values: Values) -> object | None:
    """Return what equal calls have in common; None when some of it is unknown."""
    found = [values.at(path, item) for path in check.same]
    if Missing.UNKNOWN in found:
        return None
    return tuple("" if isinstance(value, Missing) else json_key(value) for value in found)


def _groups(
    check: Repeat,
    matches: list[LineStep],
    keys: dict[int, object | None],
    doubtful: set[int],
    outcome: Outcome,
) -> None:
    groups: dict[object, list[LineStep]] = {}
    unclear: dict[str, list[LineStep]] = {}
    for item in matches:
        if item.rank in doubtful:
            unclear.setdefault(tool_key(item.step), []).append(item)
        else:
            groups.setdefault(keys[item.rank], []).append(item)
    largest: dict[str, int] = {}
    violated: set[str] = set()
    for group in groups.values():
        tool = tool_key(group[0].step)
        largest[tool] = max(largest.get(tool, 0), len(group))
        if len(group) < check.times:
            continue
        hits = [Hit(tuple(group), f"{len(group)} times")]
        if check.within_ns is not None:
            hits = list(_windows(group, check.times, check.within_ns))
        violated |= {tool} if hits else set()
        outcome.violated += hits
    for tool, items in unclear.items():
        if largest.get(tool, 0) + len(items) >= check.times and tool not in violated:
            outcome.unknown.append(Hit(tuple(items), "perhaps equal"))


def _stretches(
    check: Repeat,
    matches: list[LineStep],
    keys: dict[int, object | None],
    doubtful: set[int],
    outcome: Outcome,
) -> None:
    certain = [item for item in matches if item.rank not in doubtful]
    for stretch in _runs(certain, lambda item: keys[item.rank]):
        if len(stretch) < check.times:
            continue
        if check.within_ns is None:
            outcome.violated.append(Hit(tuple(stretch), f"{len(stretch)} times in a row"))
        else:
            outcome.violated += _windows(stretch, check.times, check.within_ns)
    known = {item.rank for hit in outcome.violated for item in hit.witnesses}
    for stretch in _runs(matches, lambda item: tool_key(item.step)):
        unclear = [item for item in stretch if item.rank in doubtful]
        if unclear and len(stretch) >= check.times and known.isdisjoint(i.rank for i in stretch):
            outcome.unknown.append(Hit(tuple(unclear), "perhaps equal"))


def _runs(items: list[LineStep], key: Callable[[LineStep], object]) -> Iterator[list[LineStep]]:
    """Yield the longest stretches of neighbouring items of one key."""
    run: list[LineStep] = []
    for item in items:
        together = run and run[-1].gap_to(item) == 0
        if run and not (together and key(run[-1]) == key(item)):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def decide_conflict(check: Conflict, line: Line, context: Context) -> Outcome:
    """Return the steps of the second kind beside which one of the first kind occurs."""
    results = [context.matched(line, [matcher]) for matcher in (check.one, check.other)]
    certain, possible = (
        _conflicts(check, line, context, results, certain=certain) for certain in (True, False)
    )
    either = sum(a is not False or b is not False for a, b in zip(*results, strict=True))
    return Outcome(certain, beyond(certain, possible), either)


def _conflicts(
    check: Conflict,
    line: Line,
    context: Context,
    results: list[list[bool | None]],
    *,
    certain: bool,
) -> list[Hit]:
    joins = Joins(check.same, check.differ, context.values)
    found: dict[int, LineStep] = {}
    for steps in (line.steps, line.steps[::-1]):  # of lowest rank: first those before
        lowest = Latest(certain=certain)
        for item in steps:
            if item.rank not in found and counts_as(results[1][item.rank], certain=certain):
                entry = lowest.find(joins.key(item, 1))
                if entry is not None:
                    found[item.rank] = entry.item
            if counts_as(results[0][item.rank], certain=certain):
                lowest.add(Entry(item, joins.key(item, 0), -item.rank))
    hits = []
    for item in line.steps:
        if item.rank in found:
            pair = sorted((found[item.rank], item), key=lambda step: step.rank)
            hits.append(Hit(tuple(pair)))
    return hits


def decide_edge(check: Edge, line: Line, context: Context) -> Outcome:
    """Return the first or last executed step if it is another one than asked for."""
    ran = [item for item in line.steps if item.executed]
    outcome = Outcome(activations=len(ran))
    if not ran:
        return outcome
    item = ran[0] if check.at == "first" else ran[-1]
    result = context.matched(line, check.matchers)[item.rank]
    if result is None:
        outcome.unknown.append(Hit((item,)))
    elif not result and check.at == "last" and line.unfinished:
        outcome.unknown.append(Hit((item,)))
        outcome.reason = PENDING
    elif not result:
        outcome.violated.append(Hit((item,)))
    return outcome
