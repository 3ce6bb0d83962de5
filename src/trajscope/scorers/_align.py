"""Best alignments of expected with actual steps: in order (a heaviest chain) and free (matching).

One thing a newcomer would get wrong: an alignment is not found by taking the first fit. The first
fit of one step may be the only fit of another, and the score would depend on luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from trajscope.match import MATCHES, Match, NamePattern, compile_pattern, match_step, step_names
from trajscope.model.expectation import ArgsMode, ExpectedStep
from trajscope.model.step import BaseStep


class Table:
    """Which expected step fits which actual one, found out when asked and kept.

    Only steps that go by the expected name are candidates; exact names are looked up, so a trace
    of thousands of other calls costs nothing.
    """

    def __init__(
        self,
        expected: Sequence[ExpectedStep],
        actual: Sequence[BaseStep],
        args_mode: ArgsMode = "exact",
    ) -> None:
        self.expected = expected
        self.actual = actual
        self._args_mode = args_mode
        self._fits: dict[tuple[int, int], Match] = {}
        self._by_pattern: dict[str, list[int]] = {}

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        names: dict[str, list[int]] = {}
        for position, step in enumerate(self.actual):
            for name in dict.fromkeys((*step_names(step), *_label(step))):
                names.setdefault(name, []).append(position)
        return names

    def named(self, name: str) -> list[int]:
        """Return the positions of the steps that go by the name an expected step has."""
        pattern = compile_pattern(name)
        if pattern.regex is None:
            return self._by_name.get(pattern.text, [])
        if pattern.text not in self._by_pattern:
            self._by_pattern[pattern.text] = self._matching(pattern)
        return self._by_pattern[pattern.text]

    def _matching(self, pattern: NamePattern) -> list[int]:
        return [p for p, step in enumerate(self.actual) if pattern.matches_step(step)]

    def fit(self, index: int, position: int) -> Match:
        """Return whether an actual step is an expected one."""
        key = (index, position)
        if key not in self._fits:
            self._fits[key] = match_step(
                self.expected[index], self.actual[position], self._args_mode
            )
        return self._fits[key]

    def fits(self, index: int, position: int, *, unknown: bool) -> bool:
        """Return whether the pair fits; with `unknown`, whether it may."""
        holds = self.fit(index, position).holds
        return holds is True or (unknown and holds is None)


def _label(step: BaseStep) -> tuple[str, ...]:
    return () if step.is_tool or step.label is None else (step.label,)


Pairs = dict[int, int]
"""Positions of actual steps by the index of the expected step."""


def align_in_order(table: Table) -> tuple[Pairs, int]:
    """Return the alignment that keeps the order, and how many pairs it could have at most.

    Certain pairs come first, unknown ones second; the second figure counts both alike.
    """
    prefix = _common_prefix(table)
    suffix = _common_suffix(table, prefix)
    certain = len(table.expected) + 1
    pairs, _ = _heaviest_chain(table, prefix, suffix, lambda match: certain if match.holds else 1)
    _, most = _heaviest_chain(table, prefix, suffix, lambda _: 1)
    ends = zip(
        range(len(table.expected) - suffix, len(table.expected)),
        range(len(table.actual) - suffix, len(table.actual)),
        strict=True,
    )
    return {**{i: i for i in range(prefix)}, **pairs, **dict(ends)}, prefix + most + suffix


def _common_prefix(table: Table) -> int:
    """Return how many steps fit one by one from the start; pairing them is never worse."""
    shorter = min(len(table.expected), len(table.actual))
    return next((i for i in range(shorter) if table.fit(i, i) is not MATCHES), shorter)


def _common_suffix(table: Table, prefix: int) -> int:
    last_expected, last_actual = len(table.expected) - 1, len(table.actual) - 1
    shorter = min(len(table.expected), len(table.actual)) - prefix
    return next(
        (i for i in range(shorter) if table.fit(last_expected - i, last_actual - i) is not MATCHES),
        shorter,
    )


class _Best:
    """Prefix maxima over positions (a Fenwick tree), each with the chain that reaches it."""

    def __init__(self, size: int) -> None:
        self._tree: list[tuple[int, int]] = [(0, -1)] * (size + 1)

    def upto(self, position: int) -> tuple[int, int]:
        best = (0, -1)
        while position > 0:
            best = max(best, self._tree[position], key=lambda entry: entry[0])
            position &= position - 1
        return best

    def put(self, position: int, entry: tuple[int, int]) -> None:
        position += 1
        while position < len(self._tree):
            if entry[0] > self._tree[position][0]:
                self._tree[position] = entry
            position += position & -position


def _heaviest_chain(
    table: Table, prefix: int, suffix: int, weigh: Callable[[Match], int]
) -> tuple[Pairs, int]:
    """Return the heaviest set of pairs that keeps the order, and its weight.

    Sparse: it costs the number of pairs that fit, times a logarithm.
    """
    end = len(table.actual) - suffix
    best = _Best(end)
    links: list[tuple[int, int, int]] = []
    for index in range(prefix, len(table.expected) - suffix):
        # Backwards, so that one expected step never follows itself in a chain.
        for position in reversed(table.named(table.expected[index].name)):
            if not prefix <= position < end or table.fit(index, position).holds is False:
                continue
            weight, link = best.upto(position)
            links.append((index, position, link))
            best.put(position, (weight + weigh(table.fit(index, position)), len(links) - 1))
    weight, link = best.upto(end)
    pairs: Pairs = {}
    while link >= 0:
        index, position, link = links[link]
        pairs[index] = position
    return pairs, weight


def align_freely(table: Table) -> tuple[Pairs, int]:
    """Return the largest certain alignment in any order, and how many pairs it could have at most.

    What stays over is then paired with unknown fits.
    """
    indices = range(len(table.expected))
    certain = largest_matching(table, indices, set(), unknown=False)
    most = largest_matching(table, indices, set(), unknown=True)
    rest = [i for i in indices if i not in certain]
    more = largest_matching(table, rest, set(certain.values()), unknown=True)
    return {**certain, **more}, len(most)


def largest_matching(
    table: Table, indices: Sequence[int], taken: set[int], *, unknown: bool
) -> Pairs:
    """Return a largest one-to-one assignment of expected steps to actual ones not taken."""
    owner: dict[int, int] = {}
    for index in indices:
        free = next(_free(table, index, owner, taken, unknown), None)
        if free is not None:
            owner[free] = index
        else:
            _augment(table, index, owner, taken, unknown)
    return {index: position for position, index in owner.items()}


def _free(
    table: Table, index: int, owner: dict[int, int], taken: set[int], unknown: bool
) -> Iterator[int]:
    """Yield the free positions that fit, the one at the same place first."""
    same = [index] if index < len(table.actual) else []
    for position in (*same, *table.named(table.expected[index].name)):
        if position in owner or position in taken:
            continue
        if table.fits(index, position, unknown=unknown):
            yield position


def _augment(
    table: Table, index: int, owner: dict[int, int], taken: set[int], unknown: bool
) -> None:
    """Find a chain of reassignments that gives an expected step a place (Kuhn, from a stack)."""
    came_from: dict[int, int] = {}
    stack = [index]
    while stack:
        current = stack.pop()
        for position in table.named(table.expected[current].name):
            if position in came_from or position in taken:
                continue
            if not table.fits(current, position, unknown=unknown):
                continue
            came_from[position] = current
            if position in owner:
                stack.append(owner[position])
                continue
            _reassign(position, came_from, owner)
            return


def _reassign(position: int, came_from: dict[int, int], owner: dict[int, int]) -> None:
    places = {index: place for place, index in owner.items()}
    while True:
        index = came_from[position]
        before = places.get(index)
        owner[position] = index
        if before is None:
            return
        position = before
