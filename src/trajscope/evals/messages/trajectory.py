"""The trajectory of an agent's output messages: its tool calls, in order.

One thing a newcomer would get wrong: messages know less than a trace. Times, model calls and tokens
are unknown here, not zero; and a call without an answer is unknown, not failed.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from msgspec import UNSET

from trajscope.evals._mastra import tools as mastra
from trajscope.evals.adapters import plain
from trajscope.evals.messages._calls import Call, calls_in
from trajscope.evals.scorer import Compat, check_compat
from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory
from trajscope.names import mcp_parts


@overload
def extract_trajectory(messages: Any, *, compat: None = None) -> Trajectory: ...
@overload
def extract_trajectory(messages: Any, *, compat: Literal["mastra"]) -> dict[str, Json]: ...
@overload
def extract_trajectory(messages: Any, *, compat: Compat | None) -> Any: ...


def extract_trajectory(messages: Any, *, compat: Compat | None = None) -> Any:
    """Return the trajectory of an agent's output messages; under compat the reference's JSON.

    Prefer the trace where there is one. A bare text is refused: it cannot say that no tool was
    called.

    Raises:
        UsageError: these are no messages.

    >>> call = {"toolCallId": "1", "toolName": "add", "args": {"a": 1}, "state": "call"}
    >>> part = {"type": "tool-invocation", "toolInvocation": call}
    >>> extract_trajectory([{"role": "assistant", "content": {"parts": [part]}}]).steps[0].success
    """
    check_compat(compat)
    if compat is not None:
        return mastra.message_trajectory(messages)
    values: dict[str, Any] = {
        "steps": tuple(_step(order, call) for order, call in enumerate(calls_in(messages))),
        "raw_output": plain(messages),
    }
    return Trajectory.model_construct(**values)


def _step(order: int, call: Call) -> BaseStep:
    outcome = call.outcome
    values: dict[str, Any] = {
        "name": call.name,
        "order": order,
        "executed": outcome.executed,
        "from_messages": True,
    }
    known = {"tool_args": call.args, "tool_result": call.result}
    values |= {key: value for key, value in known.items() if value is not UNSET}
    if call.call_id:
        values["tool_call_id"] = call.call_id
    if outcome.failed is not None:
        values |= {"success": not outcome.failed, "failed": outcome.failed}
    if outcome.failure:
        values["failure"] = outcome.failure
    return build_step(*_typed(call, values))


def _typed(call: Call, values: dict[str, Any]) -> tuple[StepType, dict[str, Any]]:
    """Return the type of a call's step, with the server a name like `mcp__server__tool` has."""
    if call.invocation.get("providerExecuted") is True:
        return StepType.PROVIDER_TOOL_CALL, values
    parts = mcp_parts(call.name)
    if parts is None:
        return StepType.TOOL_CALL, values
    return StepType.MCP_TOOL_CALL, {**values, "mcp_server": parts[0]}
