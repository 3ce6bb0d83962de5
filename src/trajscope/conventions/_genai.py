"""What the operations of the OTel GenAI conventions are, for every convention built on them.

One thing a newcomer would get wrong: the span name is only used when `gen_ai.operation.name` is
gone (attribute limits drop the oldest keys first) and other `gen_ai.*` attributes vouch for it.
"""

from __future__ import annotations

from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import StepType
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
    "invoke_agent": _AGENT,
    "agent_call": _AGENT,
    "invoke_workflow": _WORKFLOW,
    "embeddings": step(StepType.EMBEDDING),
    "retrieval": _RETRIEVAL,
    "search_memory": _RETRIEVAL,
    "handoff": step(StepType.HANDOFF),
    "create_agent": noise("an agent was made, nothing ran"),
}
"""What each value of `gen_ai.operation.name` is; any other value is noise."""

_NAME_WORDS = {k: OPERATIONS[k] for k in ("chat", "execute_tool", "invoke_agent", "embeddings")}


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation name, else by what only such a span carries."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return OPERATIONS.get(operation) or noise(f"operation {operation} is no step")
    if "gen_ai.tool.name" in attributes and "gen_ai.request.model" not in attributes:
        return _TOOL
    if "gen_ai.request.model" in attributes or "gen_ai.response.model" in attributes:
        known = _NAME_WORDS.get(span.name.partition(" ")[0])
        return known or _MODEL
    if any(key.startswith("gen_ai.") for key in attributes):
        return _NAME_WORDS.get(span.name.partition(" ")[0])
    return None
