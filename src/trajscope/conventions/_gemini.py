"""Gemini CLI and the programs made of it: log records for everything, and spans of some versions.

One thing a newcomer would get wrong: every span is a trace of its own, and a tool's span holds the
whole request and the whole completed call as "messages", so its arguments are `args` of the one and
its outcome is `status` of the other. A call that was refused has no span but its scheduling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import LoggedConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._standin import standin
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, LogRecord, Span
from trajscope.values import decode_arguments, decode_json, text_of

_EVENTS: dict[str, Kind] = {
    "tool_call": step(StepType.TOOL_CALL),
    "api_response": step(StepType.MODEL_GENERATION),
    "api_error": step(StepType.MODEL_GENERATION),
    "user_prompt": step(StepType.AGENT_RUN),
    "agent.finish": step(StepType.AGENT_RUN),
    "subagent_execution": step(StepType.AGENT_RUN),
}
"""What the log records that stand for spans are, by the end of their name."""

_OPERATIONS: dict[str, Kind] = {
    "user_prompt": step(StepType.AGENT_RUN),
    "schedule_tool_calls": noise("the scheduling of tool calls is no step"),
    "system_prompt": noise("building a system prompt is no step"),
}

VOCABULARY = GEN_AI.extended(
    tool_name=("function_name",),
    tool_args=("function_args",),
    model=("model",),
    input_tokens=("input_token_count",),
    output_tokens=("output_token_count",),
    cached_tokens=("cached_content_token_count",),
    reasoning_tokens=("thoughts_token_count",),
    finish_reason=("finish_reasons",),
    mcp_server=("mcp_server_name",),
)


def _called(attributes: dict[str, Json]) -> dict[str, Any]:
    """Arguments, result and outcome of a tool call, from its span or from its record."""
    asked = _only(decode_json(attributes.get("gen_ai.input.messages")))
    done = _only(decode_json(attributes.get("gen_ai.output.messages")))
    found: dict[str, Any] = {}
    if (name := text_of(asked.get("name"))) is not None:
        found["name"] = name
        found["tool_call_id"] = text_of(asked.get("callId"))
    if "args" in asked:
        found["args"] = decode_arguments(asked["args"]).args
    error = text_of(attributes.get("error"))
    status = text_of(done.get("status"))
    answer = done.get("response")
    answer = answer if isinstance(answer, dict) else {}
    if "resultDisplay" in answer:
        found["result"] = answer["resultDisplay"]
    said = _text(answer.get("error")) or _said(answer) or error
    if attributes.get("decision") == "reject":
        return {**found, "failed": True, "failure": said or "rejected by the user"}
    if status == "error" or attributes.get("success") in (False, "false"):
        return {**found, "failed": True, "failure": said or text_of(attributes.get("error_type"))}
    data = answer.get("data") or decode_json(attributes.get("metadata"))
    if isinstance(data, dict) and data.get("isError") is True:  # a command with an exit code
        return {**found, "failed": True, "failure": text_of(found.get("result"))}
    if status == "success" or attributes.get("success") in (True, "true"):
        found |= {"failed": False, "failure": None}
    return found


def _said(answer: dict[str, Json]) -> str | None:
    """The error that the model was told: the exception itself is lost, it is written as `{}`."""
    parts = answer.get("responseParts")
    for part in parts if isinstance(parts, list) else ():
        held = part.get("functionResponse") if isinstance(part, dict) else None
        told = held.get("response") if isinstance(held, dict) else None
        if isinstance(told, dict) and (text := text_of(told.get("error"))):
            return text
    return None


_REFUSALS = ("tool_not_registered", "invalid_tool_params")
"""Types of errors that came before a call could run."""


def _refused(attributes: dict[str, Json]) -> bool:
    """Whether one call was scheduled and refused: no span of its own will tell of it."""
    answer = _only(decode_json(attributes.get("gen_ai.output.messages"))).get("response")
    return isinstance(answer, dict) and answer.get("errorType") in _REFUSALS


def _only(value: Json) -> dict[str, Json]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str | None:
    return text_of(value.get("message") if isinstance(value, dict) else value)


@dataclass(frozen=True)
class Family:
    """What one program of the family calls itself: in events, as a service, as an agent."""

    prefix: str
    agent: str

    def kind_of(self, span: Span) -> Kind | None:
        """Return the kind by the record a span stands for, else by its operation."""
        attributes = span.attributes
        if (event := self._event(attributes.get("event.name"))) is not None:
            return _EVENTS[event]
        service = span.resource.get("service.name")
        if self.agent not in (span.scope_name, service, attributes.get("gen_ai.agent.name")):
            return None
        operation = attributes.get("gen_ai.operation.name")
        if operation == "schedule_tool_calls" and _refused(attributes):
            return step(StepType.TOOL_CALL)
        if isinstance(operation, str) and operation in _OPERATIONS:
            return _OPERATIONS[operation]
        return _genai.kind_of(span)

    def _event(self, name: Json) -> str | None:
        """The end of the name of an event that stands for a span."""
        if not isinstance(name, str) or not name.startswith(self.prefix):
            return None
        end = name.removeprefix(self.prefix)
        return end if end in _EVENTS else None

    def refine(self, span: Span, reading: Reading) -> Reading:
        """Unwrap requests and completed calls, and read the outcome a record states."""
        attributes = span.attributes
        changes: dict[str, Any] = {}
        if reading.step_type in TOOL_STEP_TYPES:
            changes = _called(attributes)
            if attributes.get("tool_type") == "mcp":
                changes["is_mcp"] = True
        elif reading.step_type is StepType.AGENT_RUN:
            names = ("agent_name", "subagent_name", "gen_ai.agent.name")
            name = next((t for n in names if (t := text_of(attributes.get(n)))), self.agent)
            changes = {"name": name, "agent_name": name}
            if attributes.get("status") == "failed":
                changes |= {"failed": True, "failure": text_of(attributes.get("terminate_reason"))}
        elif reading.is_model_call:
            if text_of(attributes.get("error")):
                changes = {"failed": True, "failure": attributes["error"]}
            if attributes.get("gen_ai.operation.name") == "llm_call":
                changes["requests"] = ()  # every call is recorded where it is scheduled
        if reading.step_type is not None and "agent_name" not in changes and not reading.agent_name:
            changes["agent_name"] = text_of(attributes.get("subagent_name")) or self.agent
        return msgspec.structs.replace(reading, **changes) if changes else reading

    def from_log(self, record: LogRecord) -> Span | None:
        """Return the span a record stands for: a prompt, an answer, a tool call, an agent."""
        event = str(record.attributes.get("event.name") or record.event_name)
        name = self._event(event)
        if name is None or record.attributes.get("status") == "started":
            return None
        prompt = text_of(record.attributes.get("prompt_id"))
        group = text_of(record.attributes.get("session.id")) or record.trace_id
        if group is None:
            return None
        extra = {"event.name": event}
        if name == "user_prompt":
            return standin(record, name, group=group, span_id=prompt, **extra)
        return standin(record, name, group=group, parent=prompt, **extra)


def convention(name: str, description: str, family: Family) -> LoggedConvention:
    """Return the convention of one program of the family."""
    return LoggedConvention(
        name=name,
        description=description,
        tier=20,
        vocabulary=VOCABULARY,
        kind_of=family.kind_of,
        refine=family.refine,
        facts=(family.prefix + "tool_call",),
        from_log=family.from_log,
        hints={
            "content": "set telemetry.logPrompts to true, and read the log records with the spans",
            "tokens": "read the log records together with the spans",
        },
    )
