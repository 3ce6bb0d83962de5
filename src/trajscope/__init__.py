"""trajscope: what an agent did, whether it was right, and whether it did what it must never do.

One thing a newcomer would get wrong: the names below are imported when they are first used, so
that `import trajscope` costs nothing and `trajscope --help` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajscope.assemble import assemble_traces
    from trajscope.conventions import Reader
    from trajscope.errors import TrajscopeError
    from trajscope.evals.error import ScorerRunError
    from trajscope.evals.expectations import load_expectations
    from trajscope.evals.runs import create_trajectory_test_run
    from trajscope.evals.scorer import create_scorer
    from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation
    from trajscope.model.score import Finding, Score
    from trajscope.model.span import Span
    from trajscope.model.step import Step
    from trajscope.model.trajectory import Trajectory
    from trajscope.pipeline.extract import extract_trajectory_from_trace
    from trajscope.scope import merge_session
    from trajscope.scorers.accuracy import create_trajectory_accuracy_scorer_code
    from trajscope.scorers.blacklist import check_trajectory_blacklist
    from trajscope.scorers.comparison import compare_trajectories
    from trajscope.scorers.efficiency import check_trajectory_efficiency
    from trajscope.scorers.tool_failures import analyze_tool_failures
    from trajscope.scorers.trajectory import create_trajectory_scorer_code
    from trajscope.store import Store
    from trajscope.tree import build_forests

_HOMES = {
    "ExpectedStep": "model.expectation",
    "Finding": "model.score",
    "Reader": "conventions",
    "Score": "model.score",
    "ScorerRunError": "evals.error",
    "Span": "model.span",
    "Step": "model.step",
    "Store": "store",
    "Trajectory": "model.trajectory",
    "TrajectoryExpectation": "model.expectation",
    "TrajscopeError": "errors",
    "analyze_tool_failures": "scorers.tool_failures",
    "assemble_traces": "assemble",
    "build_forests": "tree",
    "check_trajectory_blacklist": "scorers.blacklist",
    "check_trajectory_efficiency": "scorers.efficiency",
    "compare_trajectories": "scorers.comparison",
    "create_scorer": "evals.scorer",
    "create_trajectory_accuracy_scorer_code": "scorers.accuracy",
    "create_trajectory_scorer_code": "scorers.trajectory",
    "create_trajectory_test_run": "evals.runs",
    "extract_trajectory_from_trace": "pipeline.extract",
    "load_expectations": "evals.expectations",
    "merge_session": "scope",
}
"""Where each public name lives."""

__all__ = [
    "ExpectedStep",
    "Finding",
    "Reader",
    "Score",
    "ScorerRunError",
    "Span",
    "Step",
    "Store",
    "Trajectory",
    "TrajectoryExpectation",
    "TrajscopeError",
    "analyze_tool_failures",
    "assemble_traces",
    "build_forests",
    "check_trajectory_blacklist",
    "check_trajectory_efficiency",
    "compare_trajectories",
    "create_scorer",
    "create_trajectory_accuracy_scorer_code",
    "create_trajectory_scorer_code",
    "create_trajectory_test_run",
    "extract_trajectory_from_trace",
    "load_expectations",
    "merge_session",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'trajscope' has no attribute {name!r}")
    value = getattr(import_module(f"trajscope.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
