"""AG2 (0.x and 1.x) by its own spans: agents, model calls, tools, and chats between agents.

One thing a newcomer would get wrong: `record_usage` repeats the counts of the model call beside it,
and has a model but no operation; a group chat is run by agents of AG2's own (`chat_manager`,
`_Group_Tool_Executor`), which are no agents of the user's.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

_TYPE = "ag2.span.type"
_KINDS: dict[str, Kind] = {
    "agent": step(StepType.AGENT_RUN),
    "llm": step(StepType.MODEL_GENERATION),
    "tool": step(StepType.TOOL_CALL),
    "conversation": step(StepType.WORKFLOW_RUN),
    "multi_conversation": step(StepType.WORKFLOW_RUN),
}
_MANAGERS = frozenset({"chat_manager"})


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `ag2.span.type`; what is no step of that list is the chat's machinery."""
    kind = text_of(span.attributes.get(_TYPE))
    if kind is None:
        return None
    name = text_of(span.attributes.get("gen_ai.agent.name")) or ""
    if kind == "agent" and (name in _MANAGERS or name.startswith("_")):
        return noise("an agent that AG2 runs a group chat with")
    return _KINDS.get(kind) or noise(f"{kind} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Name no agent on a span that is none's: it would be that of the tools that ran inside."""
    reading = _genai.refine(span, reading)
    if reading.step_type in (None, StepType.WORKFLOW_RUN):
        return msgspec.structs.replace(reading, agent_name=None)
    return reading


CONVENTION = VocabularyConvention(
    name="ag2",
    description="AG2 as its own telemetry records it.",
    tier=10,
    vocabulary=GEN_AI,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "leave capture_content (0.x: capture_messages) of AG2's telemetry true"},
)
