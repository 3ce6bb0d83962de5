"""OpenAI Agents SDK through Logfire: the message template says what a span is.

One thing a newcomer would get wrong: span names are the templates themselves, braces and all; the
tool's name, input and output are plain attributes, and only the trace's span holds the session.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, text_of

VOCABULARY = GEN_AI.extended(
    session=("group_id",),
    tool_name=("name",),
    tool_args=("input",),
    tool_result=("output",),
    workflow_name=("name",),
    from_agent=("from_agent",),
    to_agent=("to_agent",),
    output_messages=("response", "output"),
    input_messages=("raw_input", "input"),
    answer=("response", "output"),
    response_id=("response_id",),
).appended(
    usage=("usage", "gen_ai.usage.raw"),
    agent_name=("agent_name",),
)

TEMPLATES: dict[str, Kind] = {
    "OpenAI Agents trace:": step(StepType.WORKFLOW_RUN),
    "Agent run:": step(StepType.AGENT_RUN),
    "Function:": step(StepType.TOOL_CALL),
    "Responses API with": step(StepType.MODEL_GENERATION),
    "Chat completion with": step(StepType.MODEL_GENERATION),
    "Chat Completion with": step(StepType.MODEL_GENERATION),
    "Handoff:": step(StepType.HANDOFF),
    "Guardrail": step(StepType.GUARDRAIL),
    "Task:": noise("a task is the trace again"),
    "Turn": noise("a turn is glue around steps"),
    "MCP: list tools": noise("listing tools is protocol traffic"),
}
"""What a span is by the beginning of its message template; any other is a custom span, noise."""


_SCOPE = "logfire.openai_agents"
_OWN_TEMPLATES = frozenset(
    {
        "OpenAI Agents trace: {name}",
        "Agent run: {name!r}",
        "Function: {name}",
        "Responses API with {gen_ai.request.model!r}",
        "Chat completion with {gen_ai.request.model!r}",
        "Handoff: {from_agent} → {to_agent}",
        "Guardrail {name!r} {triggered=}",
    }
)
"""Templates nobody else writes by chance: what is left to go by where the scope was lost."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by the message template, which is also the span's name."""
    template = text_of(span.attributes.get("logfire.msg_template")) or span.name
    if span.scope_name != _SCOPE and (span.scope_name or template not in _OWN_TEMPLATES):
        return None
    found = next((k for start, k in TEMPLATES.items() if template.startswith(start)), None)
    return found or noise("a custom span is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Take names, server and outcome from the plain attributes."""
    attributes = span.attributes
    own: dict[str, Any] = {}
    if reading.step_type is StepType.AGENT_RUN:
        name = text_of(attributes.get("name"))
        own = {"name": name or span.name, "agent_name": name}
    elif reading.step_type is StepType.GUARDRAIL:
        triggered = attributes.get("triggered")
        outcome = {"triggered": triggered} if isinstance(triggered, bool) else {}
        own = {"name": text_of(attributes.get("name")) or span.name, "fields": outcome}
    elif reading.step_type in TOOL_STEP_TYPES:
        mcp = decode_json(attributes.get("mcp_data"))
        server = text_of(mcp.get("server")) if isinstance(mcp, dict) else None
        own = {"mcp_server": server, "is_mcp": isinstance(mcp, dict)}
    if reading.failed and (told := _error_text(attributes.get("error"))):
        own["failure"] = told
    return msgspec.structs.replace(reading, **own) if own else reading


def _error_text(value: Json) -> str | None:
    """An error as one text: its message, and what its data says of the tool and the cause."""
    error = decode_json(value)
    if not isinstance(error, dict):
        return text_of(error)
    data = error.get("data")
    inner = [data.get(k) for k in ("tool_name", "error")] if isinstance(data, dict) else []
    return ": ".join(t for v in (error.get("message"), *inner) if (t := text_of(v))) or None


CONVENTION = VocabularyConvention(
    name="openai-agents-logfire",
    description="OpenAI Agents SDK as Logfire records it: scope logfire.openai_agents.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
