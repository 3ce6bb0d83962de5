"""The messages a trajectory stands for, for scorers of messages when only the trace is known.

One thing a newcomer would get wrong: these are the calls that stand in the messages of the run. A
handoff is one of them, since a model hands over by calling a tool; what a sub-agent did inside a
tool call is none, since only its caller's messages are the run's. Texts are not rebuilt: a
trajectory has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trajscope.model.span import Json
from trajscope.model.step import BaseStep, HandoffStep, ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, in_order


def messages_of(trajectory: Trajectory) -> list[dict[str, Json]]:
    """Return one assistant message per call of the trajectory, in order, in the reference's form.

    A call that was asked for and not answered is open; a failed one has its error.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "add", "toolResult": 3}]}
    >>> [m["content"]["parts"][0]["toolInvocation"]["toolName"]
    ...     for m in messages_of(Trajectory.model_validate(took))]
    ['add']
    """
    calls = [Located(step, None, None) for step in _own_calls(trajectory)]
    return [_message(rank, place.step) for rank, place in enumerate(in_order(calls))]


def _own_calls(trajectory: Trajectory) -> Iterator[BaseStep]:
    """Yield the outermost tool calls and handoffs, depth first."""
    stack = [*reversed(trajectory.steps)]
    if trajectory.root is not None and _is_call(trajectory.root):
        stack = [trajectory.root]  # the trace of a tool by itself
    while stack:
        step = stack.pop()
        if _is_call(step):
            yield step
        else:
            stack.extend(reversed(step.children))


def _is_call(step: BaseStep) -> bool:
    return step.is_tool or isinstance(step, HandoffStep)


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
