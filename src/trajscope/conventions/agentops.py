"""AgentOps SDK: `agentops.span.kind` of decorated functions, and its recorders of clients.

One thing a newcomer would get wrong: a span `tool_call.X` below a model call is no call of X but
what the model asked for; the call is the span of the decorated function, if it has one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType, ToolRequest
from trajscope.model.span import Span
from trajscope.values import decode_arguments, text_of

_KIND = "agentops.span.kind"
_REQUEST = "tool.call.id"

VOCABULARY = GEN_AI.extended(
    agent_name=("agent.name",),
    agent_run_name=("operation.name",),
    workflow_name=("operation.name",),
    tool_name=("tool.name", "operation.name"),
    tool_args=("agentops.tool.input", "tool.parameters", "agentops.entity.input"),
    tool_result=("agentops.tool.output", "tool.result", "agentops.entity.output"),
)

KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "tool": step(StepType.TOOL_CALL),
    "workflow": step(StepType.WORKFLOW_RUN),
    "guardrail": step(StepType.GUARDRAIL),
    "llm": step(StepType.MODEL_GENERATION),
}
"""What each value of `agentops.span.kind` is; any other (session, task, operation) is noise."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `agentops.span.kind`, which may be the name of an enum's member."""
    kind = span.attributes.get(_KIND)
    if not isinstance(kind, str):
        return None
    if _is_request(span):
        return noise("what a model asked for")
    return KINDS.get(kind.rpartition(".")[2].lower()) or noise(f"an AgentOps {kind} is no step")


def _is_request(span: Span) -> bool:
    return span.name.startswith("tool_call.") and _REQUEST in span.attributes


def refine(span: Span, reading: Reading) -> Reading:
    """Read what was asked for, and name steps of workflows."""
    changes: dict[str, Any] = {}
    if reading.step_type is None and _is_request(span):
        attributes = span.attributes
        name = text_of(attributes.get("tool.name")) or span.name.partition(".")[2]
        args = decode_arguments(attributes.get("tool.parameters")).args
        asked = ToolRequest(name, text_of(attributes.get(_REQUEST)), args)
        changes = {"requests": (asked,), "sources": {"requests": "tool.*"}}
    elif reading.step_type is None:
        name = text_of(span.attributes.get("operation.name")) or span.name
        changes = {"candidate": StepType.WORKFLOW_STEP, "name": name}
    return msgspec.structs.replace(reading, **changes) if changes else reading


CONVENTION = VocabularyConvention(
    name="agentops",
    description="AgentOps SDK: agentops.span.kind, its entities and tools.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
