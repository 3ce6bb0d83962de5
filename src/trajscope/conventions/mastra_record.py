"""Mastra's stored span records, as the `mastra-spans` format hands them over (`mastra.record.*`).

One thing a newcomer would get wrong: a workflow step's `entityName` is its *workflow*; the names
to go by are entity ids, and the label's quoted name where records (0.x) have none.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions._build import build_reading
from trajscope.conventions._kind import Kind
from trajscope.conventions._mastra import is_tripwire, kind_of_type, quoted, typed_fields
from trajscope.conventions._messages import find_requests
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import text_of

PREFIX = "mastra.record."

_WORDS = Vocabulary(
    session=("record.sessionId", "record.threadId", "conversationId", "metadata.threadId"),
    tool_name=("record.entityId", "record.entityName", "toolId", "toolName"),
    tool_call_id=("toolCallId",),
    tool_args=("record.input",),
    tool_result=("record.output",),
    mcp_server=("mcpServer", "serverName"),
    model=("responseModel", "model"),
    provider=("provider",),
    input_tokens=("usage.inputTokens", "usage.promptTokens"),
    output_tokens=("usage.outputTokens", "usage.completionTokens"),
    cached_tokens=("usage.cachedInputTokens", "usage.inputDetails.cacheRead"),
    reasoning_tokens=("usage.reasoningTokens", "usage.outputDetails.reasoning"),
    finish_reason=("finishReason",),
    response_id=("responseId",),
)
_NAMES: dict[StepType, tuple[str, ...]] = {
    StepType.AGENT_RUN: ("record.entityId", "agentId", "record.entityName"),
    StepType.WORKFLOW_RUN: ("record.entityId", "workflowId", "record.entityName"),
    StepType.WORKFLOW_STEP: ("stepId", "record.entityId"),
    StepType.PROCESSOR_RUN: ("record.entityId", "record.entityName"),
    StepType.WORKFLOW_WAIT_EVENT: ("eventName",),
}


class MastraRecord:
    """The convention of stored records."""

    name = "mastra-record"
    description = "Mastra's stored span records: spanType, entityId, attributes, input, output."

    def claim(self, span: Span) -> int:
        """Return 23 for every stored record: no other vocabulary writes `mastra.record.*`."""
        return 23 if PREFIX + "spanType" in span.attributes else 0

    def read(self, span: Span) -> Reading:
        """Return what the record says of the span."""
        flat = _flattened(span.attributes)
        kind = _kind(flat)
        seen = msgspec.structs.replace(span, attributes=flat)
        reading = build_reading(seen, _WORDS.within(flat), kind, self.name, 23)
        return msgspec.structs.replace(reading, **_changes(reading, flat, span))


def _kind(flat: dict[str, Json]) -> Kind:
    span_type = flat.get("record.spanType")
    return kind_of_type(
        span_type if isinstance(span_type, str) else "", text_of(flat.get("stepId"))
    )


def _flattened(attributes: dict[str, Json]) -> dict[str, Json]:
    """The record's members as `record.*`, its attributes as they are, usage and metadata dotted."""
    flat: dict[str, Json] = {}
    for key, value in attributes.items():
        if value is not None:
            flat["record." + key.removeprefix(PREFIX)] = value
    for name, inner in (("attributes", ""), ("metadata", "metadata.")):
        members = flat.get("record." + name)
        if isinstance(members, dict):
            flat.update({inner + k: v for k, v in members.items() if v is not None})
    usage = flat.get("usage")
    if isinstance(usage, dict):
        flat.update({f"usage.{k}": v for k, v in usage.items()})
        for part in ("inputDetails", "outputDetails"):
            if isinstance(usage.get(part), dict):
                flat.update({f"usage.{part}.{k}": v for k, v in usage[part].items()})
    return flat


def _changes(reading: Reading, flat: dict[str, Json], span: Span) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    step_type = reading.step_type
    if step_type in TOOL_STEP_TYPES:
        changes["name"] = reading.name or quoted(span.name) or span.name
        changes["is_mcp"] = step_type is StepType.MCP_TOOL_CALL
        if reading.failed is None and isinstance(flat.get("success"), bool):
            changes["failed"] = not flat["success"]
            changes["sources"] = {**reading.sources, "failed": "attributes.success"}
    elif step_type is not None and step_type is not StepType.MODEL_GENERATION:
        names = (text_of(flat.get(n)) for n in _NAMES.get(step_type, ()))
        changes["name"] = next(filter(None, names), None) or quoted(span.name) or span.name
        changes["fields"] = typed_fields(step_type, _get(flat))
    if flat.get("tripwireAbort") or is_tripwire(flat.get("record.output")):
        changes |= {"failed": False, "not_failure": True}
        if step_type is StepType.AGENT_RUN:
            changes["model_calls"] = 0  # but for those that are recorded
    if reading.is_model_call:
        changes["requests"] = find_requests(flat.get("record.output"))
    if step_type is StepType.AGENT_RUN:
        changes |= {"agent_name": changes["name"], "agent_id": changes["name"]}
    return changes


def _get(flat: dict[str, Json]) -> Any:
    return lambda name: flat.get("record.output" if name == "output" else name)


CONVENTION = MastraRecord()
