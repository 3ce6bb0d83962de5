"""LiteLLM's own OpenTelemetry callback: one span for a request, one below it for what was sent.

One thing a newcomer would get wrong: the operation of a request is the function that was called
(`acompletion`), and the calls it asked for have lost their ids there. Inside a span of the
program's, whose attributes the last request then overwrites, only the lower span tells one request
from the next: it holds the provider's own answer, as Python reprs.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.conventions._model import reason_in
from trajscope.conventions._usage import usage_in
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType, ToolResponse
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, decode_repr, text_of

_SCOPE = "litellm"
_RAW = "raw_gen_ai_request"
_CALLS = frozenset(
    {"completion", "text_completion", "responses", "anthropic_messages", "generate_content"}
)
"""Functions that call a model; each has a twin that begins with an `a`."""

_EMBEDDINGS = ("embedding", "aembedding")
_ANSWER = ("choices", "output", "content", "candidates")
_QUESTION = ("messages", "input", "contents")
"""Where a provider's answer holds what the model said, and a question what the model was told."""


def kind_of(span: Span) -> Kind | None:
    """Return the kind of a request by the function that was called, of others by operation."""
    if span.scope_name != _SCOPE:
        return None
    if span.name == _RAW or _raw_prefix(span):
        return step(StepType.MODEL_GENERATION)
    said = span.attributes.get("gen_ai.operation.name") or span.attributes.get("llm.request.type")
    if said in _EMBEDDINGS:
        return step(StepType.EMBEDDING)
    if isinstance(said, str) and (said in _CALLS or (said[:1] == "a" and said[1:] in _CALLS)):
        return step(StepType.MODEL_GENERATION)
    return _genai.kind_of(span) or noise("of LiteLLM's own work")


def _raw_prefix(span: Span) -> str | None:
    """What begins the names of a provider's own fields (`llm.openai.`), on a span with no other."""
    prefix: str | None = None
    for name in span.attributes:
        if name.startswith("llm."):
            prefix = ".".join(name.split(".")[:2]) + "."
        elif not name.startswith("metadata."):
            return None
    return prefix


def refine(span: Span, reading: Reading) -> Reading:
    """Read the provider's own answer, and give answers the names of the calls they answer."""
    if not reading.is_model_call:
        return reading
    if prefix := _raw_prefix(span):
        return msgspec.structs.replace(reading, **_of_provider(span, prefix))
    if any(answer.name is None for answer in reading.responses):
        named = _named(reading.responses, span.attributes.get("gen_ai.input.messages"))
        return msgspec.structs.replace(reading, responses=named)
    return reading


def _of_provider(span: Span, prefix: str) -> dict[str, Any]:
    fields = {k.removeprefix(prefix): v for k, v in span.attributes.items()}
    said = {k: _decoded(fields[k]) for k in _ANSWER if k in fields}
    told = {k: _decoded(fields[k]) for k in _QUESTION if k in fields}
    model = text_of(fields.get("model"))
    usage = next((fields[k] for k in ("usage", "usageMetadata") if k in fields), None)
    return {
        "name": model or "",
        "model": model,
        "response_id": text_of(fields.get("id")),
        "finish_reason": reason_in({**said, "stop_reason": fields.get("stop_reason")}),
        "usage": usage_in(_decoded(usage)),
        "requests": find_requests(said),
        "responses": find_responses(told),
        "sources": {"requests": prefix + "*", "responses": prefix + "*"},
    }


def _decoded(value: Json) -> Json:
    found = decode_repr(value) if isinstance(value, str) else msgspec.UNSET
    return decode_json(value) if found is msgspec.UNSET else found


def _named(answers: tuple[ToolResponse, ...], messages: Json) -> tuple[ToolResponse, ...]:
    """The answers with the names of their calls, whose ids the history keeps."""
    names = {call.call_id: call.name for call in find_requests(messages)}
    return tuple(
        msgspec.structs.replace(a, name=names.get(a.call_id)) if a.name is None else a
        for a in answers
    )


CONVENTION = VocabularyConvention(
    name="litellm",
    description="LiteLLM requests as its own otel callback records them.",
    tier=20,
    vocabulary=GEN_AI,
    kind_of=kind_of,
    refine=refine,
    hints={
        "content": "leave litellm.turn_off_message_logging false; with LITELLM_OTEL_V2 set "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"
    },
)
