"""Decides `Flow`: whether a value that one step gave out turns up in what a later one was given.

One thing a newcomer would get wrong: not every text is held against every other. A text can only
contain another where that one's first few characters stand, so these are looked up in a table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from trajscope.model.check import Flow
from trajscope.model.rule import Matcher, ValuePath
from trajscope.model.span import Json
from trajscope.rules._chain import guards, over_of
from trajscope.rules._lines import Line, LineStep
from trajscope.rules._match import Missing, text_of_scalar
from trajscope.rules._outcome import Context, Hit, Outcome, counts_as

_PREFIX = 8
"""First characters by which a text is looked up."""
_TELLING = 8
"""Of a shorter text two characters would tell too much."""

Over = Callable[[LineStep], int]


class Scalar(NamedTuple):
    """A scalar of a step: where it stands, and its normalised text."""

    item: LineStep
    path: str
    text: str


class _Side(NamedTuple):
    """The sources or the targets of a line."""

    steps: dict[int, LineStep]
    unknown: set[int]
    scalars: list[Scalar]


def decide_flow(check: Flow, line: Line, context: Context) -> Outcome:
    """Return the targets that a value flows into (or, with `flow`, none does)."""
    outcome = Outcome(activations=0, reason="the values were not recorded")
    hits: dict[bool, dict[int, Hit]] = {}
    for certain in (True, False):
        strict = certain if check.forbidden else not certain
        sources = _side(check.sources, line, context, certain=strict)
        targets = _side(check.targets, line, context, certain=certain)
        outcome.activations = max(outcome.activations, len(targets.steps))
        find = _forbidden if check.forbidden else _missing
        hits[certain] = find(check, line, context, sources, targets, certain=certain)
    outcome.violated = list(hits[True].values())
    outcome.unknown = [hit for rank, hit in hits[False].items() if rank not in hits[True]]
    return outcome


def _side(
    ends: tuple[tuple[Matcher, ValuePath], ...], line: Line, context: Context, *, certain: bool
) -> _Side:
    side = _Side({}, set(), [])
    for matcher, path in ends:
        results = context.matched(line, [matcher])
        for item in line.steps:
            if not counts_as(results[item.rank], certain=certain):
                continue
            side.steps[item.rank] = item
            value = context.values.at(path, item)
            if value is Missing.UNKNOWN:
                side.unknown.add(item.rank)
            elif value is not Missing.ABSENT:
                side.scalars.extend(Scalar(item, *leaf) for leaf in leaves(value, str(path)))
    return side


def leaves(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the normalised text of every scalar below a value.

    >>> list(leaves({"a": [" X  y ", True, 1.0]}, "args"))
    [('args.a[0]', 'x y'), ('args.a[2]', '1')]
    """
    stack = [(value, path)]
    while stack:
        found, place = stack.pop()
        if isinstance(found, Mapping):
            stack.extend((v, f"{place}.{k}") for k, v in reversed(list(found.items())))
        elif isinstance(found, list | tuple):
            stack.extend((v, f"{place}[{i}]") for i, v in reversed(list(enumerate(found))))
        elif found is not None and not isinstance(found, bool):
            text = text_of_scalar(found)
            if text is not None:
                yield place, " ".join(text.split()).casefold()


def _forbidden(
    check: Flow, line: Line, context: Context, sources: _Side, targets: _Side, *, certain: bool
) -> dict[int, Hit]:
    """Return, by target, the nearest source a value flows from, if no guard lies between."""
    over = over_of(check.order, certain=certain)
    guarded = guards(line, check.unless, context, check.order, certain=not certain)
    hits: dict[int, Hit] = {}
    for rank, (source, told) in _nearest(check, sources, targets, over).items():
        target = targets.steps[rank]
        if not guarded(source, target):
            hits[rank] = Hit((source, target), told)
    if certain:
        return hits
    every = sorted(sources.steps.values(), key=over)
    blind = [item for item in every if item.rank in sources.unknown]
    for rank, item in targets.steps.items():
        seen = every if rank in targets.unknown else blind
        count = bisect_right(seen, rank, key=over)
        if rank not in hits and count and not guarded(seen[count - 1], item):
            hits[rank] = Hit((item,), "perhaps a value flows")
    return dict(sorted(hits.items()))


def _missing(
    check: Flow, line: Line, context: Context, sources: _Side, targets: _Side, *, certain: bool
) -> dict[int, Hit]:
    """Return the targets that no value flows into; in the certain pass what is unknown may flow."""
    del line, context
    over = over_of(check.order, certain=not certain)
    fed = _nearest(check, sources, targets, over)
    blind = min((over(sources.steps[rank]) for rank in sources.unknown), default=None)
    hits: dict[int, Hit] = {}
    for rank, item in sorted(targets.steps.items()):
        unclear = rank in targets.unknown or (blind is not None and blind <= rank)
        if rank not in fed and not (certain and unclear):
            hits[rank] = Hit((item,))
    return hits


def _nearest(
    check: Flow, sources: _Side, targets: _Side, over: Over
) -> dict[int, tuple[LineStep, str]]:
    """Return, by target rank, the source of highest rank before it that a value flows from."""
    given: dict[str, list[Scalar]] = {}
    for scalar in sources.scalars:
        given.setdefault(scalar.text, []).append(scalar)
    taken: dict[str, list[Scalar]] = {}
    for scalar in targets.scalars:
        taken.setdefault(scalar.text, []).append(scalar)
    feeding: dict[str, list[Scalar]] = {}
    for source_text, target_text in contained(list(given), list(taken), check.min_chars):
        feeding.setdefault(target_text, []).extend(given[source_text])
    best: dict[int, tuple[LineStep, str]] = {}
    for text, scalars in feeding.items():
        released = _Released(scalars, over)
        for scalar in taken[text]:
            source = released.before(scalar.item.rank)
            if source is None:
                continue
            known = best.get(scalar.item.rank)
            if known is None or known[0].rank < source.item.rank:
                shown = masked(min(source.text, text, key=len))
                told = f"{source.path} → {scalar.path} ({shown})"
                best[scalar.item.rank] = (source.item, told)
    return best


class _Released:
    """Scalars by when their steps are over; gives the one of highest rank before a rank."""

    def __init__(self, scalars: list[Scalar], over: Over) -> None:
        ordered = sorted(scalars, key=lambda s: over(s.item))
        self._overs = [over(scalar.item) for scalar in ordered]
        self._nearest: list[Scalar] = []
        for scalar in ordered:
            last = self._nearest[-1] if self._nearest else scalar
            self._nearest.append(max(last, scalar, key=lambda s: s.item.rank))

    def before(self, rank: int) -> Scalar | None:
        count = bisect_right(self._overs, rank)
        return self._nearest[count - 1] if count else None


def contained(one: list[str], other: list[str], min_chars: int) -> Iterator[tuple[str, str]]:
    """Yield each pair of which one text contains the other, that one being long enough.

    >>> list(contained(["key 12345678", "short"], ["12345678", "short"], 6))
    [('key 12345678', '12345678')]
    """
    size = max(min_chars, 1)
    yield from _inside(one, other, size)
    for outer, inner in _inside(other, one, size):
        if outer != inner:
            yield inner, outer


def _inside(outers: list[str], inners: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Yield (outer, inner) wherever an outer text contains an inner one of at least `size`.

    Inner texts are found by their first characters, then by length: texts of one make (links, ids)
    begin alike, but have few lengths.
    """
    starts: dict[str, dict[int, set[str]]] = {}
    for inner in inners:
        if len(inner) >= size:
            starts.setdefault(inner[:_PREFIX], {}).setdefault(len(inner), set()).add(inner)
    widths = sorted({len(start) for start in starts})
    for outer in outers:
        found: set[str] = set()
        for at in range(len(outer) - size + 1):
            for width in widths:
                for length, texts in starts.get(outer[at : at + width], {}).items():
                    piece = outer[at : at + length]
                    if piece in texts and piece not in found:
                        found.add(piece)
                        yield outer, piece


def masked(text: str) -> str:
    """Return what may be shown of a value that flowed: its first two characters and its length.

    >>> masked("hunter2-token")
    'hu…, 13 characters'
    >>> masked("1234")
    '…, 4 characters'
    """
    return f"{text[:2] if len(text) >= _TELLING else ''}…, {len(text)} characters"
