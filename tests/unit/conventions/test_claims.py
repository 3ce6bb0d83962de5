"""Claims on spans: one convention knows a span best, and reading it never raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import attribute_values, span, texts
from tests.support.truth import FORMS, spans_of
from trajscope.conventions import Reader, conventions
from trajscope.conventions._convention import VocabularyConvention
from trajscope.model.reading import TOOL_STEP_TYPES
from trajscope.model.span import Json, Span, SpanEvent

READ = Reader()

SCOPES = (
    "",
    "@traceloop/instrumentation-langchain",
    "@voltagent/core",
    "ai",
    "codex_exec",
    "com.anthropic.claude_code.tracing",
    "gcp.vertex.agent",
    "gemini-cli",
    "gen_ai",
    "genkit-tracer",
    "langfuse-sdk",
    "langsmith",
    "logfire.openai_agents",
    "mlflow.tracing.provider",
    "mcp-python-sdk",
    "openinference.instrumentation.agno",
    "openinference.instrumentation.crewai",
    "openinference.instrumentation.dspy",
    "openinference.instrumentation.langchain",
    "openinference.instrumentation.llama_index",
    "openinference.instrumentation.openai_agents",
    "opentelemetry.instrumentation.crewai",
    "opentelemetry.instrumentation.langchain",
    "pydantic-ai",
    "qwen-code",
    "strands.telemetry.tracer",
)
KINDS: dict[str, tuple[str, ...]] = {
    "ai.operationId": ("ai.toolCall", "ai.generateText", "ai.generateText.doGenerate", "ai.embed"),
    "gen_ai.operation.name": ("chat", "execute_tool", "invoke_agent", "handoff", "retrieval"),
    "genkit:type": ("action", "flowStep", "util"),
    "langfuse.observation.type": ("tool", "generation", "agent", "span"),
    "langsmith.span.kind": ("chain", "tool", "llm", "retriever"),
    "mcp.method.name": ("tools/call", "tools/list"),
    "mlflow.spanType": ('"TOOL"', '"CHAT_MODEL"', '"AGENT"', '"CHAIN"'),
    "span.type": ("interaction", "llm", "llm_request", "tool", "tool.execution"),
    "openinference.span.kind": ("TOOL", "LLM", "AGENT", "CHAIN", "GUARDRAIL"),
    "traceloop.span.kind": ("tool", "agent", "workflow", "task", "llm"),
}
"""What tells a span's kind, in each vocabulary."""

NAMES = sorted(
    {
        name
        for c in conventions().values()
        if isinstance(c, VocabularyConvention)
        for field in c.vocabulary.__dataclass_fields__
        for name in getattr(c.vocabulary, field)
    }
)
LABELS = ("", "chat m", "execute_tool t", "call_llm", "Function: {name}", "ai.toolCall", "X.task")


def test_every_vocabulary_is_known_to_the_tests_below() -> None:
    assert len(NAMES) > 100
    assert {"ai.toolCall.args", "mlflow.spanInputs", "gcp.vertex.agent.tool_call_args"} <= {*NAMES}


@pytest.mark.parametrize("form", FORMS)
def test_no_two_conventions_claim_a_recorded_span_equally(form: str) -> None:
    for recorded in spans_of(form):
        claims = [claim for claim, _ in READ.claims(recorded)]
        assert len({*claims}) == len(claims), (recorded.name, READ.claims(recorded))


@st.composite
def mixed(draw: st.DrawFn) -> Span:
    """A span that carries the kinds of one or two vocabularies, and values under any known name."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=2, unique=True))
    attributes: dict[str, Json] = {k: draw(st.sampled_from(KINDS[k])) for k in kinds}
    values = attribute_values() | texts() | st.sampled_from(['{"a": 1}', '[{"role": "tool"}]'])
    more = draw(st.dictionaries(st.sampled_from(NAMES), values, max_size=6))
    events = draw(st.lists(st.sampled_from(("exception", "gen_ai.choice", "gen_ai.tool.message"))))
    return span(
        1,
        name=draw(st.sampled_from(LABELS)),
        scope_name=draw(st.sampled_from(SCOPES)),
        attributes={**more, **attributes},
        events=tuple(SpanEvent(name, 0, {**more}) for name in events),
    )


@given(mixed())
def test_reading_raises_for_no_value_of_an_attribute(drawn: Span) -> None:
    reading = READ(drawn)
    assert reading.step_type is not None or reading.noise_reason
    if reading.step_type in TOOL_STEP_TYPES:
        assert isinstance(reading.name, str)


@given(mixed())
def test_whoever_claims_highest_reads(drawn: Span) -> None:
    claims = READ.claims(drawn)
    assert READ(drawn).convention == (claims[0][1].name if claims else "")


NESTED = {"mastra-record", "codex-cli", "langchain"}
"""Conventions that also read inside an attribute; their sources are paths into it."""


@pytest.mark.parametrize("form", FORMS)
def test_a_source_is_an_attribute_the_span_has(form: str) -> None:
    for recorded in spans_of(form):
        reading = READ(recorded)
        for field, source in reading.sources.items():
            if reading.convention not in NESTED and "." in source and not {*" *"} & {*source}:
                assert source in recorded.attributes, (recorded.name, field, source)


MIXTURES = [
    # OpenInference's processor for the AI SDK writes its own attributes beside the SDK's.
    ("vercel-ai", {"ai.operationId": "ai.toolCall", "openinference.span.kind": "TOOL"}),
    # OpenLLMetry writes operations of the OTel conventions beside its own kind.
    ("openllmetry", {"traceloop.span.kind": "tool", "gen_ai.operation.name": "execute_tool"}),
    # LangSmith's operations mislead; its kind does not.
    ("langsmith", {"langsmith.span.kind": "prompt", "gen_ai.operation.name": "chat"}),
    ("mcp", {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}),
]


@pytest.mark.parametrize(("name", "attributes"), MIXTURES)
def test_the_vocabulary_closer_to_the_author_reads(name: str, attributes: dict[str, str]) -> None:
    claims = READ.claims(span(1, attributes=attributes))
    assert claims[0][1].name == name
    assert claims[0][0] > claims[1][0]
