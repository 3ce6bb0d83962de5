"""Spring AI observations: `spring.ai.kind` and `spring.ai.tool.*`, beside GenAI model spans.

One thing a newcomer would get wrong: everything but a model call has operation `framework`, so the
GenAI conventions alone would take tool calls for noise. Content is recorded only when enabled.
"""

from __future__ import annotations

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.extended(
    session=("spring.ai.chat.client.conversation.id",),
    tool_name=("spring.ai.tool.definition.name",),
    tool_call_id=("spring.ai.tool.call.id",),
    tool_args=("spring.ai.tool.call.arguments",),
    tool_result=("spring.ai.tool.call.result",),
    query=("db.vector.query.content",),
    output=("db.vector.query.response.documents",),
)

_WRITES = ("add", "delete")


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `spring.ai.kind`."""
    kind = span.attributes.get("spring.ai.kind")
    if not isinstance(kind, str):
        return None
    if kind == "tool_call":
        return step(StepType.TOOL_CALL)
    if kind == "vector_store" and span.attributes.get("db.operation.name") not in _WRITES:
        return step(StepType.RETRIEVAL)
    return noise(f"a Spring AI {kind} is glue around steps")


CONVENTION = VocabularyConvention(
    name="spring-ai",
    description="Spring AI observations: spring.ai.kind with spring.ai.tool.*.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    hints={"content": "set spring.ai.tools.observations.include-content=true"},
)
