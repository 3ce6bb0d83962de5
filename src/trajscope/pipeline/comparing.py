"""The comparison of many stored traces: the definition once per shape, the rest filled in.

One thing a newcomer would get wrong: two traces are of one shape if their steps fit the expected
ones alike, whatever all of them are called. Names and spans are filled in afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from trajscope.match import compile_pattern
from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline._fits import (
    IN_ORDER,
    Columns,
    Fits,
    Shape,
    ShapeTable,
    Wanted,
    wanted,
)
from trajscope.pipeline._part import Asked, Names, Part
from trajscope.pipeline._variants import Line, Taken, Variant, quoted
from trajscope.scope import resolve_scope
from trajscope.scorers._comparison import compare_table
from trajscope.store.encoding import decode_json
from trajscope.store.scored import ScoredRows
from trajscope.store.scoring import Range, ScoringTables

_KEPT_TEXT = 50_000_000
"""Characters of variants that are kept; long traces are hardly ever alike."""


class Comparing:
    """Compares the traces of one scoring, part by part; variants are kept between the parts."""

    def __init__(
        self,
        tables: ScoringTables,
        names: Sequence[BaseStep],
        asked: Sequence[TrajectoryExpectation],
    ) -> None:
        self._tables = tables
        self._names = Names(names)
        self._asked = asked
        self._wanted: dict[int, list[Wanted]] = {}
        self._quotes: dict[str, str] = {}
        self._matching: dict[str, frozenset[int]] = {}
        self._variants: dict[object, Variant] = {}
        self._kept = 0

    def compares(self, e: int) -> bool:
        """Return whether it can compare with expectation `e`; if not, that is the definition's.

        It cannot where an expectation asks for what stands in no column.
        """
        expectation = self._asked[e]
        steps, mode = expectation.steps or (), expectation.args_mode or "exact"
        found = [wanted(step, self._named(step.name), mode) for step in steps]
        known = [one for one in found if one is not None]
        self._wanted[e] = known
        return len(known) == len(found) and resolve_scope(expectation.scope, steps) != "agent"

    def part(self, part: Range) -> Part:
        """Return a part of the traces, ready to be compared."""
        return Part(self._tables, self._names, self._to_read, part)

    def compare(self, e: int, part: Part, rows: ScoredRows) -> None:
        """Append the comparisons of the part's traces with expectation `e` (see `compares`)."""
        judged = part.judged.get(e)
        if judged is None:
            return
        one = self._held(e, part)
        for t, trace_id in judged:
            start, end = one.columns.bounds.get(t, (0, 0))
            shape = one.fits.shape(start, end, kept=len(judged) > 1)
            variant = self._variant(shape, end - start, self._asked[e], one.scope)
            taken = self._taken(one, variant, shape, t, trace_id)
            value, details = variant.fill(taken, penalised=one.penalised)
            faults = variant.findings(taken, one.names)
            rows.add("comparison", (e, t), value, variant.reason, details, faults)

    def _held(self, e: int, part: Part) -> _Held:
        """Return an expectation made ready for a part."""
        expectation = self._asked[e]
        names = [step.name for step in expectation.steps or ()]
        scope = resolve_scope(expectation.scope, expectation.steps or ())
        columns = part.steps(scope)
        stand_in = partial(self._stand_in, columns)
        return _Held(
            scope,
            columns,
            names,
            [self._quoted(name) for name in names],
            [self._named(name) for name in names],
            Fits(expectation, self._wanted[e], columns, self._names.is_tool, stand_in),
            _Repeats(names, self._named),
            part.hints if scope == "tools" else {},
            part.requested if scope in ("tools", "tree") else {},
            expectation.allow_repeated_steps is False,
        )

    def _taken(self, one: _Held, variant: Variant, shape: Shape, t: int, trace_id: str) -> Taken:
        """Return what one trace fills into its variant."""
        columns = one.columns
        start, end = columns.bounds.get(t, (0, 0))
        lines = self._lines(variant, one.fits, start)
        if t in one.hints:
            hinted = variant.hinted(one.hints[t], one.numbers)
            lines = [hinted.get(n, line) for n, line in enumerate(lines)]
        # Where each step was expected one by one, none can have been taken too often.
        as_asked = shape == IN_ORDER and end - start == len(one.names)
        repeated = [] if as_asked else one.repeats.among(columns, start, end)
        return Taken(
            trace_id,
            columns.quoted[start:end],
            columns.spans[start:end],
            columns.span_texts[start:end],
            one.quoted,
            [self._names.steps[n].name for n in repeated],
            one.requested.get(t, ()),
            lines,
        )

    def _variant(
        self, shape: Shape, size: int, expectation: TrajectoryExpectation, scope: Scope
    ) -> Variant:
        """Return the comparison of all traces of so many steps that fit like this."""
        expected = len(expectation.steps or ())
        key = (scope, expectation.ordering, expected, size, shape)
        found = self._variants.get(key)
        if found is None:
            asked = TrajectoryExpectation.model_construct(ordering=expectation.ordering)
            table = ShapeTable(shape, expected, size)
            found = Variant(compare_table(table, Trajectory(steps=()), asked, scope))
            if self._kept > _KEPT_TEXT:
                self._variants.clear()
                self._kept = 0
            self._variants[key] = found
            self._kept += found.size
        return found

    def _lines(self, variant: Variant, fits: Fits, start: int) -> list[Line]:
        """Return what became of the expected steps, with the reasons that this trace has."""
        lines = variant.lines
        if not variant.open:
            return lines
        lines = list(lines)
        for n in variant.open:
            at = lines[n].at
            if at is not None:
                lines[n] = lines[n]._replace(reasons=fits.reasons(n, start + at))
        return lines

    def _quoted(self, name: str) -> str:
        if name not in self._quotes:
            self._quotes[name] = quoted(name)
        return self._quotes[name]

    def _named(self, name: str) -> frozenset[int]:
        """Return the numbers of the names that an expected name matches."""
        if name not in self._matching:
            pattern = compile_pattern(name)
            found = (n for n, step in enumerate(self._names.steps) if pattern.matches_step(step))
            self._matching[name] = frozenset(found)
        return self._matching[name]

    def _stand_in(self, columns: Columns, at: int) -> BaseStep:
        """Return a step that the definition takes for the one at this place."""
        named = self._names.steps[columns.names[at]]
        values = {f: getattr(named, f) for f in named.model_fields_set if f != "step_type"}
        if named.is_tool:
            values["success"] = columns.success[at]
            text = columns.args[at]
            if text is not None:
                values["tool_args"] = decode_json(text)
        return build_step(StepType(columns.types[at]), values)

    @cached_property
    def _to_read(self) -> Asked:
        steps = [step for expect in self._asked for step in expect.steps or ()]
        numbers = frozenset[int]().union(*(self._named(step.name) for step in steps))
        with_args = any(step.data or step.args_match for step in steps)
        return Asked(with_args=with_args, hint_names=sorted(numbers))


class _Held(NamedTuple):
    """An expectation with what all traces are held against it by; see `Comparing.compare`."""

    scope: Scope
    columns: Columns
    names: list[str]
    quoted: list[str]
    numbers: list[frozenset[int]]
    fits: Fits
    repeats: _Repeats
    hints: Mapping[int, list[tuple[int, str, bool]]]
    requested: Mapping[int, list[str]]
    penalised: bool


class _Repeats:
    """Which names occur more often than one expectation asks; patterns: the names it has.

    named: returns the numbers of the names that a pattern matches.
    """

    def __init__(self, patterns: Sequence[str], named: Callable[[str], frozenset[int]]) -> None:
        self._patterns = patterns
        self._named = named
        self._wanted: dict[frozenset[int], int] = {}

    def among(self, columns: Columns, start: int, end: int) -> list[int]:
        """Return those of the steps of a trace by their numbers, as the definition does."""
        texts = columns.texts[start:end]
        if len(set(texts)) == len(texts):
            return []
        names = columns.names[start:end]
        numbers: dict[int, set[int]] = {}
        counts: dict[int, int] = {}
        for text, name in zip(texts, names, strict=True):
            if text in counts:
                counts[text] += 1
                numbers[text].add(name)
            else:
                counts[text] = 1
                numbers[text] = {name}
        return [
            text
            for text, count in counts.items()
            if count > 1 and count > self._times(frozenset(numbers[text]))
        ]

    def _times(self, numbers: frozenset[int]) -> int:
        if numbers not in self._wanted:
            self._wanted[numbers] = sum(
                not numbers.isdisjoint(self._named(pattern)) for pattern in self._patterns
            )
        return self._wanted[numbers]
