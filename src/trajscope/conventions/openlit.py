"""OpenLIT: GenAI operations, with what its recorders of frameworks write differently.

One thing a newcomer would get wrong: `invoke_agent` is also the span of every node of a LangGraph
graph, of every turn of the OpenAI Agents SDK, and of every method of a CrewAI flow, which each of
CrewAI's agents is built on; and LangChain's results are Python reprs of a message.
"""

from __future__ import annotations

import ast
import re

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

_SCOPE = "openlit.instrumentation."
_LANGGRAPH, _AGENTS = _SCOPE + "langgraph", _SCOPE + "openai_agents"
_ADK = _SCOPE + "google_adk"
_CREWAI, _CREWAI_AGENT = _SCOPE + "crewai", "AgentExecutor"
_METHOD = "a method of a flow"
_MACHINERY = frozenset({"model", "tools", "agent"})
"""Nodes of a graph that `create_agent` and its forerunner build: the model and the tools."""

_MESSAGE = re.compile(
    r"content=(?P<content>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") (?P<rest>.*\btool_call_id=.*)",
    re.DOTALL,
)
_MAX_CHARS = 100_000

VOCABULARY = GEN_AI.extended(
    tool_args=("gen_ai.tool.call.arguments", "gen_ai.tool.args"),
    status_text=("gen_ai.framework.error.message",),
)


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation, with nodes and turns told from agents."""
    if not span.scope_name.startswith(_SCOPE):
        return None
    if span.attributes.get("gen_ai.operation.name") == "invoke_agent":
        name = text_of(span.attributes.get("gen_ai.agent.name"))
        if span.scope_name == _LANGGRAPH:
            is_glue = name is None or name in _MACHINERY
            return noise("a node of an agent") if is_glue else step(StepType.WORKFLOW_STEP)
        if span.scope_name == _AGENTS and name is None:
            return noise("a task or turn of the OpenAI Agents SDK")
        if span.scope_name == _CREWAI and name is None:
            return noise(_METHOD)
        if span.scope_name == _ADK and "gen_ai.execution.mode" in span.attributes:
            return noise("the runner of an app, which is named like an agent")
    is_executor = span.attributes.get("gen_ai.workflow.name") == _CREWAI_AGENT
    if is_executor and span.scope_name == _CREWAI:
        return noise("the flow every agent of CrewAI is built on")
    return _genai.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name nodes, and take a result out of the repr of LangChain's message."""
    reading = _genai.refine(span, reading)
    if reading.step_type is StepType.WORKFLOW_STEP:
        return msgspec.structs.replace(reading, name=reading.agent_name or "", agent_name=None)
    if reading.noise_reason == _METHOD:
        name = span.name.partition(" ")[2] or span.name
        return msgspec.structs.replace(reading, candidate=StepType.WORKFLOW_STEP, name=name)
    result = reading.result
    if reading.step_type not in TOOL_STEP_TYPES or not isinstance(result, str):
        return reading
    if len(result) > _MAX_CHARS or (match := _MESSAGE.fullmatch(result)) is None:
        return reading
    text = ast.literal_eval(match["content"])
    reading = msgspec.structs.replace(reading, result=text)
    if "status='error'" in match["rest"] and reading.failed is None:
        sources = {**reading.sources, "failed": "status of the tool message"}
        reading = msgspec.structs.replace(reading, failed=True, failure=text, sources=sources)
    return reading


CONVENTION = VocabularyConvention(
    name="openlit",
    description="OpenLIT: GenAI operations as its instrumentations write them.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave capture_message_content of openlit.init true"},
)
