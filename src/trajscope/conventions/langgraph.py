"""LangChain and LangGraph through OpenLLMetry: graphs, nodes, created agents and retrievers.

One thing a newcomer would get wrong: `invoke_agent` is the operation of *every* runnable that was
called from outside, a sequence of a prompt and a parser too. The graph's metadata, kept as
`traceloop.association.properties.*`, tells agents from workflows.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._langgraph import graph_kind
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, decode_repr, text_of

_SCOPES = ("opentelemetry.instrumentation.langchain",)
_PROPERTY = "traceloop.association.properties."
_KEYS = ("langgraph_node", "lc_agent_name", "ls_integration")
_NODES = "gen_ai.workflow.nodes"
_RETRIEVE = "vector_db_retrieve"


def kind_of(span: Span) -> Kind | None:
    """Return the OpenLLMetry kind, with runnables told apart by the graph's metadata."""
    if span.scope_name not in _SCOPES:
        return None
    attributes = span.attributes
    if attributes.get("gen_ai.operation.name") == _RETRIEVE:
        return step(StepType.RETRIEVAL)
    if _NODES in attributes:
        return _invoked(attributes[_NODES])
    if attributes.get("traceloop.span.kind") in ("workflow", "task"):
        return _runnable(span)
    return _openllmetry.kind_of(span)


def _invoked(nodes: Json) -> Kind:
    """The `invoke_agent` span around a graph: an agent when it has a `model` node."""
    listed = decode_repr(nodes) if isinstance(nodes, str) else nodes
    is_agent = isinstance(listed, list) and "model" in listed
    return step(StepType.AGENT_RUN if is_agent else StepType.WORKFLOW_RUN)


def _runnable(span: Span) -> Kind:
    metadata = {k: span.attributes.get(_PROPERTY + k) for k in _KEYS}
    name = text_of(span.attributes.get("traceloop.entity.name")) or ""
    return graph_kind(name, metadata) or noise("a runnable is glue around steps")


def refine(span: Span, reading: Reading) -> Reading:
    """Name runs and nodes after the entity, and find what a retriever was asked and answered."""
    attributes = span.attributes
    name = text_of(attributes.get("traceloop.entity.name"))
    agent = text_of(attributes.get(_PROPERTY + "lc_agent_name"))
    changes: dict[str, Any] = {}
    if reading.step_type in (StepType.AGENT_RUN, StepType.WORKFLOW_RUN, StepType.WORKFLOW_STEP):
        changes["name"] = name or text_of(attributes.get("gen_ai.agent.name")) or span.name
        is_agent = reading.step_type is StepType.AGENT_RUN
        changes["agent_name"] = changes["name"] if is_agent else None
    elif reading.step_type is StepType.RETRIEVAL:
        changes = {"name": name or span.name, "fields": _asked_and_found(span)}
    elif not reading.is_model_call and reading.step_type is None:
        changes["agent_name"] = agent
        if attributes.get("traceloop.span.kind") == "workflow":
            changes["candidate"] = StepType.WORKFLOW_RUN
    elif agent:
        changes["agent_name"] = agent
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _asked_and_found(span: Span) -> dict[str, Json]:
    asked = decode_json(span.attributes.get("traceloop.entity.input"))
    found = decode_json(span.attributes.get("traceloop.entity.output"))
    fields: dict[str, Json] = {}
    if isinstance(asked, dict) and "query" in asked:
        fields["query"] = asked["query"]
    if isinstance(found, dict) and "documents" in found:
        fields["output"] = found["documents"]
    return fields


CONVENTION = VocabularyConvention(
    name="langgraph",
    description="LangChain and LangGraph as OpenLLMetry records them.",
    tier=20,
    vocabulary=_openllmetry.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openllmetry.HINTS,
)
