"""MLflow tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`.

One thing a newcomer would get wrong: every attribute is JSON text, plain texts too, so the span
type of a tool is `"TOOL"` with its quotes.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_json, text_of

VOCABULARY = GEN_AI.extended(
    session=("mlflow.trace.session", "session.id"),
    tool_args=("mlflow.spanInputs",),
    tool_result=("mlflow.spanOutputs",),
    model=("mlflow.llm.model", "mlflow.chat_model.model"),
    provider=("mlflow.llm.provider",),
    usage=("mlflow.chat.tokenUsage",),
    output_messages=("mlflow.spanOutputs",),
    answer=("mlflow.spanOutputs",),
    input_messages=("mlflow.spanInputs",),
    query=("mlflow.spanInputs",),
    output=("mlflow.spanOutputs",),
)

_MODEL = step(StepType.MODEL_GENERATION)

KINDS: dict[str, Kind] = {
    "AGENT": step(StepType.AGENT_RUN),
    "TOOL": step(StepType.TOOL_CALL),
    "CHAT_MODEL": _MODEL,
    "LLM": _MODEL,
    "RETRIEVER": step(StepType.RETRIEVAL),
    "EMBEDDING": step(StepType.EMBEDDING),
    "GUARDRAIL": step(StepType.GUARDRAIL),
    "WORKFLOW": step(StepType.WORKFLOW_RUN),
}
"""What each value of `mlflow.spanType` is; any other (CHAIN, PARSER, TASK, …) is noise."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `mlflow.spanType`, its quotes removed."""
    kind = decode_json(span.attributes.get("mlflow.spanType"))
    if not isinstance(kind, str):
        return None
    return KINDS.get(kind.upper()) or noise(f"mlflow.spanType {kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name tools and agents by the span, without the number MLflow 2 adds to repeated names."""
    if reading.step_type in TOOL_STEP_TYPES or reading.step_type is StepType.AGENT_RUN:
        function = text_of(decode_json(span.attributes.get("mlflow.spanFunctionName")))
        name = span.name
        stem, _, number = name.rpartition("_")
        if function is not None and number.isdigit() and stem == function:
            name = function
        if reading.step_type is StepType.AGENT_RUN:
            return msgspec.structs.replace(reading, name=name, agent_name=name)
        sources = {**reading.sources, "name": "span name"}
        return msgspec.structs.replace(reading, name=reading.name or name, sources=sources)
    return reading


CONVENTION = VocabularyConvention(
    name="mlflow",
    description="MLflow tracing: mlflow.spanType with mlflow.spanInputs and mlflow.spanOutputs.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
