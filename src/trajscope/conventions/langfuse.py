"""Langfuse SDKs (Python 3 and later, JavaScript 4 and later): `langfuse.observation.*`.

One thing a newcomer would get wrong: `level` ERROR fails an observation, whatever the status of its
span; and a decorated function records `{"args": [], "kwargs": {…}}`, so positional names are lost.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

_OBSERVATION = "langfuse.observation."

VOCABULARY = GEN_AI.extended(
    session=("session.id", "langfuse.session.id"),
    tool_args=("langfuse.observation.input",),
    tool_result=("langfuse.observation.output",),
    model=("langfuse.observation.model.name",),
    usage=("langfuse.observation.usage_details",),
    output_messages=("langfuse.observation.output",),
    answer=("langfuse.observation.output",),
    input_messages=("langfuse.observation.input",),
    query=("langfuse.observation.input",),
    output=("langfuse.observation.output",),
    status=("langfuse.observation.level",),
    status_text=("langfuse.observation.status_message",),
)

_MODEL = step(StepType.MODEL_GENERATION)

KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "tool": step(StepType.TOOL_CALL),
    "generation": _MODEL,
    "retriever": step(StepType.RETRIEVAL),
    "embedding": step(StepType.EMBEDDING),
    "guardrail": step(StepType.GUARDRAIL),
    "evaluator": noise("an evaluator is not what the agent did"),
}
"""What each value of `langfuse.observation.type` is; any other (span, chain, event) is noise."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `langfuse.observation.type`, else by what only a generation carries."""
    attributes = span.attributes
    kind = attributes.get("langfuse.observation.type")
    if isinstance(kind, str):
        return KINDS.get(kind.lower()) or noise(f"a Langfuse {kind} is no step")
    if any(k in attributes for k in (*VOCABULARY.model[:1], *VOCABULARY.usage[:1])):
        return _MODEL
    if span.scope_name.startswith("langfuse") and any(
        k.startswith(_OBSERVATION) for k in attributes
    ):
        return noise("an observation without a type")
    return None


def refine(span: Span, reading: Reading) -> Reading:
    """Name tools and agents by the span: Langfuse has no other name for them."""
    if reading.step_type in TOOL_STEP_TYPES and not reading.name:
        sources = {**reading.sources, "name": "span name"}
        return msgspec.structs.replace(reading, name=span.name, sources=sources)
    if reading.step_type is StepType.AGENT_RUN and not reading.agent_name:
        name = text_of(span.name)
        return msgspec.structs.replace(reading, name=span.name, agent_name=name)
    return reading


CONVENTION = VocabularyConvention(
    name="langfuse",
    description="Langfuse SDKs: langfuse.observation.type, input, output and usage_details.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave capture_input and capture_output of @observe switched on"},
)
