"""The vocabulary and kinds of OpenLLMetry (Traceloop), for the frameworks it records.

One thing a newcomer would get wrong: one span can carry both `traceloop.span.kind` = workflow and
`gen_ai.operation.name` = invoke_agent; the operation is the more exact of the two.
"""

from __future__ import annotations

from trajscope.conventions import _genai
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.extended(
    session=(
        "traceloop.association.properties.session_id",
        "traceloop.association.properties.thread_id",
        "traceloop.association.properties.conversation_id",
    ),
    tool_args=("traceloop.entity.input",),
    tool_result=("traceloop.entity.output",),
    workflow_name=("traceloop.entity.name", "traceloop.workflow.name"),
    input_tokens=("llm.usage.prompt_tokens",),
    output_tokens=("llm.usage.completion_tokens",),
    flat_output=("llm.completions.",),
    flat_input=("llm.prompts.",),
)
VOCABULARY = VOCABULARY.appended(
    tool_name=("traceloop.entity.name",), agent_run_name=("traceloop.entity.name",)
)

KINDS: dict[str, Kind] = {
    "workflow": step(StepType.WORKFLOW_RUN),
    "task": step(StepType.WORKFLOW_STEP),
    "agent": step(StepType.AGENT_RUN),
    "tool": step(StepType.TOOL_CALL),
    "handoff": step(StepType.HANDOFF),
    "llm": step(StepType.MODEL_GENERATION),
    "session": noise("a session marker is no step"),
    "unknown": noise("traceloop.span.kind is unknown"),
}
"""What each value of `traceloop.span.kind` is."""

_FIRM_OPERATIONS = frozenset({"invoke_agent", "execute_tool", "handoff", "chat", "execute_task"})


HINTS = {
    "content": "set TRACELOOP_TRACE_CONTENT=true (its default)",
    "model_calls": "add the OpenLLMetry instrumentation of the model client (openai, litellm)",
}
"""What to switch on where evidence is missing, see `ports.Hinting`."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation where it is exact, else by `traceloop.span.kind`."""
    attributes = span.attributes
    kind = attributes.get("traceloop.span.kind")
    if isinstance(kind, str):
        operation = attributes.get("gen_ai.operation.name")
        if isinstance(operation, str) and operation in _FIRM_OPERATIONS:
            return _genai.kind_of(span)
        return KINDS.get(kind.lower())
    if attributes.get("llm.request.type") in ("chat", "completion"):
        return step(StepType.MODEL_GENERATION)
    return None
