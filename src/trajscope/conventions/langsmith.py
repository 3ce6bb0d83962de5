"""LangSmith's OpenTelemetry export: `langsmith.span.kind` over GenAI attributes.

One thing a newcomer would get wrong: `gen_ai.operation.name` misleads here (a prompt template is a
`chat`, a retriever an `embeddings`); the kind is what counts. Inputs are `gen_ai.prompt`, outputs
`gen_ai.completion`, whatever the kind.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_result, text_of

_METADATA = "langsmith.metadata."

VOCABULARY = GEN_AI.extended(
    session=tuple(_METADATA + k for k in ("session_id", "thread_id", "conversation_id")),
    tool_args=("gen_ai.prompt",),
    tool_result=("gen_ai.completion",),
    output_messages=("gen_ai.completion",),
    input_messages=("gen_ai.prompt",),
    query=("gen_ai.prompt",),
    output=("gen_ai.completion",),
).appended(
    model=(_METADATA + "ls_model_name",),
    provider=(_METADATA + "ls_provider",),
    usage=(_METADATA + "usage_metadata",),
)

KINDS: dict[str, Kind] = {
    "tool": step(StepType.TOOL_CALL),
    "llm": step(StepType.MODEL_GENERATION),
    "retriever": step(StepType.RETRIEVAL),
    "embedding": step(StepType.EMBEDDING),
    "prompt": noise("a prompt template is no step"),
    "parser": noise("an output parser is no step"),
}
"""What each value of `langsmith.span.kind` is; a chain is glue, or an agent when it says so."""

_AGENT, _GLUE = step(StepType.AGENT_RUN), noise("a chain is glue around steps")


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `langsmith.span.kind`; a chain named as its agent is that agent's run."""
    kind = span.attributes.get("langsmith.span.kind")
    if not isinstance(kind, str):
        return None
    if kind.lower() == "chain":
        agent = text_of(span.attributes.get(_METADATA + "lc_agent_name"))
        return _AGENT if agent is not None and agent == span.name else _GLUE
    return KINDS.get(kind.lower()) or noise(f"langsmith.span.kind {kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name agents, retrievers and traced functions by the span, and unwrap a lone output."""
    if reading.step_type is StepType.AGENT_RUN:
        return msgspec.structs.replace(reading, name=span.name, agent_name=span.name)
    if reading.step_type in TOOL_STEP_TYPES:
        own: dict[str, Any] = {"name": reading.name or span.name}
        if reading.result == {}:  # nothing came back: the call raised
            own["result"] = UNSET
        elif isinstance(reading.result, dict) and reading.result.keys() == {"output"}:
            own["result"] = decode_result(reading.result["output"]).value
        return msgspec.structs.replace(reading, **own)
    return reading


CONVENTION = VocabularyConvention(
    name="langsmith",
    description="LangSmith's OpenTelemetry export: langsmith.span.kind, langsmith.metadata.*.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
