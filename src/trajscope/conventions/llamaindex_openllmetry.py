"""LlamaIndex through OpenLLMetry: agents, workflows, tools, and every method of a class as a task.

One thing a newcomer would get wrong: a span is named after a class, not a method, so all steps of
an agent are called alike; what a step handed on tells which it was. A tool that fails has no span
of its own: the step that ran it is the call.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _genai, _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import content_of, decode_json, text_of

_SCOPE = "opentelemetry.instrumentation.llamaindex"
_INPUT, _OUTPUT = "traceloop.entity.input", "traceloop.entity.output"
_MULTI_AGENT = "AgentWorkflow"
_PARTS = ("Parser", "Splitter", "Embedding")
"""Ends of class names whose methods are no runs, though no other span lies above them."""

_QUERY = "str_or_query_bundle"

VOCABULARY = _openllmetry.VOCABULARY.extended(
    tool_name=("tool.name",), tool_args=("tool.arguments",), answer=(_OUTPUT,)
)


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation, else by what class and step of it the span is of."""
    if span.scope_name != _SCOPE:
        return None
    attributes = span.attributes
    if "gen_ai.operation.name" in attributes:
        return _genai.kind_of(span)
    kind = attributes.get("traceloop.span.kind")
    owner = _owner(span)
    if "tool.name" in attributes or owner.endswith("Tool"):
        return step(StepType.TOOL_CALL)
    if owner.endswith("Retriever"):
        is_whole = _QUERY in _fields(span, _INPUT)
        return step(StepType.RETRIEVAL) if is_whole else noise("a part of a retrieval")
    if kind == "workflow" and not owner.endswith(_PARTS):
        is_run = _is_of_agent(span) and owner != _MULTI_AGENT
        return step(StepType.AGENT_RUN if is_run else StepType.WORKFLOW_RUN)
    if _is_of_agent(span):
        return noise("a step of the workflow every agent is built on")
    if kind in ("task", "workflow"):
        return noise("a method of a class")
    return _openllmetry.kind_of(span)


def _owner(span: Span) -> str:
    """The class a span is named after: `main.<locals>.Flow.task` -> Flow."""
    return span.name.rpartition(".")[0].rpartition(".")[2]


def _is_of_agent(span: Span) -> bool:
    owner = _owner(span)
    return owner.endswith("Agent") or owner == _MULTI_AGENT


def _fields(span: Span, name: str) -> dict[str, Json]:
    value = decode_json(span.attributes.get(name))
    return value if isinstance(value, dict) else {}


def refine(span: Span, reading: Reading) -> Reading:
    """Read a tool's output and a query out of what was handed on; name runs and their agents."""
    changes: dict[str, Any] = {}
    if reading.step_type is StepType.TOOL_CALL:
        changes = _of_tool(span, reading)
    elif reading.step_type in (StepType.AGENT_RUN, StepType.WORKFLOW_RUN):
        changes = {"name": _owner(span) or span.name, "agent_name": None}
    elif reading.step_type is StepType.RETRIEVAL:
        query = _fields(span, _INPUT).get(_QUERY)
        text = query.get("query_str") if isinstance(query, dict) else query
        output = decode_json(span.attributes.get(_OUTPUT))
        changes = {"name": _owner(span), "fields": {"query": text, "output": output}}
    elif reading.step_type is None and _is_of_agent(span):
        changes = {"agent_name": text_of(_fields(span, _OUTPUT).get("current_agent_name"))}
    elif reading.step_type is None:
        changes = {"candidate": StepType.WORKFLOW_STEP, "name": _owner(span) or span.name}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _of_tool(span: Span, reading: Reading) -> dict[str, Any]:
    """What a `ToolOutput` tells, which the step around a tool wraps once more, with the call."""
    said = _fields(span, _OUTPUT)
    inner = said.get("tool_output")
    output = inner if isinstance(inner, dict) else said
    if "tool.name" not in span.attributes:
        reading = msgspec.structs.replace(reading, name=text_of(output.get("tool_name")) or "")
    changes: dict[str, Any] = {"name": reading.name, "tool_call_id": text_of(said.get("tool_id"))}
    if "raw_output" not in output:
        return changes
    result = output["raw_output"]
    changes["result"] = result
    if output.get("is_error") is True and not reading.failed:
        text = text_of(result) or text_of(content_of(output.get("blocks")))
        changes |= {"failed": True, "failure": text or "the tool failed"}
        changes["result"] = text if result is None else result
        changes["sources"] = {**reading.sources, "failed": f"is_error in {_OUTPUT}"}
    return changes


CONVENTION = VocabularyConvention(
    name="llamaindex-openllmetry",
    description="LlamaIndex agents and workflows as OpenLLMetry records them.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openllmetry.HINTS,
)
