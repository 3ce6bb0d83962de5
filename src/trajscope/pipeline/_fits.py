"""Which steps of a trace fit which expected ones: by numbers where they say it, else by `match`.

One thing a newcomer would get wrong: only how the steps fit decides a comparison, not what they
are called. Two traces with one shape have one alignment, even under two expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from trajscope.match import MATCHES, Match, match_step
from trajscope.model.expectation import ArgsMode, ExpectedStep, TrajectoryExpectation
from trajscope.model.step import BaseStep, ToolCallStep
from trajscope.scorers._align import Table
from trajscope.store.args_key import NAN_MARK, args_key

Shape = tuple[tuple[tuple[int, bool | None], ...], ...]
"""For each expected step the places of the steps of its name, and whether they fit."""

IN_ORDER: Shape = ()
"""Stands for the first steps fitting the expected ones one by one: nothing else matters then."""


_PLAIN_DATA = frozenset({"tool_args", "success"})
_NAME, _NAME_AND_ARGS = {"name"}, {"name", "tool_args"}


class Columns(NamedTuple):
    """The steps that a scope holds, trace after trace; kinds: numbers of name and type."""

    bounds: dict[int, tuple[int, int]]
    names: list[int]
    kinds: list[int]
    types: list[str]
    spans: list[str]
    span_texts: list[str]
    success: list[bool | None]
    keys: list[str | None]
    args: list[str | None]
    texts: list[int]
    quoted: list[str]


class Wanted(NamedTuple):
    """An expected step; numbers: of the names it goes by. key: of its arguments.

    by: "name" if nothing but name counts, "key" if arguments count as a whole, else "all".
    """

    step: ExpectedStep
    numbers: frozenset[int]
    by: str
    key: str | None


def wanted(step: ExpectedStep, numbers: frozenset[int], mode: ArgsMode) -> Wanted | None:
    """Return an expected step with what decides whether a step fits it.

    None if it asks for data that stand in no column: the trace must be assembled for them.
    """
    said = step.model_fields_set
    if said == _NAME:
        return Wanted(step, numbers, "name", None)
    if said == _NAME_AND_ARGS and mode == "exact":
        return Wanted(step, numbers, "key", args_key(step.tool_args))
    return Wanted(step, numbers, "all", None) if step.data.keys() <= _PLAIN_DATA else None


class Fits:
    """The expected steps of one expectation against the steps of traces; at: a place in columns.

    stand_in: returns the step at a place, as the definition takes it.
    """

    def __init__(
        self,
        expectation: TrajectoryExpectation,
        found: Sequence[Wanted],
        columns: Columns,
        is_tool: Sequence[bool],
        stand_in: Callable[[int], BaseStep],
    ) -> None:
        self._mode: ArgsMode = expectation.args_mode or "exact"
        self._wanted = found
        self._columns = columns
        self._is_tool = is_tool
        self._stand_in = stand_in
        self._held: dict[tuple[int, int, Any, Any], bool | None] = {}
        self._shapes: dict[tuple[Any, ...], Shape] = {}

    @cached_property
    def _relevant(self) -> frozenset[int]:
        return frozenset[int]().union(*(w.numbers for w in self._wanted))

    @cached_property
    def _by_name(self) -> bool:
        return all(w.by == "name" for w in self._wanted)

    def shape(self, start: int, end: int, *, kept: bool) -> Shape:
        """Return how the steps of a trace fit; kept: other traces may be just like it."""
        if not kept:
            return self._shape(start, end)
        key = self._key(start, end)
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = self._shape(start, end)
        return found

    def reasons(self, index: int, at: int) -> tuple[str, ...]:
        """Return why a step is not the expected one."""
        return match_step(self._wanted[index].step, self._stand_in(at), self._mode).reasons

    def _key(self, start: int, end: int) -> tuple[Any, ...]:
        """Return what two traces share that fit alike: the places of the steps that count."""
        columns, relevant = self._columns, self._relevant
        names = columns.names[start:end]
        if self._by_name:
            return tuple([n if n in relevant else -1 for n in names])
        kinds, success, keys = columns.kinds, columns.success, columns.keys
        return tuple(
            [
                (kinds[at], success[at], keys[at]) if n in relevant else None
                for at, n in enumerate(names, start)
            ]
        )

    def _shape(self, start: int, end: int) -> Shape:
        names, found = self._columns.names, self._wanted
        if len(found) <= end - start and all(
            names[start + i] in w.numbers and self._holds(i, start + i) for i, w in enumerate(found)
        ):
            return IN_ORDER
        places: dict[int, list[int]] = {}
        for at in range(start, end):
            places.setdefault(names[at], []).append(at)
        rows = []
        for i, w in enumerate(found):
            named = [n for n in places if n in w.numbers]
            ats = (
                places[named[0]] if len(named) == 1 else sorted(a for n in named for a in places[n])
            )
            rows.append(tuple([(at - start, self._holds(i, at)) for at in ats]))
        return tuple(rows)

    def _holds(self, index: int, at: int) -> bool | None:
        """Return whether a step that has the expected name is the expected one."""
        w = self._wanted[index]
        if w.by == "name":
            return True
        columns = self._columns
        key = columns.keys[at]
        if w.by == "key":
            if not self._is_tool[columns.names[at]]:
                return False
            if key is None:
                return True if w.key is None else None
            return key == w.key and not key.startswith(NAN_MARK)
        case = (index, columns.kinds[at], columns.success[at], key)
        if case not in self._held:
            self._held[case] = match_step(w.step, self._stand_in(at), self._mode).holds
        return self._held[case]


class ShapeTable(Table):
    """A table for the definition that knows by a shape what fits; steps are called by number.

    size: how many steps the traces of the shape have.
    """

    def __init__(self, shape: Shape, expected: int, size: int) -> None:
        super().__init__(
            [ExpectedStep.model_construct(name=str(n)) for n in range(expected)],
            [ToolCallStep.model_construct(name=str(n)) for n in range(size)],
        )
        in_order: Shape = tuple(((n, True),) for n in range(expected))
        self._shape = in_order if shape == IN_ORDER else shape
        self._held = {
            (n, at): MATCHES if holds else Match(holds)
            for n, row in enumerate(self._shape)
            for at, holds in row
        }

    def named(self, name: str) -> list[int]:
        """Return the places of the steps that have the name of an expected one."""
        return [at for at, _ in self._shape[int(name)]]

    def fit(self, index: int, position: int) -> Match:
        """Return whether a step is an expected one; the reasons are no part of a shape."""
        return self._held.get((index, position), _NO_MATCH)


_NO_MATCH = Match(False)
