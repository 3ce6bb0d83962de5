"""What a convention understood of one span, alone: the value between a span and a step.

One thing a newcomer would get wrong: a reading never looks at other spans. Whatever needs a
parent, a child or another trace (duplicates, names, pairing) happens later, in `assemble`.
Absent is `UNSET` for values where null is a legal value, else None.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.model.span import Json, Span


class StepType(StrEnum):
    """The types of steps: thirteen of the reference vocabulary, and four of our own.

    >>> StepType("TOOL_CALL")
    <StepType.TOOL_CALL: 'tool_call'>
    """

    TOOL_CALL = "tool_call"
    MCP_TOOL_CALL = "mcp_tool_call"
    PROVIDER_TOOL_CALL = "provider_tool_call"
    MODEL_GENERATION = "model_generation"
    AGENT_RUN = "agent_run"
    WORKFLOW_RUN = "workflow_run"
    WORKFLOW_STEP = "workflow_step"
    WORKFLOW_CONDITIONAL = "workflow_conditional"
    WORKFLOW_PARALLEL = "workflow_parallel"
    WORKFLOW_LOOP = "workflow_loop"
    WORKFLOW_SLEEP = "workflow_sleep"
    WORKFLOW_WAIT_EVENT = "workflow_wait_event"
    PROCESSOR_RUN = "processor_run"
    RETRIEVAL = "retrieval"
    EMBEDDING = "embedding"
    GUARDRAIL = "guardrail"
    HANDOFF = "handoff"

    @classmethod
    def _missing_(cls, value: object) -> StepType | None:
        if isinstance(value, str) and value != value.lower():
            return cls(value.lower())
        return None


TOOL_STEP_TYPES = frozenset(
    {StepType.TOOL_CALL, StepType.MCP_TOOL_CALL, StepType.PROVIDER_TOOL_CALL}
)
"""The step types that are tool calls."""


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Token counts of one model call; None is unknown, never zero.

    `cached_input` is a part of `input`, `reasoning_output` a part of `output`.
    """

    input: int | None = None
    output: int | None = None
    cached_input: int | None = None
    reasoning_output: int | None = None


class ToolRequest(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool call that stands in a model's output: asked for, perhaps never run."""

    name: str
    call_id: str | None = None
    args: Json | UnsetType = UNSET
    provider_executed: bool = False


class ToolResponse(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool result that stands in the messages given to a model: what became of a request.

    `failed` is three-valued: None when the message does not say.
    """

    call_id: str | None = None
    name: str | None = None
    result: Json | UnsetType = UNSET
    failed: bool | None = None
    failure: str | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One span as its convention understands it.

    step_type: what step this is; None means noise (the span is no step, its children move up).
    name: the name the model or user calls it by (tool, agent, workflow, model), not the label.
    is_model_call: the span records one call of a model. Such spans nest (a generation holds
        steps, a step an inference, a wrapper the client's own span); only the innermost of such a
        nest is counted, and an outer one may be the step while the inner ones are noise.
    args: the decoded arguments of a tool call, an object. args_value: set instead when only the
        bare value of a single argument was recorded and its name must be found elsewhere.
    failed/failure: three-valued; None when this span alone holds no evidence. A span that ended
        without evidence of failure is read as not failed by `assemble`, not here.
    not_failure: an error status that is no failure (an interrupt, a tripwire).
    usage: token counts the span carries, its own or a repeated sum of its children.
    model_calls: how many model calls that sum is of, where the span says so; 0 for an agent run
        that was stopped before it called a model.
    requests/responses: tool calls in a model's output, tool results in its input, in order.
    fields: further fields of the step type under their snake_case names (condition_count, ...).
    candidate: what a noise span is if its neighbours agree: a workflow step when it lies directly
        in a workflow run, a workflow run when workflow steps lie directly in it.
    is_part: the span is a part of the step its parent records; its evidence is the parent's.
    opens_agent: the call runs a sub-agent of this name, which has no span of its own.
    is_silent: this instrumentation never records how such a call ended, so that the absence of
        evidence of failure means nothing.
    sources: which attribute gave which field, for `explain`; "field" -> "attribute or rule".
    """

    convention: str = ""
    claim: int = 0
    step_type: StepType | None = None
    name: str = ""
    noise_reason: str = ""
    is_model_call: bool = False
    args: Json | UnsetType = UNSET
    args_value: Json | UnsetType = UNSET
    result: Json | UnsetType = UNSET
    failed: bool | None = None
    failure: str | None = None
    not_failure: bool = False
    tool_call_id: str | None = None
    mcp_server: str | None = None
    is_mcp: bool = False
    agent_name: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    model: str | None = None
    provider: str | None = None
    finish_reason: str | None = None
    response_id: str | None = None
    usage: Usage | None = None
    model_calls: int | None = None
    requests: tuple[ToolRequest, ...] = ()
    responses: tuple[ToolResponse, ...] = ()
    fields: dict[str, Any] = {}
    candidate: StepType | None = None
    is_part: bool = False
    opens_agent: str | None = None
    is_silent: bool = False
    sources: dict[str, str] = {}


DROPPED_KEY = "trajscope.dropped_attributes"
"""The attribute of a stored span that says how many of its attributes were left out on the way."""


class ReadSpan(Span, frozen=True, kw_only=True, gc=False):
    """A span that brings its reading along, since it cannot be read the same way again.

    Attributes of it were dropped when it was stored, or a mapping file read it that is not here.
    """

    reading: Reading


def as_stored(span: Span, reading: Reading) -> Span:
    """Return a span of a store, with its reading where it cannot be made again from the span.

    >>> span = Span(trace_id="t", span_id="a", attributes={DROPPED_KEY: 2})
    >>> type(as_stored(span, Reading())).__name__
    'ReadSpan'
    """
    if DROPPED_KEY not in span.attributes and not reading.convention.startswith("map:"):
        return span
    fields = {name: getattr(span, name) for name in span.__struct_fields__ if name != "reading"}
    return ReadSpan(**fields, reading=reading)


NOT_UNDERSTOOD = Reading(noise_reason="no convention understands this span")
"""The reading of a span that no convention claims: noise, never guessed into a step."""
