"""Logfire's own instrumentation of model clients: `request_data` and `response_data`.

One thing a newcomer would get wrong: Logfire also writes spans that are no operation: a log is a
span of no duration, and a pending span only says that another one has begun.
"""

from __future__ import annotations

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.extended(
    question=("request_data",),
    answer=("response_data",),
    output_messages=("response_data",),
    usage=("response_data",),
)
_NO_OPERATION: dict[str, Kind] = {
    "log": noise("a log is no operation"),
    "pending_span": noise("a pending span only says that another one has begun"),
}
"""Values of `logfire.span_type` of what is no operation, whatever vocabulary it carries."""


def kind_of(span: Span) -> Kind | None:
    """Return noise for what is no operation, a model call for a request to a model's API."""
    attributes = span.attributes
    if (found := _NO_OPERATION.get(str(attributes.get("logfire.span_type")))) is not None:
        return found
    is_client = span.scope_name in ("logfire.openai", "logfire.anthropic")
    if is_client and ("request_data" in attributes or "gen_ai.request.model" in attributes):
        return step(StepType.MODEL_GENERATION)
    return None


CONVENTION = VocabularyConvention(
    name="logfire",
    description="Logfire: its clients of model APIs, and its logs and pending spans.",
    tier=30,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
)
