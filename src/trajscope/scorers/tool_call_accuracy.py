"""Tool-call accuracy: whether the tools that were expected were called, by name alone.

One thing a newcomer would get wrong: arguments and results are no matter here; that is what the
comparison is for. A call that was only requested is no call that was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from trajscope.errors import UsageError
from trajscope.evals.rebuilt import run_calls
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.match import compile_pattern, match_step
from trajscope.model.expectation import ExpectedStep, Ordering, TrajectoryExpectation
from trajscope.model.reading import TOOL_STEP_TYPES
from trajscope.model.score import Finding, Score
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.model.value import Value
from trajscope.scorers._align import Table, align_freely, align_in_order
from trajscope.scorers._inputs import is_compat, output_trajectory, reference_options
from trajscope.scorers._mastra import tool_calls
from trajscope.scorers._scored import not_evaluable, to_score


class ToolCallResult(Value):
    """Which of the expected tools were called.

    score: 1 or 0; None where nothing can be said. called: names of the calls that were made, in
    order. missing: expected tools without a call of their own; extra: calls nobody expected, which
    matter in strict order only.
    """

    score: float | None
    reason: str
    expected: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def tool_call_accuracy(
    trajectory: Trajectory, expected: Sequence[str], ordering: Ordering = "relaxed"
) -> ToolCallResult:
    """Return whether the expected tools were called: all (unordered), in order, or exactly.

    expected: names, globs or `re:` patterns; a tool that stands twice must be called twice. The
    calls are those the run's messages hold, so that trace and messages have one accuracy: a
    handoff is one (`transfer_to_x`), what a sub-agent did inside a tool call is none.

    >>> took = Trajectory(steps=())
    >>> tool_call_accuracy(took, ["search"]).score
    0.0
    """
    steps = [call for call in run_calls(trajectory) if call.executed]
    called = tuple(step.name for step in steps)
    pairs = _pairs(expected, steps, ordering)
    taken = set(pairs.values())
    missing = tuple(name for at, name in enumerate(expected) if at not in pairs)
    extra = tuple(step.name for at, step in enumerate(steps) if at not in taken)
    right = not missing and (ordering != "strict" or not extra)
    said = "the expected tools were called" if right else _wrong(missing, extra, ordering)
    return ToolCallResult(
        score=float(right),
        reason=said,
        expected=tuple(expected),
        called=called,
        missing=missing,
        extra=extra,
    )


def _pairs(
    expected: Sequence[str], steps: Sequence[BaseStep], ordering: Ordering
) -> dict[int, int]:
    """Return, by expected place, the call that serves it in the best alignment."""
    wanted = [ExpectedStep(name=name) for name in expected]
    if ordering == "strict":
        pairs = zip(wanted, steps, strict=False)
        return {at: at for at, (one, step) in enumerate(pairs) if match_step(one, step).holds}
    table = Table(wanted, steps, "ignore")
    return (align_freely if ordering == "unordered" else align_in_order)(table)[0]


def _wrong(missing: tuple[str, ...], extra: tuple[str, ...], ordering: Ordering) -> str:
    parts = [f"not called{' in order' if ordering != 'unordered' else ''}: {', '.join(missing)}"]
    if ordering == "strict" and extra:
        parts.append(f"not expected: {', '.join(extra)}")
    return "; ".join(parts if missing else parts[1:])


def create_tool_call_accuracy_scorer_code(
    *,
    expected_tool: str | UnsetType | None = UNSET,
    strict_mode: bool | UnsetType | None = UNSET,
    expected_tool_order: Sequence[str] | UnsetType | None = UNSET,
    compat: Literal["mastra"] | None = None,
) -> StepScorer:
    """Return the tool-call accuracy as a scorer of runs, whose output is messages or a trajectory.

    expected_tool: this tool was called; strict: it and nothing else. expected_tool_order: these
    were called in this order, others between them; strict: these and no others. The order wins
    where both are given. A run without output is not scorable.

    Raises:
        UsageError: neither is given, or an argument is malformed.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "search"}]}
    >>> create_tool_call_accuracy_scorer_code(expected_tool="search").run_sync(output=took).score
    1.0
    """
    if is_compat(compat):
        return tool_calls.create_tool_call_accuracy_scorer_code(
            reference_options(
                expected_tool=expected_tool,
                strict_mode=strict_mode,
                expected_tool_order=expected_tool_order,
            )
        )
    expected = _expected(expected_tool, expected_tool_order)
    ordering: Ordering = "strict" if strict_mode is True else "relaxed"

    def preprocess(context: StepContext) -> ToolCallResult:
        trajectory = output_trajectory(context.run.output)
        if trajectory is None:
            return ToolCallResult(score=None, reason="the run has no output")
        return tool_call_accuracy(trajectory, expected, ordering)

    def score(context: StepContext) -> Any:
        found: ToolCallResult = context.results["preprocess"]
        return not_scorable(found.reason) if found.score is None else found.score

    scorer = create_scorer(tool_calls.TOOL_CALL_ID, name="tool-call-accuracy")
    return (
        scorer.preprocess(preprocess)
        .generate_score(score)
        .generate_reason(lambda context: context.results["preprocess"].reason)
    )


def _expected(tool: Any, order: Any) -> tuple[str, ...]:
    if order is not None and order is not UNSET and order != []:
        names = order if isinstance(order, list | tuple) else [order]
    else:
        names = [] if tool is None or tool is UNSET else [tool]
    for name in names:
        if not isinstance(name, str) or not name:
            raise UsageError(f"expected tool: is no name (got {name!r:.80})")
        compile_pattern(name)
    if not names:
        raise UsageError(
            "neither expected_tool nor expected_tool_order was given; one was expected",
            hint='for example expected_tool="search"',
        )
    return tuple(names)


class ToolCallAccuracyScorer:
    """The tool-call accuracy as a scorer of trajectories: the tools among the expected steps."""

    name = "tool-call-accuracy"
    description = "Whether the expected tools were called, in the expected order, by name alone."

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation has a step that may be a tool."""
        return bool(_tools_of(expectation))

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return 1 or 0; not evaluable when no tool is expected or the trajectory has no steps."""
        expected = _tools_of(expectation)
        if not expected:
            return not_evaluable(
                self.name, trajectory, "the expectation has no tool among its steps"
            )
        if trajectory.root is None and not trajectory.steps:
            return not_evaluable(self.name, trajectory, "the trajectory has no steps")
        result = tool_call_accuracy(trajectory, expected, expectation.ordering or "relaxed")
        findings = []
        if not result.score:
            findings.append(
                Finding(rule=self.name, message=result.reason, trace_id=trajectory.trace_id)
            )
        return to_score(self.name, trajectory, result, findings)


def _tools_of(expectation: TrajectoryExpectation) -> list[str]:
    return [
        step.name
        for step in expectation.steps or ()
        if step.step_type is None or step.step_type in TOOL_STEP_TYPES
    ]


SCORER = ToolCallAccuracyScorer()
