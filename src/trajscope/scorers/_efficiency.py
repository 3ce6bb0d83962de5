"""Efficiency of one trajectory under one expectation: figures, dimensions, findings.

One thing a newcomer would get wrong: a dimension that cannot be evaluated is None in the result
and not in its mean.
"""

from __future__ import annotations

from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.model.trajectory import Trajectory
from trajscope.scorers._budgets import Figure, count_steps, measure_duration, measure_tokens
from trajscope.scorers._redundancy import find_redundant
from trajscope.scorers._results import EfficiencyResult, RedundantCall

_REDUNDANT_PENALTY = 0.2
_BUDGETS = ("max_steps", "max_total_tokens", "max_total_duration_ms")


def speaks_of_efficiency(expectation: TrajectoryExpectation) -> bool:
    """Return whether an expectation has a budget or forbids redundant calls."""
    budgets = any(getattr(expectation, name) is not None for name in _BUDGETS)
    return budgets or expectation.no_redundant_calls is True


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


def find_inefficiency(
    result: EfficiencyResult, expectation: TrajectoryExpectation, trajectory: Trajectory
) -> list[Finding]:
    """Return a finding for every budget exceeded or undecided, and every redundant call."""
    found = [_budget_finding(n, result, expectation, trajectory) for n in result.dimensions]
    if "no_redundant_calls" in result.dimensions:
        found += [_redundant_finding(call, trajectory) for call in result.redundant_calls]
    return [finding for finding in found if finding is not None]


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
