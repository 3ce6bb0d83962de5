"""Google Agent Development Kit: GenAI operations with `gcp.vertex.agent.*` beside them.

One thing a newcomer would get wrong: `call_llm` around `generate_content` is one model call, and
in ADK 1.x the tools hang below it; the span of `(merged tools)` only gathers parallel results.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span

_SCOPE = "gcp.vertex.agent"
_MARKS = frozenset(
    "gcp.vertex.agent." + key
    for key in (
        *("event_id", "invocation_id", "session_id"),
        *("tool_call_args", "tool_response", "llm_request", "llm_response"),
    )
)
"""Attributes that only this framework writes, whatever scope they come under."""

VOCABULARY = GEN_AI.appended(
    session=("gcp.vertex.agent.session_id",),
    tool_args=("gcp.vertex.agent.tool_call_args",),
    tool_result=("gcp.vertex.agent.tool_response",),
    output_messages=("gcp.vertex.agent.llm_response",),
    input_messages=("gcp.vertex.agent.llm_request",),
)

_NAMES: dict[str, Kind] = {
    "call_llm": step(StepType.MODEL_GENERATION),
    "invocation": noise("an invocation is the runner around the run"),
}
_OLD_LABELS: dict[str, Kind] = {
    "agent_run": step(StepType.AGENT_RUN),
    "tool_call": step(StepType.TOOL_CALL),
}
"""ADK before 1.10 labels runs and calls `agent_run [name]`; the label is all that names them."""


def kind_of(span: Span) -> Kind | None:
    """Return the GenAI kind, mended where ADK has spans of its own."""
    attributes = span.attributes
    if span.scope_name != _SCOPE and _MARKS.isdisjoint(attributes):
        return None
    if span.scope_name != _SCOPE and "openinference.span.kind" in attributes:
        return None  # another library's span of the same call, in its own words
    if attributes.get("gen_ai.tool.name") == "(merged tools)" or span.name.endswith("(merged)"):
        return noise("merged tools gather the results of parallel calls")
    if span.name in _NAMES:
        return _NAMES[span.name]
    word, name = _old_label(span)
    if name:
        return _OLD_LABELS[word]
    return _genai.kind_of(span) or noise("an ADK span without an operation")


def refine(span: Span, reading: Reading) -> Reading:
    """Mark MCP tools, and name what only its label names."""
    _, name = _old_label(span)
    if reading.step_type in TOOL_STEP_TYPES:
        tool_type = str(span.attributes.get("gen_ai.tool.type", "")).lower()
        is_mcp = reading.is_mcp or tool_type == "mcptool"
        reading = msgspec.structs.replace(reading, is_mcp=is_mcp, name=reading.name or name)
    elif reading.step_type is StepType.AGENT_RUN and name and not reading.agent_name:
        reading = msgspec.structs.replace(reading, name=name, agent_name=name)
    return _genai.refine(span, reading)


def _old_label(span: Span) -> tuple[str, str]:
    word, _, rest = span.name.partition(" [")
    return (word, rest[:-1]) if word in _OLD_LABELS and rest[-1:] == "]" else ("", "")


CONVENTION = VocabularyConvention(
    name="google-adk",
    description="Google Agent Development Kit: scope gcp.vertex.agent.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={
        "content": "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true, or "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only with "
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    },
)
