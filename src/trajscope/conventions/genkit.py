"""Genkit's own tracing: `genkit:*` attributes, scope `genkit-tracer`, in whatever language.

One thing a newcomer would get wrong: every turn is a `generate` inside the `generate` of the turn
before, and each repeats the answer of the innermost; only actions of subtype `model` are calls.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._usage import usage_in
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_json, text_of

VOCABULARY = GEN_AI.extended(
    session=("genkit:sessionId",),
    tool_name=("genkit:name",),
    tool_args=("genkit:input",),
    tool_result=("genkit:output",),
    workflow_name=("genkit:name",),
    agent_run_name=("genkit:name",),
    model=("genkit:name",),
    answer=("genkit:output",),
    question=("genkit:input",),
    status=("genkit:state",),
    query=("genkit:input",),
    output=("genkit:output",),
)

SUBTYPES: dict[str, Kind] = {
    "tool": step(StepType.TOOL_CALL),
    "tool.v2": step(StepType.TOOL_CALL),
    "model": step(StepType.MODEL_GENERATION),
    "background-model": step(StepType.MODEL_GENERATION),
    "flow": step(StepType.WORKFLOW_RUN),
    "agent": step(StepType.AGENT_RUN),
    "retriever": step(StepType.RETRIEVAL),
    "embedder": step(StepType.EMBEDDING),
}
"""What an action is by `genkit:metadata:subtype`; the others are glue."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `genkit:type` and the subtype of an action."""
    kind = span.attributes.get("genkit:type")
    if not isinstance(kind, str):
        return None
    if kind == "flowStep":
        return step(StepType.WORKFLOW_STEP)
    if kind == "flow":  # before actions had subtypes
        return SUBTYPES["flow"]
    subtype = text_of(span.attributes.get("genkit:metadata:subtype"))
    if kind == "action" and subtype in SUBTYPES:
        return SUBTYPES[subtype]
    return noise(f"genkit {subtype or kind} is glue around actions")


def refine(span: Span, reading: Reading) -> Reading:
    """Tell provider and model apart, and read the tokens that stand inside the answer."""
    if not reading.is_model_call:
        if reading.step_type is StepType.WORKFLOW_STEP:
            return msgspec.structs.replace(reading, name=_name(span))
        return reading
    changes: dict[str, Any] = {}
    provider, slash, model = _name(span).partition("/")
    if slash and span.attributes.get("genkit:name"):
        changes = {"name": model, "model": model, "provider": reading.provider or provider}
    answer = decode_json(span.attributes.get("genkit:output"))
    if reading.usage is None and isinstance(answer, dict):
        usage = usage_in(answer.get("usage"))
        if usage is not None:
            changes["usage"] = usage
            changes["sources"] = {**reading.sources, "input_tokens": "genkit:output"}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _name(span: Span) -> str:
    return text_of(span.attributes.get("genkit:name")) or span.name


CONVENTION = VocabularyConvention(
    name="genkit",
    description="Genkit's own tracing: genkit:type, genkit:metadata:subtype.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "do not disable input and output logging in the telemetry plug-in"},
)
