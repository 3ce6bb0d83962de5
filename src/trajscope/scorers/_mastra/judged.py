"""The reference's trajectory accuracy scorer by a judge.

One thing a newcomer would get wrong: what the judge is asked is part of the behaviour. A verdict
depends on it word by word, so under compat the question without an expectation is put as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictBool, StrictStr

from trajscope.evals.messages import (
    get_assistant_message_from_run_output,
    get_user_message_from_run_input,
)
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer
from trajscope.match.js import UNDEFINED, elements, member, round2, truthy
from trajscope.ports import Judge
from trajscope.scorers._mastra.accuracy import expected_steps
from trajscope.scorers._mastra.plain import to_plain

Json = Any

JUDGED_ID = "llm-trajectory-accuracy-scorer"

_QUESTION = """
You are evaluating whether an AI agent took an appropriate sequence of actions to fulfill a user \
request.

USER REQUEST: "{request}"
AGENT FINAL RESPONSE: "{answer}"

ACTUAL TRAJECTORY (sequence of actions the agent took):
{actual}

EVALUATION CRITERIA (no expected trajectory provided - evaluate based on the task):
1. COMPLETENESS: Did the agent take all necessary steps to fulfill the request?
2. EFFICIENCY: Were there any redundant or unnecessary steps?
3. ORDERING: Were the steps in a logical order given their dependencies?
4. APPROPRIATENESS: Was each step appropriate for the task?

Evaluate each step and the overall trajectory quality.
"""
_EXPECTED = "\nEXPECTED TRAJECTORY:\n{expected}\n\nCompare the two, step by step and as a whole.\n"


class StepVerdict(BaseModel):
    """What the judge says of one step, in the reference's words."""

    model_config = ConfigDict(extra="ignore")

    stepName: StrictStr  # noqa: N815 - the reference's names
    wasNecessary: StrictBool  # noqa: N815
    wasInOrder: StrictBool  # noqa: N815
    reasoning: StrictStr


class Analysis(BaseModel):
    """What the judge answers, in the reference's words."""

    model_config = ConfigDict(extra="ignore")

    stepEvaluations: list[StepVerdict]  # noqa: N815
    missingSteps: list[StrictStr] | None = None  # noqa: N815
    extraSteps: list[StrictStr] | None = None  # noqa: N815
    overallAssessment: StrictStr  # noqa: N815


def create_trajectory_accuracy_scorer_llm(
    judge: Judge | str | None, options: Json = UNDEFINED
) -> StepScorer:
    """Return the reference's trajectory accuracy scorer by a judge."""
    options = {} if options is UNDEFINED else options
    static = to_plain(member(options, "expectedTrajectory"))

    def preprocess(context: StepContext) -> Json:
        output = to_plain(context.run.get("output", UNDEFINED))
        steps = elements(member(output, "steps"), "steps")
        found = {
            "actualTrajectory": output,
            "actualTrajectoryFormatted": _listed(steps),
            "hasSteps": len(steps) > 0,
        }
        expected = _expected(static, to_plain(context.run.get("expectedTrajectory", UNDEFINED)))
        if expected is not None:
            found |= {"expectedTrajectory": {"steps": expected}, "hasExpected": True}
            found["expectedTrajectoryFormatted"] = _listed(expected)
        return found

    def question(context: StepContext) -> str:
        found = context.results["preprocess"]
        run_input = context.run.get("input", UNDEFINED)
        raw = member(found["actualTrajectory"], "rawOutput")
        answer = (
            None
            if raw is UNDEFINED
            else get_assistant_message_from_run_output(raw, compat="mastra")
        )
        asked = _QUESTION.format(
            request=get_user_message_from_run_input(run_input, compat="mastra") or "",
            answer=answer or "",
            actual=found["actualTrajectoryFormatted"],
        )
        expected = found.get("expectedTrajectoryFormatted")
        return asked if expected is None else asked + _EXPECTED.format(expected=expected)

    def score(context: StepContext) -> float:
        return judged_score(context.results["analyze"])

    scorer = create_scorer(id=JUDGED_ID, judge=judge, compat="mastra").preprocess(preprocess)
    return (
        scorer.analyze(create_prompt=question, output_schema=Analysis)
        .generate_score(score)
        .generate_reason(create_prompt=lambda c: f"Say in a sentence or two why: {c.score}")
    )


def _expected(static: Json, item: Json) -> list[Json] | None:
    steps = expected_steps(static)
    if steps is None and item is not UNDEFINED and item is not None:
        own = member(item, "steps")
        steps = elements(own, "expectedTrajectory.steps") if truthy(own) else None
        return steps or None
    return steps


def _listed(steps: list[Json]) -> str:
    return "\n".join(
        f"{number}. [{_shown(step, 'stepType')}] {_shown(step, 'name')}"
        for number, step in enumerate(steps, start=1)
    )


def _shown(step: Json, name: str) -> str:
    value = step.get(name) if isinstance(step, Mapping) else None
    return "unknown" if value is None else str(value)


def judged_score(analysis: Any) -> float:
    """Return the reference's score of an analysis."""
    verdicts = analysis.stepEvaluations
    missing = len(analysis.missingSteps or ())
    if not verdicts:
        return 0 if missing else 0.5 if analysis.extraSteps else 1
    total = len(verdicts)
    necessary = sum(v.wasNecessary for v in verdicts) / total
    in_order = sum(v.wasInOrder for v in verdicts) / total
    found = 0.6 * necessary + 0.3 * in_order - 0.1 * missing / (total + missing)
    return round2(min(max(found, 0), 1))
