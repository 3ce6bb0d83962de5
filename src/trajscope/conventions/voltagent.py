"""VoltAgent's own tracing (scope `@voltagent/core`): `span.type` over `entity.*`.

One thing a newcomer would get wrong: `llm:generateText` is the whole loop with the tokens of its
last call; the agent has the sum, and nothing says how many calls there were. All spans of an agent
inherit its `entity.type`, so that tells a kind only where there is no `span.type`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

VOCABULARY = GEN_AI.extended(
    session=("voltagent.conversation_id", "conversation.id"),
    agent_name=("entity.name",),
    agent_id=("entity.id",),
    tool_name=("tool.name",),
    tool_call_id=("tool.call.id",),
    tool_args=("input",),
    tool_result=("output",),
    workflow_name=("entity.name",),
    model=("llm.model", "ai.model.name"),
    input_tokens=("usage.prompt_tokens",),
    output_tokens=("usage.completion_tokens",),
    cached_tokens=("usage.cached_tokens",),
    reasoning_tokens=("usage.reasoning_tokens",),
    finish_reason=("llm.finish_reason", "ai.response.finish_reason"),
    query=("input",),
    output=("output",),
)

KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "llm": Kind(StepType.MODEL_GENERATION),  # of an unknown number of calls
    "tool": step(StepType.TOOL_CALL),
    "retriever": step(StepType.RETRIEVAL),
    "guardrail": step(StepType.GUARDRAIL),
    "embedding": step(StepType.EMBEDDING),
    "workflow": step(StepType.WORKFLOW_RUN),
    "workflow-step": step(StepType.WORKFLOW_STEP),
}
"""What each value of `span.type`, or of the root's `entity.type`, is."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `span.type`, on a root by the type of its entity."""
    if not span.scope_name.startswith("@voltagent/"):
        return None
    attributes = span.attributes
    kind = text_of(attributes.get("span.type")) or text_of(attributes.get("entity.type"))
    return KINDS.get(kind or "") or noise(f"{kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name steps, retrievers and guardrails by their own names: the entity is what ran them."""
    changes: dict[str, Any] = {}
    names = {
        StepType.WORKFLOW_STEP: "workflow.step.name",
        StepType.GUARDRAIL: "guardrail.name",
        StepType.RETRIEVAL: "span.label",
    }
    own = names.get(reading.step_type) if reading.step_type is not None else None
    if own is not None and (name := text_of(span.attributes.get(own))):
        changes["name"] = name
    if reading.step_type is StepType.WORKFLOW_RUN:
        changes["agent_name"] = None
    return msgspec.structs.replace(reading, **changes) if changes else reading


CONVENTION = VocabularyConvention(
    name="voltagent",
    description="VoltAgent's own tracing: span.type, entity.*.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
