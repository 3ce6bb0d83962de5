"""LlamaIndex through OpenInference: agents, workflows, and model calls wrapped in themselves.

One thing a newcomer would get wrong: an agent *is* a workflow here, and its name stands on none of
its spans as such; the events handed from step to step end with `current_agent_name='…'`.
"""

from __future__ import annotations

import re
from typing import Any, TypeGuard

import msgspec
from msgspec import UnsetType

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, text_of

_SCOPES = (
    "openinference.instrumentation.llama_index",
    "openinference-instrumentation-llama-index",
)
_AGENT_STEPS = frozenset(
    {"init_run", "setup_agent", "run_agent_step", "parse_agent_output", "call_tool"}
    | {"aggregate_tool_results", "handle_llm_response", "gather_tool_results"}
)
"""Steps of the workflow every agent is built on."""

_AGENT_MARK = "run_agent_step"
_MULTI_AGENT = "AgentWorkflow"
_NOT_A_WORKFLOW = ("Pipeline", "Query")
_NO_CALL = ("get_tool_calls_from_response",)
_CURRENT_AGENT = re.compile(
    r"current_agent_name=(?:'(?P<single>(?:[^'\\]|\\.)+)'|\"(?P<double>(?:[^\"\\]|\\.)+)\")\)\Z"
)


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with agent and workflow runs told from other chains."""
    if span.scope_name not in _SCOPES:
        return None
    kind = span.attributes.get("openinference.span.kind")
    owner, method = _owner_and_method(span)
    if kind == "LLM" and (method.startswith("_") or method in _NO_CALL):
        return noise("prepares or parses; no model is called")
    if kind in ("CHAIN", "AGENT"):
        if method in _AGENT_STEPS:
            return noise("a step of the workflow every agent is built on")
        if method == "run" and (found := _run_kind(span, owner)) is not None:
            return found
    return _openinference.kind_of(span)


def _owner_and_method(span: Span) -> tuple[str, str]:
    """Class and method of a span name: `main.<locals>.W.begin_step` -> W, begin_step."""
    owner, _, method = span.name.rpartition(".")
    return owner.rpartition(".")[2], method


def _run_kind(span: Span, owner: str) -> Kind | None:
    if owner == _MULTI_AGENT:
        return step(StepType.WORKFLOW_RUN)
    state = text_of(span.attributes.get("input.value")) or ""
    if owner.endswith("Agent") or _AGENT_MARK in state:
        return step(StepType.AGENT_RUN)
    if any(word in owner for word in _NOT_A_WORKFLOW):
        return None
    return step(StepType.WORKFLOW_RUN)


def refine(span: Span, reading: Reading) -> Reading:
    """Name runs after their class, and say which agent a step of an agent's workflow is for."""
    owner, method = _owner_and_method(span)
    changes: dict[str, Any] = {}
    if reading.step_type in (StepType.AGENT_RUN, StepType.WORKFLOW_RUN):
        changes["name"] = owner or span.name
    elif reading.step_type is StepType.TOOL_CALL and _is_tool_output(reading.result):
        changes["result"] = reading.result["raw_output"]
    elif reading.step_type is None and span.attributes.get("openinference.span.kind") == "CHAIN":
        if method in _AGENT_STEPS:
            changes["agent_name"] = _current_agent(span)
        else:
            changes |= {"candidate": StepType.WORKFLOW_STEP, "name": method}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _is_tool_output(result: Json | UnsetType) -> TypeGuard[dict[str, Json]]:
    """Whether a result is a serialised `ToolOutput`, which holds what the tool returned."""
    return isinstance(result, dict) and {"raw_output", "raw_input"} <= result.keys()


def _current_agent(span: Span) -> str | None:
    """The agent an event names last; a user's text inside the event cannot stand there."""
    for key in ("input.value", "output.value"):
        value = decode_json(span.attributes.get(key))
        event = value.get("ev") if isinstance(value, dict) else value
        if isinstance(event, str) and (match := _CURRENT_AGENT.search(event[-300:])):
            return match["single"] or match["double"]
    return None


CONVENTION = VocabularyConvention(
    name="llamaindex",
    description="LlamaIndex agents and workflows as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
