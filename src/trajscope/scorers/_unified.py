"""The unified evaluation: every dimension of an expectation, and what is expected below its steps.

One thing a newcomer would get wrong: a dimension that cannot be evaluated is left out of the
weights and named; it neither raises the score nor lowers it. With nothing left there is no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation, Weights
from trajscope.model.score import Finding
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import below
from trajscope.scorers._blacklist import find_forbidden, forbids_anything, search
from trajscope.scorers._comparison import compare_and_select
from trajscope.scorers._efficiency import find_inefficiency, measure, speaks_of_efficiency
from trajscope.scorers._failures import analyze, find_failures
from trajscope.scorers._mismatches import find_mismatches
from trajscope.scorers._results import ComparisonResult, NestedResult, TrajectoryResult

_OWN_SHARE = 0.7
_NESTED_SHARE = 0.3
_INHERITED = ("ordering", "allow_repeated_steps", "args_mode", "max_retries_per_tool")
NAMES = ("accuracy", "efficiency", "tool_failures", "blacklist")
"""The dimensions, in the order their weights are listed."""


class _Level(NamedTuple):
    """What holds at one level: results by dimension, their weights, what could not be evaluated."""

    results: dict[str, Any]
    weights: dict[str, float]
    missing: dict[str, str]
    nested: tuple[NestedResult, ...]
    score: float | None


def evaluate(
    trajectory: Trajectory, expectation: TrajectoryExpectation, weights: Weights
) -> TrajectoryResult:
    """Return the unified result of a trajectory under an expectation."""
    level = _evaluate(trajectory, expectation, weights)
    return TrajectoryResult(
        score=level.score,
        nested=level.nested,
        weights=level.weights,
        not_evaluated=level.missing,
        reason=_reason(level),
        **level.results,
    )


def _evaluate(
    trajectory: Trajectory, expectation: TrajectoryExpectation, weights: Weights
) -> _Level:
    results: dict[str, Any] = {}
    nested: tuple[NestedResult, ...] = ()
    if expectation.steps is not None:
        comparison, steps = compare_and_select(trajectory, expectation)
        results["accuracy"] = comparison
        nested = tuple(_nested(expectation, comparison, steps, weights))
    if speaks_of_efficiency(expectation):
        results["efficiency"] = measure(trajectory, expectation)
    if forbids_anything(expectation):
        results["blacklist"] = search(trajectory, expectation)
    failures = analyze(trajectory, expectation)
    asked = [name for name in NAMES if name in results]
    # Failures weigh where there are any, or where nothing else was asked for.
    if failures.patterns or not asked:
        asked.append("tool_failures")
    results["tool_failures"] = failures
    known = [name for name in asked if results[name].score is not None]
    missing = {name: results[name].reason for name in asked if name not in known}
    used = {name: getattr(weights, name) for name in NAMES if name in known}
    score = 0.0 if _violated(results, nested) else _combined(results, used, nested)
    return _Level(results, used, missing, nested, score)


def _violated(results: Mapping[str, Any], nested: Sequence[NestedResult]) -> bool:
    """Return whether anything forbidden occurred at this level or at any below it."""
    if "blacklist" in results and results["blacklist"].score == 0:
        return True
    return any(
        _violated({"blacklist": n.blacklist} if n.blacklist else {}, n.nested) for n in nested
    )


def _combined(
    results: Mapping[str, Any], used: Mapping[str, float], nested: Sequence[NestedResult]
) -> float | None:
    """Return the weighted mean, joined with that of what is nested; None if neither is known."""
    total = sum(used.values())
    own = sum(w * results[name].score for name, w in used.items()) / total if total > 0 else None
    scores = [entry.score for entry in nested if entry.score is not None]
    if not scores:
        return own
    mean = sum(scores) / len(scores)
    return mean if own is None else _OWN_SHARE * own + _NESTED_SHARE * mean


def _nested(
    expectation: TrajectoryExpectation,
    comparison: ComparisonResult,
    steps: Sequence[BaseStep],
    weights: Weights,
) -> list[NestedResult]:
    """Return what holds below each expected step that expects something there.

    The step is the one the alignment found, so a parent that matches by its arguments is the one
    whose children are looked at; one that has only the name is looked at too, rather than none.
    """
    found = {pair.expected_index: pair.actual_index for pair in comparison.alignment}
    entries = []
    for index, step in enumerate(expectation.steps or ()):
        if step.children is None:
            continue
        position = found.get(index)
        parent = None if position is None else steps[position]
        entries.append(_nested_entry(step, step.children, parent, expectation, weights))
    return entries


def _nested_entry(
    step: ExpectedStep,
    children: TrajectoryExpectation,
    parent: BaseStep | None,
    around: TrajectoryExpectation,
    weights: Weights,
) -> NestedResult:
    if parent is None:
        return NestedResult(step_name=step.name, score=0.0, found=False)
    inherited = {k: getattr(around, k) for k in _INHERITED if getattr(children, k) is None}
    level = _evaluate(below(parent), children.model_copy(update=inherited), weights)
    values = {**level.results, "nested": level.nested, "score": level.score}
    if parent.span_id is not None:
        values["span_id"] = parent.span_id
    return NestedResult(step_name=step.name, **values)


def _reason(level: _Level) -> str:
    """Return the reason in words: what is forbidden alone, else a line per dimension."""
    results = level.results
    if "blacklist" in results and results["blacklist"].score == 0:
        return str(results["blacklist"].reason)
    if _violated({}, level.nested):
        return "something occurred that a nested expectation forbids"
    parts = [f"{name} {results[name].score:.2f}: {results[name].reason}" for name in level.weights]
    parts += [f"{name} not evaluable: {reason}" for name, reason in level.missing.items()]
    for entry in level.nested:
        if not entry.found:
            parts.append(f"below {entry.step_name}: the step was not taken")
        else:
            shown = "not evaluable" if entry.score is None else f"{entry.score:.2f}"
            parts.append(f"below {entry.step_name}: {shown}")
    return "; ".join(parts)


def find_everything(
    result: TrajectoryResult | NestedResult,
    expectation: TrajectoryExpectation,
    trajectory: Trajectory,
) -> list[Finding]:
    """Return the findings of every dimension at every level, what is forbidden first."""
    found: list[Finding] = []
    if result.blacklist is not None:
        found += find_forbidden(result.blacklist, trajectory)
    if result.accuracy is not None:
        found += find_mismatches(result.accuracy, trajectory)
    if result.efficiency is not None:
        found += find_inefficiency(result.efficiency, expectation, trajectory)
    if result.tool_failures is not None and isinstance(result, TrajectoryResult):
        found += find_failures(result.tool_failures, trajectory)
    expected = [step.children for step in expectation.steps or () if step.children is not None]
    for entry, children in zip(result.nested, expected, strict=True):
        if entry.found:  # of a step that was not taken nothing below was looked at
            found += find_everything(entry, children, trajectory)
    return list({finding.model_dump_json(): finding for finding in found}.values())


def steps_only(expectation: TrajectoryExpectation) -> TrajectoryExpectation:
    """Return the expectation with nothing but its steps, at every level."""
    steps = tuple(
        step if step.children is None else step.model_copy(update=_steps_below(step.children))
        for step in expectation.steps or ()
    )
    kept = ("ordering", "allow_repeated_steps", "scope", "args_mode")
    values: dict[str, Any] = {k: getattr(expectation, k) for k in kept}
    if expectation.steps is not None:
        values["steps"] = steps
    return TrajectoryExpectation.model_construct(**values)


def _steps_below(children: TrajectoryExpectation) -> dict[str, TrajectoryExpectation | None]:
    return {"children": None if children.steps is None else steps_only(children)}
