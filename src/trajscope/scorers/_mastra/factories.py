"""The reference's two scorers by code, as step scorers under `compat="mastra"`.

One thing a newcomer would get wrong: these judge a *run* (`output` is the trajectory,
`expectedTrajectory` the expectation); the functions they use judge plain values.
"""

from __future__ import annotations

from typing import Any

from trajscope.evals.scorer import StepContext, StepScorer, create_scorer
from trajscope.match.js import UNDEFINED, given, member
from trajscope.scorers._mastra import accuracy, unified
from trajscope.scorers._mastra.plain import to_plain

Json = Any

UNIFIED_ID = "code-trajectory-scorer"
ACCURACY_ID = "code-trajectory-accuracy-scorer"


def create_trajectory_scorer_code(options: Json = UNDEFINED) -> StepScorer:
    """Return the reference's unified trajectory scorer."""
    options = {} if options is UNDEFINED else options
    defaults = to_plain(given(member(options, "defaults"), {}))
    weights = unified.weights_of(member(options, "weights"))

    def preprocess(context: StepContext) -> Json:
        return unified.preprocess(_output(context), defaults, _item(context), weights)

    def score(context: StepContext) -> Json:
        return unified.final_score(context.results["preprocess"], weights)

    def reason(context: StepContext) -> str:
        return unified.reason(context.results["preprocess"], context.score)

    return _assembled(UNIFIED_ID, preprocess, score, reason)


def create_trajectory_accuracy_scorer_code(options: Json = UNDEFINED) -> StepScorer:
    """Return the reference's trajectory accuracy scorer."""
    options = {} if options is UNDEFINED else options
    static = to_plain(member(options, "expectedTrajectory"))
    comparison = member(options, "comparisonOptions")

    def preprocess(context: StepContext) -> Json:
        return accuracy.preprocess(_output(context), static, _item(context), comparison)

    def score(context: StepContext) -> Json:
        results = context.results["preprocess"]
        return results["comparison"]["score"] if "comparison" in results else 0

    def reason(context: StepContext) -> str:
        return accuracy.reason(context.results["preprocess"], context.score)

    return _assembled(ACCURACY_ID, preprocess, score, reason)


def _assembled(scorer_id: str, preprocess: Any, score: Any, reason: Any) -> StepScorer:
    scorer = create_scorer(id=scorer_id, compat="mastra")
    return scorer.preprocess(preprocess).generate_score(score).generate_reason(reason)


def _output(context: StepContext) -> Json:
    return to_plain(context.run.get("output", UNDEFINED))


def _item(context: StepContext) -> Json:
    return to_plain(context.run.get("expectedTrajectory", UNDEFINED))
