"""The messages a trajectory stands for, for scorers of messages when only the trace is known.

One thing a newcomer would get wrong: these are the calls that stand in the messages of the run. A
handoff is one of them, since a model hands over by calling a tool; what a sub-agent did inside a
tool call is none, since only its caller's messages are the run's. Texts are not rebuilt: a
trajectory has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from trajscope.model.span import Json
from trajscope.model.step import BaseStep, HandoffStep, ToolCallStep, ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, in_order

_ONLY_HANDOFF = HandoffStep.model_fields.keys() - ToolCallStep.model_fields.keys() | {"step_type"}


def messages_of(trajectory: Trajectory) -> list[dict[str, Json]]:
    """Return one assistant message per call of the trajectory, in order, in the reference's form.

    A call that was asked for and not answered is open; a failed one has its error.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "add", "toolResult": 3}]}
    >>> [m["content"]["parts"][0]["toolInvocation"]["toolName"]
    ...     for m in messages_of(Trajectory.model_validate(took))]
    ['add']
    """
    return [_message(rank, step) for rank, step in enumerate(run_calls(trajectory))]


def run_calls(trajectory: Trajectory) -> list[ToolStep]:
    """Return the calls the messages of the run hold, in order: a handoff is the call it came from.

    What a sub-agent called inside a tool call is not among them. Calls that were only requested
    are (`executed` False).

    >>> took = {"steps": [{"stepType": "handoff", "name": "b", "toAgent": "b"}]}
    >>> run_calls(Trajectory.model_validate(took))[0].name
    'transfer_to_b'
    """
    places = in_order([Located(step, None, None) for step in _own_calls(trajectory)])
    return [_as_call(place.step) for place in places]


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


def _as_call(step: BaseStep) -> ToolStep:
    if isinstance(step, ToolStep):
        return step
    handoff = cast("HandoffStep", step)
    shared = {name: getattr(step, name) for name in step.model_fields_set - _ONLY_HANDOFF}
    shared["success"] = not handoff.failed  # one that is recorded took place
    return ToolCallStep(**{**shared, "name": handoff_tool(handoff), "children": ()})


def _message(rank: int, step: ToolStep) -> dict[str, Json]:
    found: dict[str, Any] = {
        "toolCallId": step.tool_call_id or f"step-{rank}",
        "toolName": step.name,
    }
    if "tool_args" in step.model_fields_set:
        found["args"] = step.tool_args
    if step.success is False:
        text = step.failure or "failed"
        found |= {"state": "output-error", "errorText": text, "isError": True}
    elif step.success is None:
        found["state"] = "call"
    else:
        found |= {"state": "result", "result": step.tool_result}
    return {
        "id": step.span_id or f"step-{rank}",
        "role": "assistant",
        "content": {"format": 2, "parts": [{"type": "tool-invocation", "toolInvocation": found}]},
    }
