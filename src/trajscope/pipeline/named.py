"""Scorers of trajectories, by name or as plug-ins, as scorers of runs.

One thing a newcomer would get wrong: the score of None that a scorer of trajectories gives is a
run that is not scorable, with the same reason.
"""

from __future__ import annotations

from typing import Any

from trajscope.evals.scorer import NotScorable, StepContext, StepScorer, create_scorer, not_scorable
from trajscope.model.score import Score
from trajscope.pipeline.scoring import chosen_scorers
from trajscope.ports import Scorer
from trajscope.scorers._inputs import to_expectation, to_trajectory


def step_scorer(value: Any) -> StepScorer[Any, Any] | None:
    """Return the scorer of runs for a name or a scorer of trajectories; None: it is neither.

    Raises:
        UsageError: no scorer has this name.

    >>> step_scorer("tool-failures").type
    'trajectory'
    """
    if isinstance(value, str):
        (value,) = chosen_scorers([value])
    if not hasattr(value, "score") or not hasattr(value, "applies"):
        return None
    scorer: Scorer = value

    async def preprocess(context: StepContext[None, None]) -> Score:
        trajectory = to_trajectory(context.run.output)
        expectation = to_expectation(context.run.expected_trajectory)
        later = getattr(scorer, "score_later", None)  # of one that waits for a judge
        found: Score = (
            scorer.score(trajectory, expectation)
            if later is None
            else await later(trajectory, expectation)
        )
        return found

    def generate_score(context: StepContext[Score, None]) -> float | NotScorable:
        found = context.results.preprocess
        return not_scorable(found.reason) if found.value is None else found.value

    return (
        create_scorer(scorer.name, description=scorer.description, type="trajectory")
        .preprocess(preprocess)
        .generate_score(generate_score)
        .generate_reason(lambda context: context.results.preprocess.reason)
    )
