"""CrewAI through OpenLLMetry: the crew, its tasks and agents, and the crew's own transcript.

One thing a newcomer would get wrong: neither tools nor model calls have spans here. What the agents
did stands in the crew's `tasks_output`, a Python repr with the messages of every task in it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions import _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.model.reading import Reading, StepType, Usage
from trajscope.model.span import Json, Span
from trajscope.values import count_of, decode_repr, repr_at, text_of

_SCOPE = "opentelemetry.instrumentation.crewai"
_MESSAGES = re.compile(r"\bmessages=(?=\[)")
_COUNT = re.compile(r"\b(?P<name>\w+)=(?P<count>\d+)")
_MAX_TASKS = 1_000

VOCABULARY = _openllmetry.VOCABULARY.extended(
    agent_run_name=("crewai.agent.role",), workflow_name=("crewai.crew.name",)
)


def kind_of(span: Span) -> Kind | None:
    """Return workflow, step and agent by the CrewAI attributes: all three are `invoke_agent`."""
    if not span.scope_name.startswith(_SCOPE):
        return None
    attributes = span.attributes
    kind = attributes.get("traceloop.span.kind")
    if kind == "task" or "crewai.task.id" in attributes:
        return step(StepType.WORKFLOW_STEP)
    if kind == "agent" or "crewai.agent.id" in attributes:
        return step(StepType.AGENT_RUN)
    if span.name.endswith(".workflow"):
        return step(StepType.WORKFLOW_RUN)
    return _openllmetry.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name tasks; read the crew's token counts and its transcript."""
    attributes = span.attributes
    if reading.step_type is StepType.WORKFLOW_STEP:
        name = text_of(attributes.get("crewai.task.name")) or span.name.removesuffix(".task")
        return msgspec.structs.replace(reading, name=name, agent_name=None)
    if reading.step_type is not StepType.WORKFLOW_RUN:
        return reading
    changes: dict[str, Any] = {"agent_name": None, **_usage(attributes)}
    messages = _transcript(attributes.get("crewai.crew.tasks_output"))
    if messages:
        changes["requests"] = find_requests(messages)
        changes["responses"] = find_responses(messages)
        changes["sources"] = {**reading.sources, "requests": "crewai.crew.tasks_output"}
    return msgspec.structs.replace(reading, **changes)


def _transcript(value: Json) -> list[Json]:
    """The messages of every task: the lists behind `messages=` in the repr of the outputs."""
    text = value if isinstance(value, str) else ""
    found: list[Json] = []
    end = 0
    for match in list(_MESSAGES.finditer(text))[:_MAX_TASKS]:
        if match.end() < end:  # inside a message's text
            continue
        literal = repr_at(text, match.end())
        messages = decode_repr(literal) if literal else UNSET
        if isinstance(messages, list):
            found += messages
            end = match.end() + len(literal)
    return found


def _usage(attributes: dict[str, Json]) -> dict[str, Any]:
    """The crew's sums: `total_tokens=156 prompt_tokens=120 … successful_requests=3`."""
    said = text_of(attributes.get("crewai.crew.token_usage")) or ""
    counts = {m["name"]: count_of(m["count"]) for m in _COUNT.finditer(said)}
    if not counts:
        return {}
    usage = Usage(
        input=counts.get("prompt_tokens"),
        output=counts.get("completion_tokens"),
        cached_input=counts.get("cached_prompt_tokens"),
        reasoning_output=counts.get("reasoning_tokens"),
    )
    return {"usage": usage, "model_calls": counts.get("successful_requests")}


CONVENTION = VocabularyConvention(
    name="crewai-openllmetry",
    description="CrewAI crews, tasks and agents as OpenLLMetry records them.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={
        "content": "use the OpenInference instrumentation of CrewAI: this one writes no tool spans",
        "model_calls": _openllmetry.HINTS["model_calls"],
    },
)
