"""The comparison of many stored traces: the definition once per variant, the rest by substitution.

One thing a newcomer would get wrong: two traces are of one variant for an *expectation*. Steps that
no expected name matches count by their place alone; their names and spans are filled in afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from trajscope.match import compile_pattern
from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation
from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory
from trajscope.scope import resolve_scope
from trajscope.scorers._comparison import MAX_EXTRA_LINES, REPEAT_PENALTY, compare, hint_of
from trajscope.scorers._mismatches import mismatch
from trajscope.scorers._results import ComparisonResult
from trajscope.store.encoding import decode_json
from trajscope.store.scoring import ScoringTables, finding_row

_PLAIN_DATA = frozenset({"tool_args", "success"})
"""Data of expected steps that the columns of a step decide; with others the trace is assembled."""


def has_variants(expectation: TrajectoryExpectation) -> bool:
    """Return whether traces can be compared by variant; otherwise each by the definition."""
    steps = expectation.steps or ()
    plain = all(set(step.data) <= _PLAIN_DATA for step in steps)
    return plain and resolve_scope(expectation.scope, steps) != "agent"


class _Taken(NamedTuple):
    """The steps of one trace that a scope holds, by column."""

    names: list[int]
    types: list[str]
    spans: list[str]
    success: list[bool | None]
    args: list[str | None]


class Comparing:
    """Compares the traces of one scoring; what it reads of them is kept between expectations."""

    def __init__(
        self, tables: ScoringTables, names: Sequence[BaseStep], expected: Iterable[str]
    ) -> None:
        self._tables = tables
        self._names = names
        self._expected = frozenset(expected)
        self._taken: dict[tuple[str, bool], dict[int, _Taken]] = {}
        self._matching: dict[str, frozenset[int]] = {}

    @cached_property
    def _requested(self) -> dict[int, list[str]]:
        return dict(self._tables.rows("scoring/requested_steps"))

    def compare(self, e: int, expectation: TrajectoryExpectation) -> list[dict[str, Any]]:
        """Return the comparisons of every trace that is held against an expectation, as rows."""
        steps = expectation.steps or ()
        scope = resolve_scope(expectation.scope, steps)
        with_data = any(step.data or step.args_match for step in steps)
        taken = self._steps(scope, with_data=with_data)
        relevant = frozenset[int]().union(*(self._named(step.name) for step in steps))
        asked = expectation.model_copy(update={"allow_repeated_steps": None})
        hints = self._hints if scope == "tools" else {}
        variants: dict[object, _Variant] = {}
        rows = []
        for t, trace_id in self._judged.get(e, ()):
            found = taken.get(t, _NOTHING)
            key = _key(found, relevant, with_data=with_data)
            variant = variants.get(key)
            if variant is None:
                variant = variants[key] = _Variant(compare(self._stand_in(found), asked))
            filled = _Filled(variant, found, [self._names[n].name for n in found.names], trace_id)
            filled.repeat(self._repeated(found, filled.names, steps), expectation)
            if scope in ("tools", "tree"):
                filled.details["requestedOnly"] = self._requested.get(t, [])
            if t in hints:
                filled.hint(hints[t], self._named)
            rows.append({"scorer": "comparison", "e": e, "t": t, **filled.row()})
        return rows

    def _named(self, name: str) -> frozenset[int]:
        """Return the numbers of the names that an expected name matches."""
        if name not in self._matching:
            pattern = compile_pattern(name)
            found = (n for n, step in enumerate(self._names) if pattern.matches_step(step))
            self._matching[name] = frozenset(found)
        return self._matching[name]

    def _steps(self, scope: str, *, with_data: bool) -> dict[int, _Taken]:
        key = (scope, with_data)
        if key not in self._taken:
            found: dict[int, _Taken] = {}
            params = {"scope": scope, "with_args": with_data}
            for t, *values in self._tables.rows("scorers/comparison", params):
                own = found.get(t)
                if own is None:
                    own = found[t] = _Taken([], [], [], [], [])
                columns: tuple[list[Any], ...] = own
                for column, value in zip(columns, values, strict=True):
                    column.append(value)
            self._taken[key] = found
        return self._taken[key]

    def _stand_in(self, taken: _Taken) -> Trajectory:
        """Return a flat trajectory of these steps that the definition takes for the trace."""
        steps: list[Any] = []
        for n, name_no in enumerate(taken.names):
            named = self._names[name_no]
            values = {f: getattr(named, f) for f in named.model_fields_set if f != "step_type"}
            values["order"] = n
            if named.is_tool:
                values["success"] = taken.success[n]
                text = taken.args[n]
                if text is not None:
                    values["tool_args"] = decode_json(text)
            steps.append(build_step(StepType(taken.types[n]), values))
        return Trajectory.model_construct(steps=tuple(steps))

    def _repeated(
        self, taken: _Taken, names: list[str], expected: Sequence[ExpectedStep]
    ) -> list[str]:
        """Return the names that occur more often than expected, as the definition does."""
        counts = Counter(names)
        if len(counts) == len(names):
            return []
        numbers: dict[str, set[int]] = {}
        for name, number in zip(names, taken.names, strict=True):
            numbers.setdefault(name, set()).add(number)
        patterns = Counter(step.name for step in expected)

        def wanted(name: str) -> int:
            return sum(
                times
                for pattern, times in patterns.items()
                if not numbers[name].isdisjoint(self._named(pattern))
            )

        return [n for n, count in counts.items() if count > 1 and count > wanted(n)]

    @cached_property
    def _judged(self) -> dict[int, list[tuple[int, str]]]:
        """Which traces are held against each expectation: read once, since there may be many."""
        found: dict[int, list[tuple[int, str]]] = {}
        for e, t, trace_id in self._tables.rows("scoring/read_judged"):
            found.setdefault(e, []).append((t, trace_id))
        return found

    @cached_property
    def _hints(self) -> dict[int, list[tuple[int, str, bool]]]:
        found: dict[int, list[tuple[int, str, bool]]] = {}
        params = {"names": sorted(frozenset[int]().union(*map(self._named, self._expected)))}
        for t, name_no, step_type, executed in self._tables.rows("scoring/hinted_steps", params):
            found.setdefault(t, []).append((name_no, step_type, executed))
        return found


_NOTHING = _Taken([], [], [], [], [])


def _key(taken: _Taken, relevant: frozenset[int], *, with_data: bool) -> object:
    """Return what two traces of one variant share: the places of the steps that count.

    A very long alignment is cut in the result, so there all names must be the same.
    """
    if len(taken.names) > MAX_EXTRA_LINES:
        relevant = relevant.union(taken.names)
    names = [n if n in relevant else -1 for n in taken.names]
    if not with_data:
        # The type of a step is no part of its name, and may be expected.
        return tuple(zip(names, taken.types, strict=True))
    data = zip(names, taken.types, taken.success, taken.args, strict=True)
    return tuple(row if row[0] >= 0 else (-1, row[1]) for row in data)


class _Variant:
    """What the definition says of the traces of one variant, ready to be filled in."""

    def __init__(self, result: ComparisonResult) -> None:
        self.result = result
        self.details: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
        pairs = result.alignment
        self.findings = [
            (n, pair.actual_index, finding_row(mismatch(pair, None)))
            for n, pair in enumerate(pairs)
            if pair.status not in ("matched", "extra")
        ]
        self.extra = [
            pair.actual_index
            for pair in pairs
            if pair.status in ("extra", "mismatched") and pair.actual_index is not None
        ]


class _Filled:
    """The comparison of one trace: a variant with the names and spans of the trace."""

    def __init__(self, variant: _Variant, taken: _Taken, names: list[str], trace_id: str) -> None:
        self._variant = variant
        self._trace_id = trace_id
        self._spans = taken.spans
        self.names = names
        self.details = dict(variant.details)
        self.value = variant.result.score
        if not variant.result.alignment_not_shown:
            self.details["extraSteps"] = [names[p] for p in variant.extra]
        self._lines = [self._line(line) for line in self.details["alignment"]]
        self.details["alignment"] = self._lines
        self._findings = [self._finding(at, row) for _, at, row in variant.findings]

    def _line(self, line: dict[str, Any]) -> dict[str, Any]:
        at = line.get("actualIndex")
        if at is None:
            return line
        seen = {"actual": self.names[at], "traceId": self._trace_id}
        return {**line, **seen, **({"spanId": self._spans[at]} if self._spans[at] else {})}

    def _finding(self, at: int | None, row: dict[str, Any]) -> dict[str, Any]:
        spans = [self._spans[at]] if at is not None and self._spans[at] else []
        return {**row, "trace_id": self._trace_id, "span_ids": spans}

    def repeat(self, repeated: list[str], expectation: TrajectoryExpectation) -> None:
        """Note the names that occur too often, and what they cost."""
        self.details["repeatedSteps"] = repeated
        if not repeated or expectation.allow_repeated_steps is not False or not expectation.steps:
            return
        cost = REPEAT_PENALTY * len(repeated)
        result = self._variant.result
        low, high = (max(0.0, score - cost) for score in (result.score_low, result.score_high))
        self.value = low if low == high else None
        self.details |= {"score": self.value, "scoreLow": low, "scoreHigh": high}

    def hint(
        self, steps: Sequence[tuple[int, str, bool]], named: Callable[[str], frozenset[int]]
    ) -> None:
        """Say of a missing step where its name occurs although the scope does not look there."""
        for place, (n, _, _) in enumerate(self._variant.findings):
            pair = self._variant.result.alignment[n]
            if pair.status != "missing" or pair.expected is None:
                continue
            matching = named(pair.expected)
            found = next((step for step in steps if step[0] in matching), None)
            if found is not None:
                hint = hint_of(found[1], executed=found[2])
                hinted = pair.model_copy(update={"reasons": (hint,)})
                self._lines[n] = {**self._lines[n], "reasons": [hint]}
                self._findings[place] = finding_row(mismatch(hinted, self._trace_id))

    def row(self) -> dict[str, Any]:
        """Return the columns of `scored` that say what was found."""
        return {
            "value": self.value,
            "reason": self._variant.result.reason,
            "details": self.details,
            "findings": self._findings,
        }
