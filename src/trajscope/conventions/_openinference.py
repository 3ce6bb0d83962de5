"""The vocabulary and kinds of OpenInference, for the frameworks it records.

One thing a newcomer would get wrong: CHAIN is glue (a node, a turn, a wrapper), not a step; the
frameworks whose chains mean something have their own file.
"""

from __future__ import annotations

from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.extended(
    session=("session.id",),
    agent_name=("agent.name", "graph.node.name"),
    agent_id=("graph.node.id",),
    tool_name=("tool.name", "tool_call.function.name"),
    tool_call_id=("tool.id", "tool_call.id"),
    tool_args=("tool_call.function.arguments", "input.value"),
    tool_result=("output.value",),
    model=("llm.model_name", "embedding.model_name"),
    provider=("llm.provider", "llm.system"),
    input_tokens=("llm.token_count.prompt",),
    output_tokens=("llm.token_count.completion",),
    cached_tokens=("llm.token_count.prompt_details.cache_read",),
    reasoning_tokens=("llm.token_count.completion_details.reasoning",),
    finish_reason=("llm.finish_reason",),
    flat_output=("llm.output_messages.",),
    flat_input=("llm.input_messages.",),
    question=("input.value",),
    answer=("output.value",),
    query=("input.value",),
    output=("output.value",),
)

KINDS: dict[str, Kind] = {
    "TOOL": step(StepType.TOOL_CALL),
    "LLM": step(StepType.MODEL_GENERATION),
    "AGENT": step(StepType.AGENT_RUN),
    "RETRIEVER": step(StepType.RETRIEVAL),
    "EMBEDDING": step(StepType.EMBEDDING),
    "GUARDRAIL": step(StepType.GUARDRAIL),
    "CHAIN": noise("a CHAIN is glue around steps"),
    "RERANKER": noise("a re-ranking is no step"),
    "EVALUATOR": noise("an evaluator is not what the agent did"),
    "PROMPT": noise("a prompt template is no step"),
    "UNKNOWN": noise("openinference.span.kind is UNKNOWN"),
}
"""What each value of `openinference.span.kind` is."""


HINTS = {
    "content": "leave OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS unset",
    "model_calls": "add the OpenInference instrumentation of the model client (openai, litellm)",
}
"""What to switch on where evidence is missing, see `ports.Hinting`."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `openinference.span.kind`, in any case."""
    kind = span.attributes.get("openinference.span.kind")
    return KINDS.get(kind.upper()) if isinstance(kind, str) else None
