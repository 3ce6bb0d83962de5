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
from trajscope.conventions._langgraph import graph_kind
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.evidence import is_interrupt
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_result, text_of

_METADATA = "langsmith.metadata."

VOCABULARY = GEN_AI.extended(
    session=tuple(_METADATA + k for k in ("session_id", "thread_id", "conversation_id")),
    tool_args=("gen_ai.prompt",),
    tool_result=("gen_ai.completion",),
    output_messages=("gen_ai.completion",),
    answer=("gen_ai.completion",),
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
"""What each value of `langsmith.span.kind` is; a chain is glue, or part of a graph."""


def metadata_of(span: Span) -> dict[str, Json]:
    """Return the run's metadata, which is one attribute per key."""
    found = span.attributes.items()
    return {k.removeprefix(_METADATA): v for k, v in found if k.startswith(_METADATA)}


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `langsmith.span.kind`, with chains told apart by the graph's metadata."""
    kind = span.attributes.get("langsmith.span.kind")
    if not isinstance(kind, str):
        return None
    if kind.lower() == "chain":
        found = graph_kind(
            span.name, metadata_of(span), lambda: span.attributes.get("gen_ai.completion")
        )
        return found or noise("a chain is glue around steps")
    return KINDS.get(kind.lower()) or noise(f"langsmith.span.kind {kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name runs, nodes and traced functions by the span, and unwrap a lone output."""
    agent = text_of(span.attributes.get(_METADATA + "lc_agent_name"))
    own: dict[str, Any] = {}
    if reading.step_type is StepType.AGENT_RUN:
        own = {"name": span.name, "agent_name": span.name}
    elif reading.step_type in (StepType.WORKFLOW_RUN, StepType.WORKFLOW_STEP):
        own = {"name": span.name}
    elif reading.step_type in TOOL_STEP_TYPES:
        own = {"name": reading.name or span.name}
        if reading.result == {}:  # nothing came back: the call raised
            own["result"] = UNSET
        elif isinstance(reading.result, dict) and len(reading.result) == 1:
            for lone in ("output", "outputs"):  # Python's and JavaScript's wrapper of a bare value
                if lone in reading.result:
                    own["result"] = decode_result(reading.result[lone]).value
        if reading.failed is None and not is_interrupt(span):
            own |= _raised(span)
    elif reading.step_type is None and _METADATA + "langgraph_node" not in span.attributes:
        own = {"candidate": StepType.WORKFLOW_RUN}
    if agent is not None and reading.agent_name is None and not reading.is_model_call:
        own.setdefault("agent_name", agent)
    return msgspec.structs.replace(reading, **own) if own else reading


def _raised(span: Span) -> dict[str, Any]:
    """The failure of a call whose error JavaScript's exporter wrote under the status OK."""
    for event in span.events:
        if event.name == "exception":  # written for a run that ended in an error, and only then
            text = text_of(event.attributes.get("exception.message")) or "exception"
            return {"failed": True, "failure": text}
    return {}


CONVENTION = VocabularyConvention(
    name="langsmith",
    description="LangSmith's OpenTelemetry export: langsmith.span.kind, langsmith.metadata.*.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS unset"},
)
