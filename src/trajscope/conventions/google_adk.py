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
_PREFIX = "gcp.vertex.agent."

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
_OLD_AGENT, _OLD_END = "agent_run [", "]"
"""How ADK before 1.10 labels an agent run; the label is all it records."""


def kind_of(span: Span) -> Kind | None:
    """Return the GenAI kind, mended where ADK has spans of its own."""
    attributes = span.attributes
    if span.scope_name != _SCOPE and not any(k.startswith(_PREFIX) for k in attributes):
        return None
    if attributes.get("gen_ai.tool.name") == "(merged tools)" or span.name.endswith("(merged)"):
        return noise("merged tools gather the results of parallel calls")
    if span.name in _NAMES:
        return _NAMES[span.name]
    if span.name.startswith(_OLD_AGENT):
        return step(StepType.AGENT_RUN)
    return _genai.kind_of(span) or noise("an ADK span without an operation")


def refine(span: Span, reading: Reading) -> Reading:
    """Mark MCP tools, and name an agent that only its label names."""
    if reading.step_type in TOOL_STEP_TYPES:
        tool_type = str(span.attributes.get("gen_ai.tool.type", "")).lower()
        return msgspec.structs.replace(reading, is_mcp=reading.is_mcp or tool_type == "mcptool")
    if reading.step_type is StepType.AGENT_RUN and span.name.startswith(_OLD_AGENT):
        name = reading.agent_name or span.name[len(_OLD_AGENT) :].removesuffix(_OLD_END)
        return msgspec.structs.replace(reading, name=name, agent_name=name)
    return reading


CONVENTION = VocabularyConvention(
    name="google-adk",
    description="Google Agent Development Kit: scope gcp.vertex.agent.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
