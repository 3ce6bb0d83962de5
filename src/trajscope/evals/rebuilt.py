"""The messages a trajectory stands for, for scorers of messages when only the trace is known.

One thing a newcomer would get wrong: a handoff is a tool call here, as it is in the messages the
model wrote; in a trace it may be a step of its own. Texts are not rebuilt: a trajectory has none.
"""

from __future__ import annotations

import re
from typing import Any

from trajscope.model.span import Json
from trajscope.model.step import BaseStep, HandoffStep, ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import in_order, locate_steps


def messages_of(trajectory: Trajectory) -> list[dict[str, Json]]:
    """Return one assistant message per call of the trajectory, in order, in the reference's form.

    A call that was asked for and not answered is open; a failed one has its error.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "add", "toolResult": 3}]}
    >>> [m["content"]["parts"][0]["toolInvocation"]["toolName"]
    ...     for m in messages_of(Trajectory.model_validate(took))]
    ['add']
    """
    calls = [
        place
        for place in locate_steps(trajectory)
        if place.step.is_tool or isinstance(place.step, HandoffStep)
    ]
    return [_message(rank, place.step) for rank, place in enumerate(in_order(calls))]


def handoff_tool(step: HandoffStep) -> str:
    """Return the tool a model calls to hand over, as the agent libraries name it by default.

    >>> handoff_tool(HandoffStep(name="Order Agent", to_agent="Order Agent"))
    'transfer_to_order_agent'
    """
    return "transfer_to_" + re.sub(r"[^a-z0-9_]", "_", (step.to_agent or step.name).lower())


def _message(rank: int, step: BaseStep) -> dict[str, Json]:
    invocation = _invocation(rank, step)
    return {
        "id": step.span_id or f"step-{rank}",
        "role": "assistant",
        "content": {
            "format": 2,
            "parts": [{"type": "tool-invocation", "toolInvocation": invocation}],
        },
    }


def _invocation(rank: int, step: BaseStep) -> dict[str, Any]:
    name = handoff_tool(step) if isinstance(step, HandoffStep) else step.name
    call_id = getattr(step, "tool_call_id", None)
    found: dict[str, Any] = {"toolCallId": call_id or f"step-{rank}", "toolName": name}
    if isinstance(step, ToolStep) and "tool_args" in step.model_fields_set:
        found["args"] = step.tool_args
    failed = step.success is False if isinstance(step, ToolStep) else step.failed is True
    if failed:
        text = step.failure or "failed"
        return {**found, "state": "output-error", "errorText": text, "isError": True}
    if isinstance(step, ToolStep) and step.success is None:
        return {**found, "state": "call"}
    return {**found, "state": "result", "result": getattr(step, "tool_result", None)}
