"""Tool-call accuracy by a judge: was each tool call appropriate, and was a needed one missing.

One thing a newcomer would get wrong: a run without tool calls is judged too, since the judge may
find that one was needed; the score is then 0 or 1 by what it found, never by the absence alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from trajscope.evals.fence import fenced
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.ports import Judge
from trajscope.scorers._inputs import is_compat, output_trajectory
from trajscope.scorers._judged import (
    INSTRUCTIONS,
    CallsVerdict,
    JudgedScorer,
    answer_section,
    kept,
    question,
    request_section,
    trajectory_section,
)

JUDGED_ID = "llm-tool-call-accuracy-scorer"
_TASK = (
    "Judge the tool calls of <trajectory>. Say of each call, by its number, whether the tool was "
    "appropriate for what was asked, and name the tools that were needed and not called. Where "
    "there is <tools>, only these were available; <answer> is what the agent said at the end."
)


def create_tool_call_accuracy_scorer_llm(
    *,
    judge: Judge | str | None = None,
    available_tools: Sequence[Mapping[str, Any]] = (),
    compat: Literal["mastra"] | None = None,
) -> StepScorer:
    """Return the tool-call accuracy by a judge, as a scorer of runs.

    available_tools: the tools the agent had, as `{"name", "description"}`. The score is the share
    of appropriate calls among the calls and the missing tools. Under compat it is the share of
    appropriate calls, and without calls 0 if a tool is missing, else 1, as the reference's.

    Raises:
        UsageError: an argument is malformed.
    """
    reference = is_compat(compat)

    def preprocess(context: StepContext) -> Any:
        trajectory = output_trajectory(context.run["output"])
        if trajectory is None:
            return not_scorable("the run has no output")
        section, shown = trajectory_section(trajectory, tools_only=True)
        tools = fenced("tools", list(available_tools)) if available_tools else ""
        sections = (
            request_section(context.run.get("input")),
            tools,
            section,
            answer_section(trajectory),
        )
        return {"shown": shown, "prompt": question(_TASK, *sections)}

    def score(context: StepContext) -> Any:
        shown = context.results["preprocess"]["shown"]
        verdict: CallsVerdict = context.results["analyze"]
        right = sum(call.appropriate for call in verdict.calls)
        if reference:
            return right / len(verdict.calls) if verdict.calls else float(not verdict.missing_tools)
        if not kept([call.number for call in verdict.calls], shown):
            return not_scorable("the judge did not speak of every call, each once")
        total = shown + len(verdict.missing_tools)
        return right / total if total else 1.0

    scorer = create_scorer(JUDGED_ID, judge=judge, instructions=INSTRUCTIONS, compat=compat)
    return (
        scorer.preprocess(preprocess)
        .analyze(
            create_prompt=lambda context: context.results["preprocess"]["prompt"],
            output_schema=CallsVerdict,
        )
        .generate_score(score)
        .generate_reason(lambda context: _reason(context.results["analyze"]))
    )


def _reason(verdict: CallsVerdict) -> str:
    wrong = [
        f"call {call.number}: {call.reasoning}" for call in verdict.calls if not call.appropriate
    ]
    wrong += [f"not called: {name}" for name in verdict.missing_tools]
    return "; ".join(wrong) or "every call was appropriate and none is missing"


SCORER = JudgedScorer(
    "tool-call-accuracy-judge",
    "A judge's opinion of every tool call: appropriate, and which were missing (needs --judge).",
    lambda judge: create_tool_call_accuracy_scorer_llm(judge=judge),
)
