"""Compares the steps that were taken with the expected ones: the best alignment, with reasons.

One thing a newcomer would get wrong: `relaxed` lets other steps stand between the expected ones
and `unordered` any order; `strict` wants these steps, in this order, and no more of them.
"""

from __future__ import annotations

from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.model.expectation import ArgsMode, Ordering, Scope, TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scorers import _mastra
from trajscope.scorers._comparison import compare
from trajscope.scorers._inputs import (
    ExpectationLike,
    TrajectoryLike,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._mismatches import find_mismatches
from trajscope.scorers._results import ComparisonResult
from trajscope.scorers._scored import not_evaluable, to_score


@overload
def compare_trajectories(
    actual: TrajectoryLike,
    expected: ExpectationLike,
    *,
    ordering: Ordering | UnsetType | None = ...,
    allow_repeated_steps: bool | UnsetType | None = ...,
    scope: Scope | None = ...,
    args_mode: ArgsMode | None = ...,
    compat: None = ...,
) -> ComparisonResult: ...
@overload
def compare_trajectories(
    actual: TrajectoryLike,
    expected: ExpectationLike,
    *,
    ordering: Any = ...,
    allow_repeated_steps: Any = ...,
    compat: Literal["mastra"],
) -> dict[str, Json]: ...
def compare_trajectories(
    actual: TrajectoryLike,
    expected: ExpectationLike,
    *,
    ordering: Ordering | UnsetType | None = UNSET,
    allow_repeated_steps: bool | UnsetType | None = UNSET,
    scope: Scope | None = None,
    args_mode: ArgsMode | None = None,
    compat: Literal["mastra"] | None = None,
) -> ComparisonResult | dict[str, Json]:
    """Return how the steps of a trajectory compare with the expected ones.

    ordering: strict, relaxed (default) or unordered. allow_repeated_steps: False takes 0.1 from
    the score for every name that occurs more often than expected. scope: which steps are looked at
    (default: all tool calls, or all steps if a non-tool is expected). args_mode: how arguments
    compare (default exact).

    Raises:
        UsageError: an argument is malformed, or an option is unknown.

    >>> took = {"steps": [{"stepType": "tool_call", "name": n} for n in ("search", "book")]}
    >>> compare_trajectories(took, [{"name": "book"}, {"name": "pay"}]).missing_steps
    ('pay',)
    """
    if is_compat(compat):
        options = reference_options(ordering=ordering, allow_repeated_steps=allow_repeated_steps)
        expected = {"steps": list(expected)} if isinstance(expected, list | tuple) else expected
        return cast(
            "dict[str, Json]",
            _mastra.compare_trajectories(
                _mastra.to_plain(actual), _mastra.to_plain(expected), options
            ),
        )
    expectation = to_expectation(
        expected,
        ordering=ordering,
        allow_repeated_steps=allow_repeated_steps,
        scope=scope,
        args_mode=args_mode,
    )
    return compare(to_trajectory(actual), expectation)


class ComparisonScorer:
    """The comparison as a scorer of trajectories."""

    name = "comparison"
    description = "How the steps that were taken compare with the expected ones, with an alignment."
    statement = "scorers/comparison"
    not_asked = "the expectation has no steps"

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation has steps."""
        return expectation.steps is not None

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; not evaluable without steps, or if unknown data decide."""
        if expectation.steps is None:
            return not_evaluable(self.name, trajectory, self.not_asked)
        result = compare(trajectory, expectation)
        return to_score(self.name, trajectory, result, find_mismatches(result, trajectory))


SCORER = ComparisonScorer()
