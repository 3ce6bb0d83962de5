"""AG2 0.x through OpenInference: chats, the replies of their agents, and tools.

One thing a newcomer would get wrong: no model call has a span; what the model asked for is the
output of an agent's reply, and the agent that runs the tool is another one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import text_of

_SCOPES = ("openinference.instrumentation.ag2",)
_CHAT = ("initiate_chat", "a_initiate_chat")


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with a chat between two agents read as a workflow."""
    if span.scope_name not in _SCOPES:
        return None
    if span.name.rpartition(".")[2] in _CHAT:
        return step(StepType.WORKFLOW_RUN)
    return _openinference.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name a chat by its label, and take a result out of `[ran, message]`."""
    changes: dict[str, Any] = {}
    if reading.step_type is StepType.WORKFLOW_RUN:
        changes = {"name": span.name, "agent_name": None}
    elif reading.step_type in TOOL_STEP_TYPES and (message := _message(reading.result)):
        text = message["content"]
        changes = {"result": text, "failure": text if reading.failed else None}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _message(result: Json | msgspec.UnsetType) -> dict[str, Json] | None:
    if not isinstance(result, list) or len(result) != 2 or not isinstance(result[0], bool):
        return None
    message = result[1]
    return message if isinstance(message, dict) and text_of(message.get("content")) else None


CONVENTION = VocabularyConvention(
    name="ag2-openinference",
    description="AG2 0.x chats and tools as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={
        **_openinference.HINTS,
        "model_calls": "use AG2's own telemetry: this one records no model call",
    },
)
