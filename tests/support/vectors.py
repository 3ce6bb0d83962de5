"""Replay one recorded input of the reference through our code under `compat="mastra"`.

`replay` takes a line of a vector file (`fn`, `input`, `options`) and returns `{"output": …}` or
`{"error": …}`. A further function is one further entry of `_FUNCTIONS`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

from tests.support.judges import ScriptedJudge
from tests.support.programs import result_json, run_evaluation, run_program
from trajscope.assemble.mastra import extract_trajectory_from_records
from trajscope.errors import SpanError, TrajscopeError
from trajscope.evals import messages
from trajscope.evals.error import ScorerRunError
from trajscope.evals.runs import create_trajectory_test_run
from trajscope.evals.scorer import StepScorer
from trajscope.match.js import UNDEFINED, MalformedValue
from trajscope.model.judge import JudgeError
from trajscope.scorers.accuracy import create_trajectory_accuracy_scorer_code
from trajscope.scorers.accuracy_judge import create_trajectory_accuracy_scorer_llm
from trajscope.scorers.blacklist import check_trajectory_blacklist
from trajscope.scorers.comparison import compare_trajectories
from trajscope.scorers.efficiency import check_trajectory_efficiency
from trajscope.scorers.tool_call_accuracy import create_tool_call_accuracy_scorer_code
from trajscope.scorers.tool_failures import analyze_tool_failures
from trajscope.scorers.trajectory import create_trajectory_scorer_code

Json = Any
Replay = Callable[[Json, Json], Json]


def replay(vector: dict[str, Json]) -> dict[str, Json]:
    """Return what our code answers to the recorded input."""
    value = decode(vector["input"])
    options = decode(vector["options"]) if "options" in vector else UNDEFINED
    try:
        return {"output": encode(_FUNCTIONS[vector["fn"]](value, options))}
    except ScorerRunError as error:
        return {"error": _run_error(error)}
    except TrajscopeError as error:
        return {"error": _error(error)}


def decode(value: Json) -> Json:
    """Return the value a vector's JSON stands for; undefined members are left out."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$undef"}:
        return UNDEFINED
    if value.keys() == {"$num"}:
        return float(value["$num"].replace("Infinity", "inf"))
    if value.keys() == {"$date"}:
        return value["$date"]
    decoded = {key: decode(item) for key, item in value.items()}
    return {key: item for key, item in decoded.items() if item is not UNDEFINED}


def encode(value: Json) -> Json:
    """Return a result in the encoding of the vectors."""
    if isinstance(value, dict):
        return {k: encode(item) for k, item in value.items() if item is not UNDEFINED}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if value is UNDEFINED:
        return {"$undef": True}
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return {"$num": {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]}
    return value


def _extract(spans: Json, options: Json) -> Json:
    root = options.get("rootSpanId") if options is not UNDEFINED else None
    return extract_trajectory_from_records(spans, root)


def _options(function: Callable[..., Json], options: Json) -> dict[str, Json]:
    """Return the options as keywords; those we do not know are dropped, as the reference does."""
    if options is UNDEFINED:
        return {}
    known = inspect.signature(function).parameters
    if not isinstance(options, dict):
        raise MalformedValue(f"the options are no object (got {options!r})")
    snake = {re.sub(r"(?=[A-Z])", "_", key).lower(): value for key, value in options.items()}
    return {key: value for key, value in snake.items() if key in known and key != "compat"}


def _check(function: Callable[..., Json]) -> Replay:
    def run(value: Json, options: Json) -> Json:
        return function(value, **_options(function, options), compat="mastra")

    return run


def _compare(value: Json, options: Json) -> Json:
    return compare_trajectories(
        value["actual"],
        value["expected"],
        **_options(compare_trajectories, options),
        compat="mastra",
    )


def _scorer_run(factory: Callable[..., StepScorer]) -> Replay:
    def run(value: Json, options: Json) -> Json:
        scorer = factory(**_options(factory, options), compat="mastra")
        result = scorer.run_sync(create_trajectory_test_run(value, compat="mastra"))
        return {"score": result.score, "preprocess": result.results["preprocess"]}

    return run


def _accuracy_run(value: Json, options: Json) -> Json:
    run = _scorer_run(create_trajectory_accuracy_scorer_code)(value, options)
    return {**run, "noExpectation": "comparison" not in run["preprocess"]}


def _tool_calls(value: Json, options: Json) -> Json:
    given = _options(create_tool_call_accuracy_scorer_code, options)
    result = create_tool_call_accuracy_scorer_code(**given, compat="mastra").run_sync(value)
    return {"score": result.score, "preprocess": result.results["preprocess"]}


def _judged_run(value: Json, options: Json) -> Json:
    analysis = json.dumps(value["analysis"])
    script = [{"text": analysis}, {"text": "because"}]
    scorer = create_trajectory_accuracy_scorer_llm(
        judge=ScriptedJudge(script),
        **_options(create_trajectory_accuracy_scorer_llm, options),
        compat="mastra",
    )
    run = {"input": value["input"], "output": value["trajectory"], "runId": "r"}
    if "expectedTrajectory" in value:
        run["expectedTrajectory"] = value["expectedTrajectory"]
    result = scorer.run_sync(run)
    found = result.results["preprocess"]
    return {
        "score": result.score,
        "hasSteps": found["hasSteps"],
        "hasExpected": found.get("hasExpected", False),
        "reason": result.reason,
        "judgeKeys": sorted(result.to_json()["judge"]),
    }


def _message(function: Callable[..., Json]) -> Callable[[Json, Json], Json]:
    """Return a message helper that takes its options by keyword; its None is undefined."""

    def call(value: Json, options: Json) -> Json:
        given = {} if options is UNDEFINED else options
        more = {_OPTIONS[name]: given[name] for name in _OPTIONS if name in given}
        found = function(value, **more, compat="mastra")
        return UNDEFINED if found is None else found

    return call


_OPTIONS = {"maxMessages": "max_messages", "stepExecutionPath": "step_execution_path"}

_MESSAGE_HELPERS: dict[str, Callable[[Json, Json], Json]] = {
    "getAssistantMessageFromRunOutput": _message(messages.get_assistant_message_from_run_output),
    "getUserMessageFromRunInput": _message(messages.get_user_message_from_run_input),
    "getReasoningFromRunOutput": _message(messages.get_reasoning_from_run_output),
    "getSystemMessagesFromRunInput": _message(messages.get_system_messages_from_run_input),
    "getCombinedSystemPrompt": _message(messages.get_combined_system_prompt),
    "getConversationHistoryFromRunInput": _message(
        messages.get_conversation_history_from_run_input
    ),
    "getTextContentFromMastraDBMessage": _message(messages.get_text_content),
    "extractInputMessages": _message(messages.extract_input_messages),
    "extractAgentResponseMessages": _message(messages.extract_agent_response_messages),
    "mergeToolInvocations": _message(messages.merge_tool_invocations),
    "extractToolCalls": _message(messages.extract_tool_calls),
    "extractToolResults": _message(messages.extract_tool_results),
    "extractTrajectory": _message(messages.extract_trajectory),
    "extractWorkflowTrajectory": _message(messages.extract_workflow_trajectory),
    "createToolInvocation": _message(messages.create_tool_invocation),
    "createTestMessage": _message(messages.create_test_message),
    "createAgentTestRun": _message(messages.create_agent_test_run),
    "isScorerRunInputForAgent": _message(messages.is_scorer_run_input_for_agent),
    "isScorerRunOutputForAgent": _message(messages.is_scorer_run_output_for_agent),
    "roundToTwoDecimals": _message(messages.round_to_two_decimals),
}

_FUNCTIONS: dict[str, Replay] = {
    "extractTrajectoryFromTrace": _extract,
    "compareTrajectories": _compare,
    "checkTrajectoryEfficiency": _check(check_trajectory_efficiency),
    "checkTrajectoryBlacklist": _check(check_trajectory_blacklist),
    "analyzeToolFailures": _check(analyze_tool_failures),
    "createTrajectoryScorerCode": _scorer_run(create_trajectory_scorer_code),
    "createTrajectoryAccuracyScorerCode": _accuracy_run,
    "createTrajectoryTestRun": lambda value, _: create_trajectory_test_run(value, compat="mastra"),
    "createToolCallAccuracyScorerCode": _tool_calls,
    "createTrajectoryAccuracyScorerLLM": _judged_run,
    "scorerRun": lambda value, _: run_program(value),
    "runEvals": lambda value, _: run_evaluation(value),
    **_MESSAGE_HELPERS,
}
"""The reference's functions by name, each with our code for it."""


def _error(error: BaseException) -> dict[str, Json]:
    if isinstance(error, SpanError):
        kind = "stack_overflow" if "below itself" in str(error) else "type_error"
        return {"type": "Error", "kind": kind}
    if isinstance(error, MalformedValue):
        return {"type": "TypeError", "kind": "type_error"}
    if isinstance(error, JudgeError) and error.facts.code == "format":
        return {"type": "Error", "kind": "structured_output_invalid"}
    found = {"type": "Error", "kind": getattr(error, "kind", "error")}
    for key in ("step", "field"):
        value = getattr(error, key, None)
        if value is not None and value is not UNDEFINED:
            found[key] = value
    return found


def _run_error(error: ScorerRunError) -> dict[str, Json]:
    assert error.__cause__ is not None
    found: dict[str, Json] = {
        "type": "ScorerRunError",
        "failedStep": error.failed_step,
        "completedSteps": list(error.completed_steps),
        "details": error.details,
        "cause": _error(error.__cause__),
    }
    if error.result is not None:
        found["result"] = encode(result_json(error.result))
    return found
