"""The unified trajectory scorer: accuracy, efficiency, blacklist and tool failures in one score.

One thing a newcomer would get wrong: a clean blacklist weighs as a dimension, so a part of the
score is earned by doing nothing forbidden; a violation, at any depth, makes the score 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.model.expectation import TrajectoryExpectation, Weights
from trajscope.model.score import Score
from trajscope.model.trajectory import Trajectory
from trajscope.scorers._inputs import (
    ExpectationLike,
    check_patterns,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
    to_weights,
)
from trajscope.scorers._mastra import factories
from trajscope.scorers._results import TrajectoryResult
from trajscope.scorers._scored import to_score
from trajscope.scorers._unified import evaluate, find_everything


def create_trajectory_scorer_code(
    *,
    defaults: ExpectationLike | UnsetType | None = UNSET,
    weights: Weights | Mapping[str, Any] | UnsetType | None = UNSET,
    compat: Literal["mastra"] | None = None,
) -> StepScorer:
    """Return the unified scorer as a scorer of runs, whose output is a trajectory.

    defaults: what holds where a run's `expected_trajectory` says nothing. weights: of accuracy
    (0.4), efficiency (0.3), tool_failures (0.2) and blacklist (0.1).

    Raises:
        UsageError: an argument is malformed.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "search"}]}
    >>> scorer = create_trajectory_scorer_code(defaults={"steps": [{"name": "search"}]})
    >>> scorer.run_sync(output=took).score
    1.0
    """
    if is_compat(compat):
        return factories.create_trajectory_scorer_code(
            reference_options(defaults=defaults, weights=weights)
        )
    default = to_expectation(None if defaults is UNSET else defaults)
    check_patterns(default)
    weighed = to_weights(weights)

    def preprocess(context: StepContext) -> TrajectoryResult:
        item = to_expectation(context.run.get("expected_trajectory"))
        check_patterns(item)
        return evaluate(to_trajectory(context.run.get("output")), merge(default, item), weighed)

    def score(context: StepContext) -> Any:
        result: TrajectoryResult = context.results["preprocess"]
        return not_scorable(result.reason) if result.score is None else result.score

    def reason(context: StepContext) -> str:
        return str(context.results["preprocess"].reason)

    scorer = create_scorer(id=factories.UNIFIED_ID, name="trajectory")
    return scorer.preprocess(preprocess).generate_score(score).generate_reason(reason)


def merge(default: TrajectoryExpectation, item: TrajectoryExpectation) -> TrajectoryExpectation:
    """Return the default expectation with what the item says put over it."""
    said = {name: getattr(item, name) for name in item.model_fields_set}
    return default.model_copy(update={k: v for k, v in said.items() if v is not None})


class TrajectoryScorer:
    """The unified score as a scorer of trajectories, with the reference's weights."""

    name = "trajectory"
    description = "Accuracy, efficiency, blacklist and tool failures in one weighted score."
    statement = "scorers/trajectory"
    not_asked = ""
    weights = Weights()

    def applies(self, expectation: TrajectoryExpectation) -> bool:  # noqa: ARG002
        """Always: without an expectation the failures of tools remain."""
        return True

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the unified score; not evaluable where no dimension is."""
        result = evaluate(trajectory, expectation, self.weights)
        findings = find_everything(result, expectation, trajectory)
        return to_score(self.name, trajectory, result, findings)


SCORER = TrajectoryScorer()
