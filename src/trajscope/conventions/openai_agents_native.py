"""OpenAI Agents SDK's own export, as the `openai-agents-native` format hands it over.

One thing a newcomer would get wrong: usage stands on the model calls *and*, summed up, on the
custom spans `task` and `turn` around them; and a `response` span knows neither model nor messages,
only what the call cost.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_json, text_of

PREFIX = "openai.agents."

VOCABULARY = Vocabulary(
    session=(PREFIX + "group_id",),
    tool_name=(PREFIX + "name",),
    tool_args=(PREFIX + "input",),
    tool_result=(PREFIX + "output",),
    model=(PREFIX + "model",),
    usage=(PREFIX + "usage",),
    response_id=(PREFIX + "response_id",),
    output_messages=(PREFIX + "output",),
    input_messages=(PREFIX + "input",),
)

_MODEL = step(StepType.MODEL_GENERATION)

KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "function": step(StepType.TOOL_CALL),
    "response": _MODEL,
    "generation": _MODEL,
    "handoff": step(StepType.HANDOFF),
    "guardrail": step(StepType.GUARDRAIL),
    "mcp_tools": noise("listing tools is protocol traffic"),
    "transcription": noise("speech to text is no step"),
    "speech": noise("text to speech is no step"),
    "speech_group": noise("text to speech is no step"),
    "task": noise("a task is the trace again"),
    "turn": noise("a turn is glue around steps"),
}
"""What each type of span data is; any other is a custom span, noise."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by the type of the span's data; tasks and turns are custom spans by type."""
    kind = span.attributes.get(PREFIX + "type")
    if not isinstance(kind, str):
        return None
    data = span.attributes.get(PREFIX + "data")
    if kind == "custom" and isinstance(data, dict) and isinstance(data.get("sdk_span_type"), str):
        kind = data["sdk_span_type"]
    return KINDS.get(kind) or noise("a custom span is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Take names, hand-over, outcome and MCP server from the members that only this type has."""
    attributes = span.attributes
    own: dict[str, Any] = {}
    name = text_of(attributes.get(PREFIX + "name"))
    if reading.step_type is StepType.AGENT_RUN:
        own = {"name": name or span.name, "agent_name": name}
    elif reading.step_type is StepType.HANDOFF:
        ends = {
            k: v for k in ("from_agent", "to_agent") if (v := text_of(attributes.get(PREFIX + k)))
        }
        own = {"name": ends.get("to_agent", span.name), "fields": ends}
    elif reading.step_type is StepType.GUARDRAIL:
        triggered = attributes.get(PREFIX + "triggered")
        outcome = {"triggered": triggered} if isinstance(triggered, bool) else {}
        own = {"name": name or span.name, "fields": outcome}
    elif reading.step_type in TOOL_STEP_TYPES:
        mcp = decode_json(attributes.get(PREFIX + "mcp_data"))
        if isinstance(mcp, dict):
            own = {"mcp_server": text_of(mcp.get("server")), "is_mcp": True}
    return msgspec.structs.replace(reading, **own) if own else reading


CONVENTION = VocabularyConvention(
    name="openai-agents-native",
    description="OpenAI Agents SDK's own export: span_data of agents, functions, responses.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "use RunConfig(trace_include_sensitive_data=True), its default"},
)
