"""LangWatch SDKs: `langwatch.span.type`, with input and output wrapped in their type.

One thing a newcomer would get wrong: a tool's name is that of its span, and what stands in
`langwatch.input` is `{"type": …, "value": …}` around what the function was given.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_arguments, decode_json

_INPUT, _OUTPUT = "langwatch.input", "langwatch.output"

VOCABULARY = GEN_AI.extended(
    session=("langwatch.thread.id", "gen_ai.conversation.id"),
    tool_args=(_INPUT,),
    tool_result=(_OUTPUT,),
    usage=("langwatch.metrics",),
    query=(_INPUT,),
    output=(_OUTPUT,),
)

KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "tool": step(StepType.TOOL_CALL),
    "llm": step(StepType.MODEL_GENERATION),
    "rag": step(StepType.RETRIEVAL),
    "guardrail": step(StepType.GUARDRAIL),
    "workflow": step(StepType.WORKFLOW_RUN),
}
"""What each value of `langwatch.span.type` is; any other (span, chain, component, …) is noise."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `langwatch.span.type`."""
    kind = span.attributes.get("langwatch.span.type")
    if not isinstance(kind, str):
        return None
    return KINDS.get(kind.lower()) or noise(f"a LangWatch {kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Take values out of their wrappings, and the names of tools, agents and models."""
    changes: dict[str, Any] = {}
    if reading.step_type in TOOL_STEP_TYPES:
        changes["name"] = reading.name or span.name
        given, said = _held(span, _INPUT), _held(span, _OUTPUT)
        arguments = decode_arguments(given)
        if _INPUT in span.attributes:
            changes |= {"args": arguments.args, "args_value": arguments.bare}
        if _OUTPUT in span.attributes:
            changes["result"] = said
    elif reading.step_type is StepType.MODEL_GENERATION:
        if not reading.requests:
            changes["requests"] = find_requests(_held(span, _OUTPUT))
        if not reading.responses:
            changes["responses"] = find_responses(_held(span, _INPUT))
    elif reading.step_type is StepType.AGENT_RUN and not reading.agent_name:
        changes |= {"name": span.name, "agent_name": span.name}
    elif reading.step_type is StepType.RETRIEVAL:
        changes["fields"] = {"query": _held(span, _INPUT), "output": _held(span, _OUTPUT)}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _held(span: Span, name: str) -> Json:
    value = decode_json(span.attributes.get(name))
    is_wrapped = isinstance(value, dict) and value.keys() == {"type", "value"}
    return decode_json(value["value"]) if isinstance(value, dict) and is_wrapped else value


CONVENTION = VocabularyConvention(
    name="langwatch",
    description="LangWatch SDKs: langwatch.span.type, input and output.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave capture_input and capture_output of spans switched on"},
)
