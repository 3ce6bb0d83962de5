"""Claude Code: its traces (beta) and its log records, together or either alone.

One thing a newcomer would get wrong: a tool's success stands on its `.execution` child, its full
arguments only in the log record `tool_result`, and a sub-agent has no span at all: it works inside
the execution of the `Agent` call.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import LoggedConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._standin import standin
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType, Usage
from trajscope.model.span import Json, LogRecord, Span
from trajscope.values import count_of, decode_result, text_of

AGENT = "claude-code"
"""The main loop, as its service is called; the trace has no other name for it."""

_SCOPE = "com.anthropic.claude_code"
_PREFIX = "claude_code."
_AGENT_TOOLS = frozenset({"Agent", "Task"})

_PARTS = ("tool.execution", "tool.blocked_on_user")
KINDS: dict[str, Kind] = {
    "interaction": step(StepType.AGENT_RUN),
    "llm_request": step(StepType.MODEL_GENERATION),
    "tool": step(StepType.TOOL_CALL),
    "tool.execution": noise("the execution of the tool call around it"),
    "tool.blocked_on_user": noise("the wait for a person's decision"),
}
"""What each value of `span.type` is; any other is noise."""

_OF_EVENT = {
    "user_prompt": "interaction",
    "api_request": "llm_request",
    "api_error": "llm_request",
    "tool_result": "tool",
}
"""The span type a log record stands for, by `event.name`."""

VOCABULARY = GEN_AI.extended(
    tool_name=("tool_name",),
    tool_call_id=("tool_use_id",),
    tool_args=("tool_input",),
    agent_id=("agent_id",),
    model=("model",),
    input_tokens=("input_tokens",),
    output_tokens=("output_tokens",),
    cached_tokens=("cache_read_tokens",),
    finish_reason=("stop_reason",),
    response_id=("request_id",),
)


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `span.type`, or by the span name where that attribute is gone."""
    if not span.scope_name.startswith(_SCOPE):
        return None
    kind = text_of(span.attributes.get("span.type")) or span.name.removeprefix(_PREFIX)
    return KINDS.get(kind) or noise(f"{kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Add what stands in words of its own: outcome, sub-agents, cached input."""
    attributes = span.attributes
    agent = text_of(attributes.get("agent.name"))
    if reading.step_type is StepType.AGENT_RUN:
        return msgspec.structs.replace(reading, name=AGENT, agent_name=AGENT, usage=None)
    changes: dict[str, Any] = _outcome(span)
    if text_of(span.attributes.get("span.type")) in _PARTS:
        changes["is_part"] = True
    if reading.step_type in TOOL_STEP_TYPES:
        changes |= {"opens_agent": _sub_agent(span, reading), **_output(span)}
    elif reading.is_model_call:
        changes["usage"] = _usage(attributes)
    if agent or (reading.agent_id is None and reading.step_type is not None):
        changes["agent_name"] = agent or AGENT
    return msgspec.structs.replace(reading, **changes)


def _outcome(span: Span) -> dict[str, Any]:
    """Failure by `success`, which is a boolean on spans and a text in log records."""
    said = span.attributes.get("success")
    error = text_of(span.attributes.get("error"))
    if span.attributes.get("decision") == "reject":
        return {"failed": True, "failure": "rejected by the user"}
    if said in (False, "false") or (error and said is None):
        return {"failed": True, "failure": error or span.status_message or None}
    return {"failed": False, "failure": None} if said in (True, "true") else {}


def _sub_agent(span: Span, reading: Reading) -> str | None:
    """The sub-agent a call opens; without tool details only the tool's name is known."""
    if reading.name not in _AGENT_TOOLS:
        return None
    args = reading.args if isinstance(reading.args, dict) else {}
    named = span.attributes.get("subagent_type") or args.get("subagent_type")
    return text_of(named) or reading.name


def _output(span: Span) -> dict[str, Any]:
    """The tool's result, an event of its span when content is recorded."""
    said = next((e.attributes for e in span.events if e.name == "tool.output"), None)
    if said is None:
        return {}
    value: Json = next((said[k] for k in ("output", "content", "result") if k in said), said)
    return {"result": decode_result(value).value}


def _usage(attributes: dict[str, Json]) -> Usage | None:
    """Token counts with cached input as part of input: the API counts it beside."""
    plain = count_of(attributes.get("input_tokens"))
    output = count_of(attributes.get("output_tokens"))
    read = count_of(attributes.get("cache_read_tokens"))
    created = count_of(attributes.get("cache_creation_tokens"))
    if plain is None and output is None:
        return None
    total = None if plain is None else plain + (read or 0) + (created or 0)
    return Usage(input=total, output=output, cached_input=read)


def from_log(record: LogRecord) -> Span | None:
    """Return the span a record stands for: a prompt, an API request, a tool result."""
    if not record.scope_name.startswith(_SCOPE):
        return None
    kind = _OF_EVENT.get(str(record.attributes.get("event.name")))
    if kind is None:
        return None
    prompt = text_of(record.attributes.get("prompt.id"))
    group = prompt or text_of(record.attributes.get("session.id")) or record.trace_id
    if group is None:
        return None
    extra = {"span.type": kind}
    if kind == "interaction":
        return standin(record, _PREFIX + kind, group=group, span_id=prompt, **extra)
    return standin(record, _PREFIX + kind, group=group, parent=prompt, **extra)


CONVENTION = LoggedConvention(
    name="claude-code",
    description="Claude Code: spans of its traces beta, and its log records.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    facts=("tool_result",),
    from_log=from_log,
    hints={
        "content": "set OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1, and read the log "
        "records together with the spans: whole arguments stand only there",
    },
)
