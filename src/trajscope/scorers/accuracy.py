"""The trajectory accuracy scorer: the comparison, with what is expected below the steps.

One thing a newcomer would get wrong: only steps count here. Budgets, blacklist and retries of an
expectation are the business of the unified scorer.
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
)
from trajscope.scorers._mastra import factories
from trajscope.scorers._results import TrajectoryResult
from trajscope.scorers._scored import not_evaluable, to_score
from trajscope.scorers._unified import evaluate, find_everything, steps_only

_ONLY_ACCURACY = Weights(accuracy=1, efficiency=0, tool_failures=0, blacklist=0)
_OPTIONS = ("ordering", "allow_repeated_steps", "scope", "args_mode")


def create_trajectory_accuracy_scorer_code(
    *,
    expected_trajectory: ExpectationLike | UnsetType | None = UNSET,
    comparison_options: Mapping[str, Any] | UnsetType | None = UNSET,
    compat: Literal["mastra"] | None = None,
) -> StepScorer:
    """Return the accuracy scorer as a scorer of runs, whose output is a trajectory.

    expected_trajectory: what every run is held against; else each run's own `expected_trajectory`.
    comparison_options: ordering, allow_repeated_steps, scope, args_mode; a run's own win. A run
    without any expected steps is not scorable.

    Raises:
        UsageError: an argument is malformed.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "search"}]}
    >>> scorer = create_trajectory_accuracy_scorer_code(expected_trajectory=[{"name": "book"}])
    >>> scorer.run_sync(output=took).score
    0.0
    """
    if is_compat(compat):
        return factories.create_trajectory_accuracy_scorer_code(
            reference_options(
                expected_trajectory=expected_trajectory, comparison_options=comparison_options
            )
        )
    given = None if expected_trajectory is UNSET else expected_trajectory
    static = None if given is None else to_expectation(given)
    options = to_expectation(comparison_options or None)
    for expectation in filter(None, (static, options)):
        check_patterns(expectation)

    def preprocess(context: StepContext) -> TrajectoryResult | None:
        item = to_expectation(context.run.get("expected_trajectory"))
        check_patterns(item)
        expectation = _joined(static, item, options)
        if expectation.steps is None:
            return None
        return accuracy_of(to_trajectory(context.run.get("output")), expectation)

    def score(context: StepContext) -> Any:
        result: TrajectoryResult | None = context.results["preprocess"]
        if result is None:
            return not_scorable("no expected steps were given")
        return not_scorable(result.reason) if result.score is None else result.score

    def reason(context: StepContext) -> str:
        return str(context.results["preprocess"].reason)

    scorer = create_scorer(id=factories.ACCURACY_ID, name="accuracy")
    return scorer.preprocess(preprocess).generate_score(score).generate_reason(reason)


def accuracy_of(trajectory: Trajectory, expectation: TrajectoryExpectation) -> TrajectoryResult:
    """Return how the steps compare, and those below them; the comparison is in `accuracy`."""
    result = evaluate(trajectory, steps_only(expectation), _ONLY_ACCURACY)
    return result.model_copy(update={"tool_failures": None})


def _joined(
    static: TrajectoryExpectation | None,
    item: TrajectoryExpectation,
    options: TrajectoryExpectation,
) -> TrajectoryExpectation:
    """Return the static expectation, or the item's; for options the item's win, then ours."""
    base = static or item
    chosen = {}
    for name in _OPTIONS:
        values = (getattr(source, name) for source in (item, options, base))
        chosen[name] = next((value for value in values if value is not None), None)
    return base.model_copy(update=chosen)


class AccuracyScorer:
    """The accuracy as a scorer of trajectories."""

    name = "accuracy"
    description = "The comparison with the expected steps and with what is expected below them."

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation has steps."""
        return expectation.steps is not None

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; not evaluable without steps, or if unknown data decide."""
        if expectation.steps is None:
            return not_evaluable(self.name, trajectory, "the expectation has no steps")
        result = accuracy_of(trajectory, expectation)
        findings = find_everything(result, expectation, trajectory)
        return to_score(self.name, trajectory, result, findings)


SCORER = AccuracyScorer()
