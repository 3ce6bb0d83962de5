"""Vercel AI SDK 3 to 6, and 7 with its legacy telemetry: `ai.operationId` and `ai.*`.

One thing a newcomer would get wrong: `ai.generateText` is the whole loop and carries the sum of its
model calls (`….doGenerate`); the best name of an agent is the function id the user gave.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span

_METADATA = "ai.telemetry.metadata."
_SESSION_KEYS = (
    "sessionId",
    "session_id",
    "session.id",
    "threadId",
    "thread_id",
    "conversationId",
    "conversation_id",
    "chatId",
    "chat_id",
    "langfuseSessionId",
)
"""Metadata is the user's own; these are the usual names of a conversation's id."""

VOCABULARY = GEN_AI.extended(
    session=tuple(_METADATA + key for key in _SESSION_KEYS),
    agent_name=("ai.telemetry.functionId",),
    tool_name=("ai.toolCall.name",),
    tool_call_id=("ai.toolCall.id",),
    tool_args=("ai.toolCall.args", "ai.toolCall.input"),
    tool_result=("ai.toolCall.result", "ai.toolCall.output"),
    model=("ai.response.model", "ai.model.id"),
    provider=("ai.model.provider",),
    input_tokens=("ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
    output_tokens=("ai.usage.outputTokens", "ai.usage.completionTokens"),
    cached_tokens=("ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens"),
    reasoning_tokens=("ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens"),
    finish_reason=("ai.response.finishReason", "ai.finishReason"),
    response_id=("ai.response.id",),
    output_messages=("ai.response.toolCalls", "ai.result.toolCalls"),
    input_messages=("ai.prompt.messages", "ai.prompt"),
    query=("ai.value",),
)

_MODEL, _AGENT = step(StepType.MODEL_GENERATION), step(StepType.AGENT_RUN)
_EMBEDDING = step(StepType.EMBEDDING)

OPERATIONS: dict[str, Kind] = {
    "ai.generateText": _AGENT,
    "ai.streamText": _AGENT,
    "ai.generateObject": _MODEL,
    "ai.streamObject": _MODEL,
    "ai.toolCall": step(StepType.TOOL_CALL),
    "ai.embed": _EMBEDDING,
    "ai.embedMany": _EMBEDDING,
}
"""What each value of `ai.operationId` is; `….doGenerate` and `….doStream` are the model calls."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind by `ai.operationId`, else by the label of a span of scope `ai`."""
    operation = span.attributes.get("ai.operationId")
    if not isinstance(operation, str):
        operation = span.name.partition(" ")[0]
        if span.scope_name != "ai" or not operation.startswith("ai."):
            return None
    if operation.endswith((".doGenerate", ".doStream")):
        return _MODEL
    return OPERATIONS.get(operation) or noise(f"{operation} is no step")


def refine(span: Span, reading: Reading) -> Reading:
    """Take back a failure that a span processor wrote on a span which has its own outcome.

    The SDK writes a result, or a finish reason, only where all went well, and an exception beside
    every status ERROR of its own; OpenInference's processor marks what comes after an error too.
    """
    if not reading.failed or not any(key in span.attributes for key in _OUTCOMES):
        return reading
    if reading.sources.get("failed", "") not in ("", "span status ERROR"):
        return reading
    if span.status_code != "ERROR" or any(event.name == "exception" for event in span.events):
        return reading
    return msgspec.structs.replace(reading, failed=None, failure=None)


_OUTCOMES = (
    "ai.toolCall.result",
    "ai.toolCall.output",
    "ai.response.finishReason",
)
"""What only an operation has that ended well."""


CONVENTION = VocabularyConvention(
    name="vercel-ai",
    description="Vercel AI SDK (3 to 6, legacy telemetry of 7): ai.operationId and ai.*.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "set recordInputs and recordOutputs to true in the telemetry settings"},
)
