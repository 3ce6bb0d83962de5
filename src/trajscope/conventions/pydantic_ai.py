"""Pydantic AI, formats 1 to 6: GenAI operations, with its own names in the older ones.

One thing a newcomer would get wrong: before 2.0 an agent span carries the summed usage under the
very names its model calls use. A retried tool is a failed call although the run goes on.
"""

from __future__ import annotations

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.appended(
    agent_name=("agent_name",),
    tool_args=("tool_arguments",),
    tool_result=("tool_response",),
    model=("model_name",),
    input_tokens=("gen_ai.aggregated_usage.input_tokens",),
    output_tokens=("gen_ai.aggregated_usage.output_tokens",),
    cached_tokens=("gen_ai.aggregated_usage.cache_read.input_tokens",),
)

_LABELS: dict[str, Kind] = {
    "agent run": step(StepType.AGENT_RUN),
    "running tool": step(StepType.TOOL_CALL),
    "running output function": step(StepType.TOOL_CALL),
}
"""Labels of formats 1 and 2, for spans that attribute limits robbed of their operation."""


def kind_of(span: Span) -> Kind | None:
    """Return the GenAI kind; what has none (`running tools`) is a wrapper."""
    if span.scope_name != "pydantic-ai":
        return None
    if "gen_ai.operation.name" not in span.attributes and span.name in _LABELS:
        return _LABELS[span.name]
    return _genai.kind_of(span) or noise("a wrapper around agent work")


CONVENTION = VocabularyConvention(
    name="pydantic-ai",
    description="Pydantic AI's own instrumentation: scope pydantic-ai, formats 1 to 6.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=_genai.refine,
    hints={"content": "use InstrumentationSettings(include_content=True), its default"},
)
