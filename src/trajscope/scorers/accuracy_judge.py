"""Trajectory accuracy by a judge: was each step needed, at a sensible place, and was none missing.

One thing a newcomer would get wrong: a judge that speaks of other steps than it was shown has not
judged this run; that is no score.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.ports import Judge
from trajscope.scorers._inputs import (
    ExpectationLike,
    is_compat,
    output_trajectory,
    reference_options,
    to_expectation,
)
from trajscope.scorers._judged import (
    INSTRUCTIONS,
    JudgedScorer,
    TrajectoryVerdict,
    answer_section,
    expected_section,
    kept,
    question,
    request_section,
    share,
    trajectory_section,
)
from trajscope.scorers._mastra import judged

_TASK = (
    "Judge the steps of <trajectory>: what the agent did, in order. Say of each step, by its "
    "number, whether it was necessary and in order, and name what is missing. Where there is "
    "<expected>, that is how it should have been done; where there is <request>, that is what the "
    "agent was asked; where there is <answer>, that is what it said at the end."
)


def create_trajectory_accuracy_scorer_llm(
    *,
    judge: Judge | str | None = None,
    expected_trajectory: ExpectationLike | UnsetType | None = UNSET,
    compat: Literal["mastra"] | None = None,
) -> StepScorer:
    """Return the trajectory accuracy by a judge, as a scorer of runs.

    judge: who judges, a `Judge` or a model's name. expected_trajectory: how it should have been
    done; else the run's own, else the judge goes by the request alone. The score is (0.6 x the
    share of necessary steps + 0.4 x the share of steps in order) x n / (n + missing) over n steps.

    Raises:
        UsageError: an argument is malformed.
    """
    if is_compat(compat):
        options = reference_options(expected_trajectory=expected_trajectory)
        return judged.create_trajectory_accuracy_scorer_llm(judge, options)
    static = None if expected_trajectory in (None, UNSET) else to_expectation(expected_trajectory)

    def preprocess(context: StepContext) -> Any:
        trajectory = output_trajectory(context.run.output)
        if trajectory is None or (trajectory.root is None and not trajectory.steps):
            return not_scorable("the trajectory has no steps")
        expectation = static or to_expectation(context.run.expected_trajectory)
        section, shown = trajectory_section(trajectory, tools_only=False)
        asked = (request_section(context.run.input), expected_section(expectation))
        sections = (*asked, section, answer_section(trajectory))
        return {"shown": shown, "prompt": question(_TASK, *sections)}

    def score(context: StepContext) -> Any:
        shown = context.results["preprocess"]["shown"]
        verdict: TrajectoryVerdict = context.results["analyze"]
        if not kept([step.number for step in verdict.steps], shown):
            return not_scorable("the judge did not speak of every step, each once")
        necessary = share(sum(step.necessary for step in verdict.steps), shown)
        in_order = share(sum(step.in_order for step in verdict.steps), shown)
        return (0.6 * necessary + 0.4 * in_order) * share(shown, shown + len(verdict.missing))

    scorer = create_scorer(
        judged.JUDGED_ID, name="accuracy-judge", judge=judge, instructions=INSTRUCTIONS
    )
    return (
        scorer.preprocess(preprocess)
        .analyze(
            create_prompt=lambda context: context.results["preprocess"]["prompt"],
            output_schema=TrajectoryVerdict,
        )
        .generate_score(score)
        .generate_reason(lambda context: context.results["analyze"].assessment)
    )


SCORER = JudgedScorer(
    "accuracy-judge",
    "A judge's opinion of every step: necessary, in order, and what is missing (needs --judge).",
    lambda judge: create_trajectory_accuracy_scorer_llm(judge=judge),
)
