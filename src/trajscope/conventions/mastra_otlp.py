"""Mastra's OTLP exporters: 1.x (`mastra.span.type`) and 0.x (operations like `tool.execute`).

One thing a newcomer would get wrong: in 1.x the whole loop is one `model_generation` without model
or tokens; the calls are `model_inference`. In 0.x one generation span holds the sum of its steps.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise
from trajscope.conventions._mastra import (
    camel_to_snake,
    is_tripwire,
    kind_of_type,
    quoted,
    typed_fields,
)
from trajscope.conventions._messages import find_requests
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_arguments, text_of

VOCABULARY = GEN_AI.extended(
    session=("mastra.metadata.threadId", "mastra.metadata.sessionId"),
    agent_name=("agent.id", "gen_ai.agent.id"),
    agent_id=("agent.id",),
    workflow_name=("workflow.id", "mastra.workflow_run.workflow_id"),
    mcp_server=("mastra.mcp_tool_call.server_name", "mastra.mcp_tool_call.mcp_server"),
)

_OLD_OPERATIONS = {
    "agent.run": "agent_run",
    "tool.execute": "tool_call",
    "mcp_tool.execute": "mcp_tool_call",
    "model.step": "model_step",
    "model.chunk": "model_chunk",
    "workflow.run": "workflow_run",
    "workflow.step": "workflow_step",
    "workflow.conditional": "workflow_conditional",
    "workflow.conditional.eval": "workflow_conditional_eval",
    "workflow.parallel": "workflow_parallel",
    "workflow.loop": "workflow_loop",
    "workflow.sleep": "workflow_sleep",
    "workflow.wait.event": "workflow_wait_event",
    "processor.run": "processor_run",
    "generic": "generic",
}
_OLD_SCOPES = ("@mastra/otel",)


def span_type(span: Span) -> str | None:
    """Return Mastra's span type, from its attribute or from a 0.x operation name."""
    found = span.attributes.get("mastra.span.type")
    if isinstance(found, str):
        return found.lower()
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        if operation in _OLD_OPERATIONS:
            return _OLD_OPERATIONS[operation]
        if operation == "chat" and span.scope_name in _OLD_SCOPES:
            return "model_generation"
    return None


def kind_of(span: Span) -> Kind | None:
    """Return the kind by span type."""
    found = span_type(span)
    if found is None:
        return None
    if found in _INNER and is_replay(span, found):
        return noise("a resumed run shows the model call again that it had stopped after")
    step_id = span.attributes.get("mastra.workflow_step.step_id") or quoted(span.name)
    return kind_of_type(found, text_of(step_id))


_INNER = ("model_step", "model_inference")


def is_replay(span: Span, kind: str) -> bool:
    """Whether a span of a resumed run repeats a model call instead of making one.

    The step has no input, and the inference, which asked for tools, no time of a first token.
    """
    attributes = span.attributes
    if attributes.get("mastra.metadata.resumed") in (None, False, "false"):
        return False
    if kind == "model_step":
        return "mastra.model_step.input" not in attributes
    reasons = text_of(attributes.get("gen_ai.response.finish_reasons")) or ""
    return "tool" in reasons and "mastra.completion_start_time" not in attributes


def refine(span: Span, reading: Reading) -> Reading:
    """Add what stands under `mastra.<type>.*`: typed fields, requested calls, names."""
    kind = span_type(span) or ""
    changes: dict[str, Any] = {}

    def get(name: str) -> Any:
        own = span.attributes.get(f"mastra.{kind}.{camel_to_snake(name)}")
        plain = span.attributes.get(name if name == "output" else f"workflow.{name}")
        return own if own is not None else plain

    step_type = reading.step_type
    if step_type is not None:
        if fields := typed_fields(step_type, get):
            changes["fields"] = fields
        name = text_of(get("stepId")) or text_of(get("processorId")) or text_of(get("eventName"))
        if reading.name in ("", span.name) and (name := name or quoted(span.name) or _last(span)):
            changes["name"] = name
    if reading.is_model_call and not reading.requests:
        changes["requests"] = find_requests(span.attributes.get(f"mastra.{kind}.output"))
    if step_type is StepType.MCP_TOOL_CALL:
        changes["is_mcp"] = True
    if kind == "client_tool_call":  # the tool is unknown here, or another program runs it
        changes["is_silent"] = True
        if reading.args is UNSET and "mastra.metadata.args" in span.attributes:
            changes["args"] = decode_arguments(span.attributes["mastra.metadata.args"]).args
    if step_type is StepType.AGENT_RUN and is_tripwire(get("output")):
        changes["model_calls"] = 0  # but for those that are recorded
    if step_type is StepType.PROCESSOR_RUN and reading.failed:
        changes |= {"failed": False, "not_failure": True}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _last(span: Span) -> str | None:
    """The name at the end of a label: `workflow.wait-workflow`, `workflow_step big`, `wait: x`."""
    for mark in (": ", " ", "."):
        if mark in span.name:
            return span.name.partition(mark)[2].strip() or None
    return None


CONVENTION = VocabularyConvention(
    name="mastra",
    description="Mastra's OTLP exporters: mastra.span.type (1.x), tool.execute and so on (0.x).",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
)
