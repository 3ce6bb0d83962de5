"""The comparison itself: one trajectory, one expectation, one alignment and what it is worth.

One thing a newcomer would get wrong: an unknown pair is no match and no mismatch. The score is
computed both ways, and given only if both ways agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from trajscope.match import compile_pattern
from trajscope.model.expectation import Ordering, Scope, TrajectoryExpectation
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import agent_runs, resolve_scope, select_steps, was_executed
from trajscope.scorers._align import Table, align_freely, align_in_order, largest_matching
from trajscope.scorers._results import ComparisonResult, Pair, PairStatus

MAX_EXTRA_LINES = 1000
"""Lines of an alignment for steps that are left over; more are counted and not kept."""
_EXTRA_PENALTY = 0.5
REPEAT_PENALTY = 0.1
"""Taken off for each name that occurs too often, where repeats are not allowed."""


def compare(trajectory: Trajectory, expectation: TrajectoryExpectation) -> ComparisonResult:
    """Return the comparison of a trajectory with the steps of an expectation."""
    return compare_and_select(trajectory, expectation)[0]


def compare_and_select(
    trajectory: Trajectory, expectation: TrajectoryExpectation
) -> tuple[ComparisonResult, Sequence[BaseStep]]:
    """Return the comparison, and the steps its alignment counts.

    In scope `agent` the expectation is held against every agent run by itself, and the run that
    fits best gives the result: "one agent did this".
    """
    scope = resolve_scope(expectation.scope, expectation.steps or ())
    if scope != "agent":
        steps: Sequence[BaseStep] = select_steps(trajectory, scope)
        return _compare_steps(trajectory, steps, expectation, scope), steps
    runs = agent_runs(trajectory) or {None: []}
    tried: list[tuple[ComparisonResult, Sequence[BaseStep]]] = []
    for places in runs.values():
        steps = [place.step for place in places if was_executed(place.step)]
        result = _compare_steps(trajectory, steps, expectation, scope)
        agent = places[0].agent if places else None
        tried.append((result.model_copy(update={"agent": agent}) if agent else result, steps))
    best, steps = max(tried, key=lambda pair: (pair[0].score_low, pair[0].score_high))
    return _bounded(best, best.score_low, max(r.score_high for r, _ in tried)), steps


def _bounded(result: ComparisonResult, low: float, high: float) -> ComparisonResult:
    score = low if low == high else None
    return result.model_copy(update={"score": score, "score_low": low, "score_high": high})


def _compare_steps(
    trajectory: Trajectory,
    steps: Sequence[BaseStep],
    expectation: TrajectoryExpectation,
    scope: Scope,
) -> ComparisonResult:
    table = Table(expectation.steps or (), steps, expectation.args_mode or "exact")
    return compare_table(table, trajectory, expectation, scope)


def compare_table(
    table: Table, trajectory: Trajectory, expectation: TrajectoryExpectation, scope: Scope
) -> ComparisonResult:
    """Return the comparison that follows from which steps fit which expected ones.

    Whoever knows that otherwise than by matching them gives a table that says it.
    """
    expected, steps = table.expected, table.actual
    ordering = expectation.ordering or "relaxed"
    pairs, most = (align_freely if ordering == "unordered" else align_in_order)(table)
    alignment = _alignment(table, pairs, in_order=ordering != "unordered")
    if scope in ("tools", "agent"):
        alignment = [_with_hint(pair, trajectory) for pair in alignment]
    statuses = Counter(pair.status for pair in alignment)
    extra = [p for p in alignment if p.status in ("extra", "mismatched") and p.actual is not None]
    repeated = _repeated(table)
    low, high = (
        _score(count, len(expected), len(steps), ordering, _penalised(expectation, repeated))
        for count in (statuses["matched"], most)
    )
    asked = select_requested(trajectory) if scope in ("tools", "tree") else []
    return ComparisonResult(
        score=low if low == high else None,
        matched_steps=statuses["matched"],
        total_expected_steps=len(expected),
        total_actual_steps=len(steps),
        missing_steps=_named(alignment, "missing", "mismatched"),
        extra_steps=tuple(str(pair.actual) for pair in extra),
        out_of_order_steps=_named(alignment, "out_of_order"),
        repeated_steps=tuple(repeated),
        unknown_steps=_named(alignment, "unknown"),
        mismatched_steps=_named(alignment, "mismatched"),
        requested_only=tuple(step.name for step in asked),
        score_low=low,
        score_high=high,
        ordering=ordering,
        scope=scope,
        alignment=tuple(alignment[: len(expected) + MAX_EXTRA_LINES]),
        alignment_not_shown=max(0, len(alignment) - len(expected) - MAX_EXTRA_LINES),
        reason=_reason(statuses, len(expected), len(steps)),
    )


def select_requested(trajectory: Trajectory) -> list[BaseStep]:
    """Return the tool calls that were requested and never ran."""
    return [step for step in trajectory.walk() if not was_executed(step)]


def _score(count: int, expected: int, actual: int, ordering: Ordering, repeats: int) -> float:
    """Return the score of so many matches: finite, 0 to 1; 1 only if nothing is to be said."""
    if expected == 0:
        return 0.0 if actual else 1.0
    score = count / expected
    if ordering == "strict" and actual > expected:
        score -= _EXTRA_PENALTY * (actual - expected) / expected
    return max(0.0, score - REPEAT_PENALTY * repeats)


def _penalised(expectation: TrajectoryExpectation, repeated: Sequence[str]) -> int:
    return len(repeated) if expectation.allow_repeated_steps is False else 0


def _repeated(table: Table) -> list[str]:
    """Return the names that occur more often than the expectation asks, and more than once."""
    wanted: Counter[str] = Counter()
    for pattern, times in Counter(step.name for step in table.expected).items():
        for name in {table.actual[position].name for position in table.named(pattern)}:
            wanted[name] += times
    taken = Counter(step.name for step in table.actual)
    return [name for name, count in taken.items() if count > max(1, wanted[name])]


def _alignment(table: Table, pairs: dict[int, int], *, in_order: bool) -> list[Pair]:
    """Return one line per expected step, then one per actual step that is left over."""
    rest = [index for index in range(len(table.expected)) if index not in pairs]
    taken = set(pairs.values())
    displaced = largest_matching(table, rest, taken, unknown=False) if in_order else {}
    taken |= set(displaced.values())
    wrong = _same_name(table, [index for index in rest if index not in displaced], taken)
    taken |= set(wrong.values())
    lines = []
    for index in range(len(table.expected)):
        if index in pairs:
            known = table.fit(index, pairs[index]).holds is True
            lines.append(_pair(table, "matched" if known else "unknown", index, pairs[index]))
        elif index in displaced:
            lines.append(_pair(table, "out_of_order", index, displaced[index]))
        elif index in wrong:
            lines.append(_pair(table, "mismatched", index, wrong[index]))
        else:
            lines.append(_pair(table, "missing", index, None))
    left = [position for position in range(len(table.actual)) if position not in taken]
    return lines + [_pair(table, "extra", None, position) for position in left]


def _same_name(table: Table, indices: Sequence[int], taken: set[int]) -> dict[int, int]:
    """Return for each step without a match a step of its name that is left, if there is one."""
    found: dict[int, int] = {}
    used = set(taken)
    for index in indices:
        position = next((p for p in table.named(table.expected[index].name) if p not in used), None)
        if position is not None:
            found[index] = position
            used.add(position)
    return found


def _pair(table: Table, status: PairStatus, index: int | None, position: int | None) -> Pair:
    values: dict[str, Any] = {"status": status}
    if index is not None:
        values |= {"expected": table.expected[index].name, "expected_index": index}
    if position is not None:
        step = table.actual[position]
        values |= {"actual": step.name, "actual_index": position}
        values |= {k: getattr(step, k) for k in ("span_id", "trace_id") if getattr(step, k)}
    if index is not None and position is not None and status in ("unknown", "mismatched"):
        values["reasons"] = table.fit(index, position).reasons
    elif status == "out_of_order":
        values["reasons"] = ("order: the step was taken, but not at this place in the order",)
    return Pair(**values)


def _with_hint(pair: Pair, trajectory: Trajectory) -> Pair:
    """Say of a missing step where its name occurs although the scope does not look there."""
    if pair.status != "missing" or pair.expected is None:
        return pair
    pattern = compile_pattern(pair.expected)
    for step in trajectory.walk():
        if not pattern.matches_step(step):
            continue
        if step.is_tool and was_executed(step):
            continue
        said = hint_of(step.step_type, executed=was_executed(step))
        return pair.model_copy(update={"reasons": (said,)})
    return pair


def hint_of(step_type: str, *, executed: bool) -> str:
    """Return what is said of a missing step when a step that does not count has its name."""
    if not executed:
        return "name: a model requested this call, and it never ran"
    return f"name: no tool call has this name, a step of type {step_type} has (scope: tree)"


def _named(alignment: Sequence[Pair], *statuses: PairStatus) -> tuple[str, ...]:
    return tuple(str(pair.expected) for pair in alignment if pair.status in statuses)


def _reason(statuses: Counter[PairStatus], expected: int, actual: int) -> str:
    if not expected:
        return "no step was expected" + (f", {actual} were taken" if actual else "")
    parts = [f"{statuses['matched']} of {expected} expected steps matched"]
    labels: list[tuple[PairStatus, str]] = [
        ("missing", "missing"),
        ("mismatched", "with other data"),
        ("out_of_order", "out of order"),
        ("extra", "extra"),
        ("unknown", "not decidable (their data were not recorded)"),
    ]
    return ", ".join(parts + [f"{statuses[s]} {label}" for s, label in labels if statuses[s]])
