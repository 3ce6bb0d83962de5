"""Haystack by its own tracer: pipelines, their components, and agents (Haystack 2 and 3).

One thing a newcomer would get wrong: the scope is whatever the user named the tracer, so the label
tells. Haystack 2 has no span for a tool: its ToolInvoker runs all calls of a turn, and what came of
them stands in the next request to the model. An agent's name is that of the component it is.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._messages import find_responses
from trajscope.conventions._usage import usage_in
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.evidence import failure_in_result
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_json, text_of

_COMPONENT = "haystack.component.run"
_TYPE, _NAME = "haystack.component.type", "haystack.component.name"
_INVOKER = "ToolInvoker"
_KINDS: dict[str, Kind] = {
    "haystack.pipeline.run": step(StepType.WORKFLOW_RUN),
    "haystack.async_pipeline.run": step(StepType.WORKFLOW_RUN),
    "haystack.agent.run": step(StepType.AGENT_RUN),
    "haystack.agent.step": noise("a turn of an agent is no step"),
    "haystack.agent.step.llm": step(StepType.MODEL_GENERATION),
    "haystack.agent.step.tool": step(StepType.TOOL_CALL),
}
_COMPONENTS: tuple[tuple[str, Kind], ...] = (
    ("Agent", step(StepType.AGENT_RUN)),
    (_INVOKER, noise("runs the calls of a turn")),
    ("Generator", step(StepType.MODEL_GENERATION)),
    ("Retriever", step(StepType.RETRIEVAL)),
    ("Embedder", step(StepType.EMBEDDING)),
)
"""What a component is, by the end of its class name; the first that fits."""

_INPUT = ("haystack.agent.step.llm.input", "haystack.component.input")
_OUTPUT = ("haystack.agent.step.llm.output", "haystack.component.output")

VOCABULARY = Vocabulary(
    tool_name=("haystack.tool.name",),
    tool_args=("haystack.agent.step.tool.input",),
    tool_result=("haystack.agent.step.tool.output",),
    agent_run_name=("haystack.agent.name",),
    output_messages=_OUTPUT,
    input_messages=_INPUT,
    query=("haystack.component.input",),
    output=("haystack.component.output",),
)


def kind_of(span: Span) -> Kind | None:
    """Return the kind by the label, and that of a component by its class."""
    if span.name != _COMPONENT:
        return _KINDS.get(span.name)
    kind = text_of(span.attributes.get(_TYPE)) or ""
    found = next((known for end, known in _COMPONENTS if kind.endswith(end)), None)
    return found or noise("a component of a pipeline")


def refine(span: Span, reading: Reading) -> Reading:
    """Read what the reply of a model tells of it, a tool's failure, and names of components."""
    name = text_of(span.attributes.get(_NAME))
    changes: dict[str, Any] = {}
    if reading.is_model_call:
        changes = _of_reply(span)
    elif reading.step_type is StepType.TOOL_CALL:
        if span.attributes.get("haystack.tool.error") is True and not reading.failed:
            said = failure_in_result(reading.result).message
            changes = {"failed": True, "failure": said or "the tool failed"}
            changes["sources"] = {**reading.sources, "failed": "haystack.tool.error"}
    elif reading.step_type is StepType.AGENT_RUN:
        changes = {"name": name, "agent_name": name} if name else {}
    elif reading.step_type in (StepType.RETRIEVAL, StepType.EMBEDDING):
        changes = {"name": name or span.name}
    elif span.name == _COMPONENT and (text_of(span.attributes.get(_TYPE)) or "").endswith(_INVOKER):
        changes = {"responses": find_responses(span.attributes.get("haystack.component.output"))}
    elif reading.step_type is None and span.name == _COMPONENT and name:
        changes = {"candidate": StepType.WORKFLOW_STEP, "name": name}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _of_reply(span: Span) -> dict[str, Any]:
    """Model, finish reason and token counts, which stand in the `meta` of the first reply."""
    said = next((span.attributes[n] for n in _OUTPUT if n in span.attributes), None)
    match decode_json(said):
        case {"replies": [{"meta": {**meta}}, *_]} | {"meta": [{**meta}, *_]}:
            model = text_of(meta.get("model"))
            return {
                "name": model or "",
                "model": model,
                "finish_reason": text_of(meta.get("finish_reason")),
                "usage": usage_in(meta.get("usage")),
            }
    return {}


CONVENTION = VocabularyConvention(
    name="haystack",
    description="Haystack pipelines and agents as their own tracer records them.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "set HAYSTACK_CONTENT_TRACING_ENABLED=true"},
)
