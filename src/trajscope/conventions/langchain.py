"""LangChain and LangGraph through OpenInference: graphs, nodes and created agents.

One thing a newcomer would get wrong: the recorder calls every chain with "agent" in its name an
AGENT. What is an agent, a workflow or a node stands in the graph's `metadata`.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind
from trajscope.conventions._langgraph import graph_kind
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, text_of

_SCOPES = (
    "openinference.instrumentation.langchain",
    "@arizeai/openinference-instrumentation-langchain",
)
_CHAINS = ("CHAIN", "AGENT")


def metadata_of(span: Span) -> dict[str, Json]:
    """Return the run's metadata, which is one attribute of JSON text."""
    found = decode_json(span.attributes.get("metadata"))
    return found if isinstance(found, dict) else {}


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with chains told apart by the graph's metadata."""
    if span.scope_name not in _SCOPES:
        return None
    kind = span.attributes.get("openinference.span.kind")
    if kind in _CHAINS:
        found = graph_kind(
            span.name, metadata_of(span), lambda: span.attributes.get("output.value")
        )
        if found is not None:
            return found
    return _openinference.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name graphs and nodes after their span, and every step's agent after the metadata."""
    if reading.is_model_call:
        return reading
    metadata = metadata_of(span)
    agent = text_of(metadata.get("lc_agent_name"))
    sources = {**reading.sources, "agent_name": "metadata.lc_agent_name"} if agent else None
    changes: dict[str, object] = {}
    if reading.step_type is StepType.AGENT_RUN:
        changes = {"name": span.name, "agent_name": span.name}
        sources = {**reading.sources, "name": "span name"}
    elif reading.step_type in (StepType.WORKFLOW_RUN, StepType.WORKFLOW_STEP):
        changes = {"name": span.name}
    elif agent and reading.agent_name is None:
        changes = {"agent_name": agent}
    if reading.step_type is None and not metadata.get("langgraph_node"):
        changes["candidate"] = StepType.WORKFLOW_RUN
    if sources is not None and changes:
        changes["sources"] = sources
    return msgspec.structs.replace(reading, **changes) if changes else reading


CONVENTION = VocabularyConvention(
    name="langchain",
    description="LangChain and LangGraph as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
