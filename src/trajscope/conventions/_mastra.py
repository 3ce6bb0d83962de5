"""Span types of Mastra and the typed fields of its steps, shared by stored records and OTLP."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.values import count_of, decode_json, text_of

KINDS: dict[str, Kind] = {
    **{t.value: step(t) for t in StepType if t.value.startswith(("workflow_", "tool_call"))},
    "agent_run": step(StepType.AGENT_RUN),
    "model_generation": step(StepType.MODEL_GENERATION),
    "mcp_tool_call": step(StepType.MCP_TOOL_CALL),
    "provider_tool_call": step(StepType.PROVIDER_TOOL_CALL),
    "client_tool_call": step(StepType.TOOL_CALL),
    "processor_run": step(StepType.PROCESSOR_RUN),
    "rag_ingestion": step(StepType.EMBEDDING),
    "rag_embedding": step(StepType.EMBEDDING),
    "rag_vector_operation": step(StepType.RETRIEVAL),
    "rag_action": step(StepType.RETRIEVAL),
    "model_step": noise("a model step is part of a generation", is_model_call=True),
    "model_inference": noise("an inference is part of a generation", is_model_call=True),
    "model_chunk": noise("a streamed chunk is no step"),
    "generic": noise("a generic span is no step"),
    "workflow_conditional_eval": noise("one evaluated condition is part of its conditional"),
    "scorer_run": noise("a scorer is not what the agent did"),
    "scorer_step": noise("a scorer is not what the agent did"),
}
"""What each span type is; any other type (memory_operation, mapping, …) is noise."""


def kind_of_type(span_type: str, step_id: str | None) -> Kind:
    """Return the kind of a span type; workflow steps made by `.map()` are glue."""
    span_type = span_type.lower()
    if span_type == "workflow_step" and step_id and step_id.startswith("mapping_"):
        return noise("a mapping between workflow steps is glue")
    return KINDS.get(span_type) or noise(f"span type {span_type} is no step")


Get = Callable[[str], Json]
"""Look-up of an attribute by its camelCase name; None if absent."""


def typed_fields(step_type: StepType | None, get: Get) -> dict[str, Any]:
    """Return the further fields of a step of `step_type` that are recorded."""
    found: dict[str, Any] = {}

    def put(field: str, value: Any) -> None:
        if value is not None:
            found[field] = value

    if step_type in (StepType.WORKFLOW_RUN, StepType.WORKFLOW_STEP):
        put("status", text_of(get("status")))
        if step_type is StepType.WORKFLOW_STEP:
            put("output", decode_json(get("output")))
    elif step_type is StepType.WORKFLOW_CONDITIONAL:
        put("condition_count", count_of(get("conditionCount")))
        put("selected_steps", _texts(get("selectedSteps")))
    elif step_type is StepType.WORKFLOW_PARALLEL:
        put("branch_count", count_of(get("branchCount")))
        put("parallel_steps", _texts(get("parallelSteps")))
    elif step_type is StepType.WORKFLOW_LOOP:
        put("loop_type", text_of(get("loopType")))
        put("total_iterations", count_of(get("totalIterations")))
    elif step_type is StepType.WORKFLOW_SLEEP:
        duration = count_of(get("durationMs"))
        put("sleep_duration_ms", None if duration is None else float(duration))
        put("sleep_type", text_of(get("sleepType")))
    elif step_type is StepType.WORKFLOW_WAIT_EVENT:
        put("event_name", text_of(get("eventName")))
        # A late time-out overwrites the flag of an event that did arrive; its payload tells.
        received = True if get("output") not in (None, "") else get("eventReceived")
        put("event_received", received if isinstance(received, bool) else None)
    return found


def _texts(value: Json) -> tuple[str, ...] | None:
    value = decode_json(value)
    return tuple(str(v) for v in value) if isinstance(value, list) else None


def is_tripwire(output: Json) -> bool:
    """Whether the output of a run says that a processor stopped it.

    >>> is_tripwire('{"tripwire": {"reason": "blocked"}}')
    True
    """
    output = decode_json(output)
    return isinstance(output, dict) and bool(output.get("tripwire"))


_QUOTED = re.compile(r"'(.*?)'(?: on '.*')?$", re.DOTALL)


def quoted(label: str) -> str | None:
    """Return the name inside a display label.

    >>> quoted("mcp_tool: 'calc_add' on 'calc'")
    'calc_add'
    """
    match = _QUOTED.search(label)
    return match[1] if match else None


def camel_to_snake(name: str) -> str:
    """Return the OTLP spelling of a camelCase attribute.

    >>> camel_to_snake("conditionCount")
    'condition_count'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
