"""Haystack through OpenInference: pipelines, components and agents.

One thing a newcomer would get wrong: no tool has a span. Messages are reprs of Haystack's objects,
so what a model was told of its calls is read from those; the attributes of a message have lost it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.conventions._reprs import objects_in
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span

_SCOPES = ("openinference.instrumentation.haystack",)
_CHAINS: dict[str, Kind] = {
    "Agent": step(StepType.AGENT_RUN),
    "Pipeline": step(StepType.WORKFLOW_RUN),
    "AsyncPipeline": step(StepType.WORKFLOW_RUN),
    "ToolInvoker": noise("runs the calls of a turn"),
}


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with agents and pipelines told from other components."""
    if span.scope_name not in _SCOPES:
        return None
    if span.attributes.get("openinference.span.kind") == "CHAIN":
        known = _CHAINS.get(_owner(span))
        if known is not None:
            return known
    return _openinference.kind_of(span)


def _owner(span: Span) -> str:
    return span.name.partition(".")[0]


def refine(span: Span, reading: Reading) -> Reading:
    """Name runs after their class, and read calls and results from the reprs of messages."""
    changes: dict[str, Any] = {}
    if reading.step_type in (StepType.AGENT_RUN, StepType.WORKFLOW_RUN):
        changes["name"] = _owner(span)
    elif reading.is_model_call:
        asked = objects_in(span.attributes.get("output.value"), "ToolCall")
        if requests := find_requests([{"tool_call": call} for call in asked]):
            changes["requests"] = requests
            changes["sources"] = {**reading.sources, "requests": "output.value"}
        changes |= _told(span, "input.value")
    elif _owner(span) == "ToolInvoker":
        changes = _told(span, "output.value")
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _told(span: Span, name: str) -> dict[str, Any]:
    told = objects_in(span.attributes.get(name), "ToolCallResult")
    return {"responses": find_responses([{"tool_call_result": t} for t in told])} if told else {}


CONVENTION = VocabularyConvention(
    name="haystack-openinference",
    description="Haystack pipelines and agents as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": _openinference.HINTS["content"]},
)
