"""Budgets on steps, tokens and time, and calls that repeat an earlier one.

One thing a newcomer would get wrong: a budget on a figure that was not recorded is not evaluable,
never met; and a call that repeats a *failed* one is a retry, not redundant.
"""

from __future__ import annotations

from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scorers import _mastra
from trajscope.scorers._efficiency import find_inefficiency, measure, speaks_of_efficiency
from trajscope.scorers._inputs import (
    TrajectoryLike,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._results import EfficiencyResult
from trajscope.scorers._scored import not_evaluable, to_score


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


class EfficiencyScorer:
    """Budgets and redundant calls as a scorer of trajectories."""

    name = "efficiency"
    description = "Budgets on steps, tokens and time, and calls that repeat an earlier one."
    statement = "scorers/efficiency"
    not_asked = "the expectation has no budget"

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation has a budget or forbids redundant calls."""
        return speaks_of_efficiency(expectation)

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; not evaluable where no figure that was asked for is known."""
        if not self.applies(expectation):
            return not_evaluable(self.name, trajectory, self.not_asked)
        result = measure(trajectory, expectation)
        return to_score(
            self.name, trajectory, result, find_inefficiency(result, expectation, trajectory)
        )


SCORER = EfficiencyScorer()
