"""Laminar SDKs: `lmnr.span.type`, with input and output of decorated functions.

One thing a newcomer would get wrong: an agent is a span of the type DEFAULT, like anything else
that is neither a tool nor a model call, so nothing tells it; and why a model stopped stands in what
is called its output messages, the choices of the provider's answer.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._model import reason_in
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_json

_INPUT, _OUTPUT = "lmnr.span.input", "lmnr.span.output"
_PROPERTIES = "lmnr.association.properties."

VOCABULARY = GEN_AI.extended(
    session=(_PROPERTIES + "session_id",), tool_args=(_INPUT,), tool_result=(_OUTPUT,)
)
VOCABULARY = VOCABULARY.appended(output_messages=(_OUTPUT,), input_messages=(_INPUT,))


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `lmnr.span.type`."""
    kind = span.attributes.get("lmnr.span.type")
    if not isinstance(kind, str):
        return None
    if kind == "TOOL":
        return step(StepType.TOOL_CALL)
    if kind in ("LLM", "CACHED"):
        return step(StepType.MODEL_GENERATION)
    return noise(f"a Laminar {kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name tools by the span, and find why a model stopped."""
    if reading.step_type in TOOL_STEP_TYPES and not reading.name:
        sources = {**reading.sources, "name": "span name"}
        return msgspec.structs.replace(reading, name=span.name, sources=sources)
    if reading.is_model_call and reading.finish_reason is None:
        said = decode_json(span.attributes.get("gen_ai.output.messages"))
        return msgspec.structs.replace(reading, finish_reason=reason_in(said))
    return reading


CONVENTION = VocabularyConvention(
    name="laminar",
    description="Laminar SDKs: lmnr.span.type, lmnr.span.input and output.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave ignore_input and ignore_output of @observe switched off"},
)
