"""Budgets on steps, tokens and time, and calls that repeat an earlier one.

One thing a newcomer would get wrong: a budget on a figure that was not recorded is not evaluable,
never met; and a call that repeats a *failed* one is a retry, not redundant.
"""

from __future__ import annotations

from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scorers import _mastra
from trajscope.scorers._budgets import Figure, count_steps, measure_duration, measure_tokens
from trajscope.scorers._inputs import (
    TrajectoryLike,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._redundancy import find_redundant
from trajscope.scorers._results import EfficiencyResult, RedundantCall
from trajscope.scorers._scored import not_evaluable, to_score

_REDUNDANT_PENALTY = 0.2
_BUDGETS = ("max_steps", "max_total_tokens", "max_total_duration_ms")


@overload
def check_trajectory_efficiency(
    trajectory: TrajectoryLike,
    *,
    max_steps: float | UnsetType | None = ...,
    max_total_tokens: float | UnsetType | None = ...,
    max_total_duration_ms: float | UnsetType | None = ...,
    no_redundant_calls: bool | UnsetType | None = ...,
    scope: Scope | None = ...,
    compat: None = ...,
) -> EfficiencyResult: ...
@overload
def check_trajectory_efficiency(
    trajectory: TrajectoryLike,
    *,
    max_steps: Any = ...,
    max_total_tokens: Any = ...,
    max_total_duration_ms: Any = ...,
    no_redundant_calls: Any = ...,
    compat: Literal["mastra"],
) -> dict[str, Json]: ...
def check_trajectory_efficiency(
    trajectory: TrajectoryLike,
    *,
    max_steps: float | UnsetType | None = UNSET,
    max_total_tokens: float | UnsetType | None = UNSET,
    max_total_duration_ms: float | UnsetType | None = UNSET,
    no_redundant_calls: bool | UnsetType | None = UNSET,
    scope: Scope | None = None,
    compat: Literal["mastra"] | None = None,
) -> EfficiencyResult | dict[str, Json]:
    """Return whether a trajectory keeps its budgets and repeats no call.

    The score is the mean over what was asked for and can be evaluated. Redundant calls are always
    reported; they weigh when no_redundant_calls is True, or when nothing else is asked for.

    Raises:
        UsageError: an argument is malformed. Under compat also where a figure is missing.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "a", "toolArgs": {}}] * 3}
    >>> check_trajectory_efficiency(took, max_steps=2).score
    0.5
    """
    options = {
        "max_steps": max_steps,
        "max_total_tokens": max_total_tokens,
        "max_total_duration_ms": max_total_duration_ms,
        "no_redundant_calls": no_redundant_calls,
    }
    if is_compat(compat):
        result = _mastra.check_trajectory_efficiency(
            _mastra.to_plain(trajectory), reference_options(**options)
        )
        return cast("dict[str, Json]", result)
    return measure(to_trajectory(trajectory), to_expectation(None, scope=scope, **options))


def measure(trajectory: Trajectory, expectation: TrajectoryExpectation) -> EfficiencyResult:
    """Return the efficiency of a trajectory under the budgets of an expectation."""
    steps, scope = count_steps(trajectory, expectation.scope)
    tokens, duration = measure_tokens(trajectory), measure_duration(trajectory)
    redundant, unknown = find_redundant(trajectory)
    figures = dict(zip(_BUDGETS, (Figure(steps), tokens, duration), strict=True))
    dimensions: dict[str, float | None] = {}
    for name, figure in figures.items():
        limit = getattr(expectation, name)
        if limit is not None:
            dimensions[name] = figure.within(limit)
    asked = expectation.no_redundant_calls
    if asked or (asked is None and not dimensions):
        certain = not unknown or bool(redundant)
        value = max(0.0, 1 - _REDUNDANT_PENALTY * len(redundant))
        dimensions["no_redundant_calls"] = value if certain else None
    known = [value for value in dimensions.values() if value is not None]
    return EfficiencyResult(
        score=sum(known) / len(known) if known else None,
        total_steps=steps,
        over_step_budget=Figure(steps).over(expectation.max_steps),
        total_tokens=None if tokens.value is None else int(tokens.value),
        over_token_budget=tokens.over(expectation.max_total_tokens),
        total_duration_ms=duration.value,
        over_duration_budget=duration.over(expectation.max_total_duration_ms),
        redundant_calls=tuple(redundant),
        tokens_complete=tokens.complete,
        duration_complete=duration.complete,
        unknown_calls=unknown,
        dimensions=dimensions,
        scope=scope,
        reason=_reason(dimensions, redundant),
    )


_LABELS = {
    "max_steps": "step budget",
    "max_total_tokens": "token budget",
    "max_total_duration_ms": "duration budget",
    "no_redundant_calls": "redundant calls",
}


def _reason(dimensions: dict[str, float | None], redundant: list[RedundantCall]) -> str:
    if not dimensions:
        return "nothing was asked for"
    parts = []
    for name, value in dimensions.items():
        if value is None:
            missing = "arguments" if name == "no_redundant_calls" else "figures"
            parts.append(f"{_LABELS[name]}: not evaluable, the {missing} were not all recorded")
        elif name == "no_redundant_calls":
            parts.append(f"{len(redundant)} redundant calls")
        else:
            parts.append(f"{_LABELS[name]} {'met' if value == 1 else 'exceeded'}")
    return "; ".join(parts)


class EfficiencyScorer:
    """Budgets and redundant calls as a scorer of trajectories."""

    name = "efficiency"
    description = "Budgets on steps, tokens and time, and calls that repeat an earlier one."

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation has a budget or speaks of redundant calls."""
        return any(getattr(expectation, n) is not None for n in (*_BUDGETS, "no_redundant_calls"))

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; not evaluable where no figure that was asked for is known."""
        if not self.applies(expectation):
            return not_evaluable(self.name, trajectory, "the expectation has no budget")
        result = measure(trajectory, expectation)
        findings = [_budget_finding(n, result, expectation, trajectory) for n in result.dimensions]
        if "no_redundant_calls" in result.dimensions:
            findings += [_redundant_finding(call, trajectory) for call in result.redundant_calls]
        return to_score(self.name, trajectory, result, [f for f in findings if f is not None])


def _budget_finding(
    name: str, result: EfficiencyResult, expectation: TrajectoryExpectation, trajectory: Trajectory
) -> Finding | None:
    """Return the finding of a budget that is exceeded or cannot be decided."""
    value = result.dimensions[name]
    if value is None:
        return Finding(
            rule="efficiency",
            message=f"{_LABELS[name]}: not evaluable, what it needs was not recorded",
            severity=Severity.WARNING,
            verdict=Verdict.UNKNOWN,
            trace_id=trajectory.trace_id,
        )
    figures = {
        "max_steps": (result.total_steps, True),
        "max_total_tokens": (result.total_tokens, result.tokens_complete),
        "max_total_duration_ms": (result.total_duration_ms, result.duration_complete),
    }
    if value == 1 or name not in figures:
        return None
    figure, complete = figures[name]
    at_least = "" if complete else "at least "
    return Finding(
        rule="efficiency",
        message=f"{_LABELS[name]} exceeded: {at_least}{figure}, "
        f"at most {getattr(expectation, name):g} allowed",
        trace_id=trajectory.trace_id,
        span_ids=trajectory.root_span_ids,
    )


def _redundant_finding(call: RedundantCall, trajectory: Trajectory) -> Finding:
    return Finding(
        rule="efficiency",
        message=f"call {call.index} of tool {call.name!r} repeats call {call.repeats_index} "
        "with equal arguments",
        severity=Severity.WARNING,
        trace_id=trajectory.trace_id,
        span_ids=tuple(s for s in (call.repeats_span_id, call.span_id) if s is not None),
        steps=(call.name,),
    )


SCORER = EfficiencyScorer()
