"""Failed tool calls: what answered each of them, per agent run, and totals per tool.

One thing a newcomer would get wrong: two failures and a success are two retries, not three; and a
call whose outcome was not recorded is neither a success nor a failure.
"""

from __future__ import annotations

from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scorers import _mastra
from trajscope.scorers._failures import analyze, find_failures
from trajscope.scorers._inputs import (
    TrajectoryLike,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._results import ToolFailureResult
from trajscope.scorers._scored import to_score


@overload
def analyze_tool_failures(
    trajectory: TrajectoryLike,
    *,
    max_retries_per_tool: float | UnsetType | None = ...,
    compat: None = ...,
) -> ToolFailureResult: ...
@overload
def analyze_tool_failures(
    trajectory: TrajectoryLike, *, max_retries_per_tool: Any = ..., compat: Literal["mastra"]
) -> dict[str, Json]: ...
def analyze_tool_failures(
    trajectory: TrajectoryLike,
    *,
    max_retries_per_tool: float | UnsetType | None = UNSET,
    compat: Literal["mastra"] | None = None,
) -> ToolFailureResult | dict[str, Json]:
    """Return the failures of tool calls and what became of them.

    The score is 1, less the share of calls that failed and after which nothing worked (half of it
    for a call that another tool took over, since nobody can tell whether it did the same job), less
    0.2 for every retry of a tool beyond max_retries_per_tool (default 2).

    Raises:
        UsageError: an argument is malformed.

    >>> calls = [{"stepType": "tool_call", "name": "a", "success": ok} for ok in (False, True)]
    >>> analyze_tool_failures({"steps": calls}).patterns[0].type
    'retry'
    """
    if is_compat(compat):
        result = _mastra.analyze_tool_failures(
            _mastra.to_plain(trajectory),
            reference_options(max_retries_per_tool=max_retries_per_tool),
        )
        return cast("dict[str, Json]", result)
    expectation = to_expectation(None, max_retries_per_tool=max_retries_per_tool)
    return analyze(to_trajectory(trajectory), expectation)


class ToolFailureScorer:
    """Failures of tool calls as a scorer of trajectories."""

    name = "tool-failures"
    description = "Failed tool calls, and whether a retry, a correction or a fallback followed."
    statement = "scorers/tool_failures"
    not_asked = ""

    def applies(self, expectation: TrajectoryExpectation) -> bool:  # noqa: ARG002
        """Always: failures are worth knowing whatever is expected."""
        return True

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; not evaluable where no tool call has a known outcome."""
        result = analyze(trajectory, expectation)
        return to_score(self.name, trajectory, result, find_failures(result, trajectory))


SCORER = ToolFailureScorer()
