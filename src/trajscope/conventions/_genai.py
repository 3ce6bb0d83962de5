"""What the operations of the OTel GenAI conventions are, for every convention built on them.

One thing a newcomer would get wrong: the span name is only used when `gen_ai.operation.name` is
gone (attribute limits drop the oldest keys first) and other `gen_ai.*` attributes vouch for it.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span

_TOOL, _MODEL = step(StepType.TOOL_CALL), step(StepType.MODEL_GENERATION)
_AGENT, _WORKFLOW = step(StepType.AGENT_RUN), step(StepType.WORKFLOW_RUN)
_RETRIEVAL = step(StepType.RETRIEVAL)

OPERATIONS: dict[str, Kind] = {
    "execute_tool": _TOOL,
    "tool_call": _TOOL,
    "chat": _MODEL,
    "generate_content": _MODEL,
    "text_completion": _MODEL,
    "llm_call": _MODEL,
    "chat.completions": _MODEL,  # Semantic Kernel, and its streaming below
    "chat.streaming_completions": _MODEL,
    "text.completions": _MODEL,
    "text.streaming_completions": _MODEL,
    "invoke_agent": _AGENT,
    "agent_call": _AGENT,
    "process_thread_run": _AGENT,  # Azure AI Agents
    "invoke_workflow": _WORKFLOW,
    "invoke_graph": _WORKFLOW,  # Strands Agents
    "invoke_swarm": _WORKFLOW,
    "embeddings": step(StepType.EMBEDDING),
    "retrieval": _RETRIEVAL,
    "search_memory": _RETRIEVAL,
    "handoff": step(StepType.HANDOFF),
    "agent_handoff": step(StepType.HANDOFF),  # OTel's instrumentation of the OpenAI Agents SDK
    "create_agent": noise("an agent was made, nothing ran"),
}
"""What each value of `gen_ai.operation.name` is; any other value is noise."""

_LABELS = {k: v for k, v in OPERATIONS.items() if v.step_type and "." not in k}
"""Operations that a span's label begins with by the conventions."""


HINTS = {
    "content": "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT to span_only (older: true) "
    "with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
}
"""What to switch on where evidence is missing, see `ports.Hinting`."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation name, else by what only such a span carries."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return OPERATIONS.get(operation) or noise(f"operation {operation} is no step")
    if "gen_ai.tool.name" in attributes and "gen_ai.request.model" not in attributes:
        return _TOOL
    if "gen_ai.request.model" in attributes or "gen_ai.response.model" in attributes:
        known = _LABELS.get(span.name.partition(" ")[0])
        return known or _MODEL
    if any(key.startswith("gen_ai.") for key in attributes):
        return _LABELS.get(span.name.partition(" ")[0])
    return None


def refine(span: Span, reading: Reading) -> Reading:
    """Take the name a label repeats (`execute_tool add`) where limits dropped the attribute."""
    operation, _, rest = span.name.partition(" ")
    known = OPERATIONS.get(operation)
    if not rest or known is None or known.step_type is not reading.step_type:
        return reading
    found: dict[str, str] = {}
    if reading.step_type is StepType.TOOL_CALL and not reading.name:
        found = {"name": rest}
    elif reading.step_type is StepType.AGENT_RUN and not reading.agent_name:
        is_model = rest in (span.attributes.get(name) for name in GEN_AI.model)
        found = {} if is_model else {"name": rest, "agent_name": rest}
    elif reading.step_type is StepType.WORKFLOW_RUN and reading.name == span.name:
        found = {"name": rest}
    if not found:
        return reading
    sources = {**reading.sources, "name": "span name"}
    return msgspec.structs.replace(reading, **found, sources=sources)
