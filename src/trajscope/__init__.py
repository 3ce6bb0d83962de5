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
    from trajscope.evals.engine import TargetCall
    from trajscope.evals.error import ScorerRunError
    from trajscope.evals.evaluated import EvalsResult
    from trajscope.evals.expectations import load_expectations
    from trajscope.evals.fence import fenced
    from trajscope.evals.material import TargetReply
    from trajscope.evals.messages import (
        create_agent_test_run,
        create_test_message,
        create_tool_invocation,
        extract_agent_response_messages,
        extract_input_messages,
        extract_tool_calls,
        extract_tool_results,
        extract_trajectory,
        extract_workflow_trajectory,
        get_assistant_message_from_run_output,
        get_combined_system_prompt,
        get_conversation_history_from_run_input,
        get_reasoning_from_run_output,
        get_system_messages_from_run_input,
        get_text_content,
        get_user_message_from_run_input,
        is_scorer_run_input_for_agent,
        is_scorer_run_output_for_agent,
        merge_tool_invocations,
        round_to_two_decimals,
    )
    from trajscope.evals.runs import create_trajectory_test_run
    from trajscope.evals.scorer import StepContext, create_scorer, not_scorable
    from trajscope.judges import resolve_judge
    from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation
    from trajscope.model.judge import JudgeReply, JudgeRequest
    from trajscope.model.score import Finding, Score
    from trajscope.model.span import Span
    from trajscope.model.step import Step
    from trajscope.model.trajectory import Trajectory
    from trajscope.pipeline.evals import run_evals, run_evals_sync
    from trajscope.pipeline.extract import extract_trajectory_from_trace
    from trajscope.rules import audit_rule, audit_traces, load_policy
    from trajscope.scope import merge_session
    from trajscope.scorers.accuracy import create_trajectory_accuracy_scorer_code
    from trajscope.scorers.accuracy_judge import create_trajectory_accuracy_scorer_llm
    from trajscope.scorers.blacklist import check_trajectory_blacklist
    from trajscope.scorers.comparison import compare_trajectories
    from trajscope.scorers.efficiency import check_trajectory_efficiency
    from trajscope.scorers.tool_call_accuracy import create_tool_call_accuracy_scorer_code
    from trajscope.scorers.tool_call_accuracy_judge import create_tool_call_accuracy_scorer_llm
    from trajscope.scorers.tool_failures import analyze_tool_failures
    from trajscope.scorers.trajectory import create_trajectory_scorer_code
    from trajscope.store import Store
    from trajscope.telemetry.exporter import TrajectoryExporter
    from trajscope.tree import build_forests

_HOMES = {
    "EvalsResult": "evals.evaluated",
    "ExpectedStep": "model.expectation",
    "Finding": "model.score",
    "JudgeReply": "model.judge",
    "JudgeRequest": "model.judge",
    "Reader": "conventions",
    "Score": "model.score",
    "ScorerRunError": "evals.error",
    "Span": "model.span",
    "Step": "model.step",
    "StepContext": "evals.scorer",
    "Store": "store",
    "TargetCall": "evals.engine",
    "TargetReply": "evals.material",
    "Trajectory": "model.trajectory",
    "TrajectoryExpectation": "model.expectation",
    "TrajectoryExporter": "telemetry.exporter",
    "TrajscopeError": "errors",
    "analyze_tool_failures": "scorers.tool_failures",
    "assemble_traces": "assemble",
    "audit_rule": "rules",
    "audit_traces": "rules",
    "build_forests": "tree",
    "check_trajectory_blacklist": "scorers.blacklist",
    "check_trajectory_efficiency": "scorers.efficiency",
    "compare_trajectories": "scorers.comparison",
    "create_agent_test_run": "evals.messages",
    "create_scorer": "evals.scorer",
    "create_test_message": "evals.messages",
    "create_tool_call_accuracy_scorer_code": "scorers.tool_call_accuracy",
    "create_tool_call_accuracy_scorer_llm": "scorers.tool_call_accuracy_judge",
    "create_tool_invocation": "evals.messages",
    "create_trajectory_accuracy_scorer_code": "scorers.accuracy",
    "create_trajectory_accuracy_scorer_llm": "scorers.accuracy_judge",
    "create_trajectory_scorer_code": "scorers.trajectory",
    "create_trajectory_test_run": "evals.runs",
    "extract_agent_response_messages": "evals.messages",
    "extract_input_messages": "evals.messages",
    "extract_tool_calls": "evals.messages",
    "extract_tool_results": "evals.messages",
    "extract_trajectory": "evals.messages",
    "extract_trajectory_from_trace": "pipeline.extract",
    "extract_workflow_trajectory": "evals.messages",
    "fenced": "evals.fence",
    "get_assistant_message_from_run_output": "evals.messages",
    "get_combined_system_prompt": "evals.messages",
    "get_conversation_history_from_run_input": "evals.messages",
    "get_reasoning_from_run_output": "evals.messages",
    "get_system_messages_from_run_input": "evals.messages",
    "get_text_content": "evals.messages",
    "get_user_message_from_run_input": "evals.messages",
    "is_scorer_run_input_for_agent": "evals.messages",
    "is_scorer_run_output_for_agent": "evals.messages",
    "load_expectations": "evals.expectations",
    "load_policy": "rules",
    "merge_session": "scope",
    "merge_tool_invocations": "evals.messages",
    "not_scorable": "evals.scorer",
    "resolve_judge": "judges",
    "round_to_two_decimals": "evals.messages",
    "run_evals": "pipeline.evals",
    "run_evals_sync": "pipeline.evals",
}
"""Where each public name lives."""

__all__ = [
    "EvalsResult",
    "ExpectedStep",
    "Finding",
    "JudgeReply",
    "JudgeRequest",
    "Reader",
    "Score",
    "ScorerRunError",
    "Span",
    "Step",
    "StepContext",
    "Store",
    "TargetCall",
    "TargetReply",
    "Trajectory",
    "TrajectoryExpectation",
    "TrajectoryExporter",
    "TrajscopeError",
    "analyze_tool_failures",
    "assemble_traces",
    "audit_rule",
    "audit_traces",
    "build_forests",
    "check_trajectory_blacklist",
    "check_trajectory_efficiency",
    "compare_trajectories",
    "create_agent_test_run",
    "create_scorer",
    "create_test_message",
    "create_tool_call_accuracy_scorer_code",
    "create_tool_call_accuracy_scorer_llm",
    "create_tool_invocation",
    "create_trajectory_accuracy_scorer_code",
    "create_trajectory_accuracy_scorer_llm",
    "create_trajectory_scorer_code",
    "create_trajectory_test_run",
    "extract_agent_response_messages",
    "extract_input_messages",
    "extract_tool_calls",
    "extract_tool_results",
    "extract_trajectory",
    "extract_trajectory_from_trace",
    "extract_workflow_trajectory",
    "fenced",
    "get_assistant_message_from_run_output",
    "get_combined_system_prompt",
    "get_conversation_history_from_run_input",
    "get_reasoning_from_run_output",
    "get_system_messages_from_run_input",
    "get_text_content",
    "get_user_message_from_run_input",
    "is_scorer_run_input_for_agent",
    "is_scorer_run_output_for_agent",
    "load_expectations",
    "load_policy",
    "merge_session",
    "merge_tool_invocations",
    "not_scorable",
    "resolve_judge",
    "round_to_two_decimals",
    "run_evals",
    "run_evals_sync",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'trajscope' has no attribute {name!r}")
    value = getattr(import_module(f"trajscope.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
