"""The same run in two formats gives the same trajectory, as far as the format holds it."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.support.captures import read_bytes
from tests.support.truth import FIXTURES, NAMES, differences, spans_of, truth_of, unknown
from tests.unit.formats_more import writers as w
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Span
from trajscope.model.step import BaseStep, HandoffStep, ModelGenerationStep, ToolStep
from trajscope.model.trajectory import Trajectory


def shape(step: BaseStep) -> tuple[Any, ...]:
    """What a step says, without when it was and what the span was called."""
    own: tuple[Any, ...] = (step.step_type, step.name, step.agent, step.failed)
    if isinstance(step, ToolStep):
        own += (step.tool_args, step.tool_result, step.success, step.tool_call_id, step.executed)
    elif isinstance(step, ModelGenerationStep):
        own += (step.model_id, step.prompt_tokens, step.completion_tokens)
    elif isinstance(step, HandoffStep):
        own += (step.from_agent, step.to_agent)
    return (*own, tuple(shape(child) for child in step.children))


def whole(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "root": trajectory.root and shape(trajectory.root),
        "steps": tuple(shape(step) for step in trajectory.steps),
        "agents": trajectory.agents,
        "session": trajectory.session_id,
        "model calls": trajectory.model_calls,
        "tokens": trajectory.tokens and (trajectory.tokens.input, trajectory.tokens.output),
        "orphans": len(trajectory.orphans),
    }


def read(data: bytes) -> list[Span]:
    found = read_bytes(data, strict=True)
    return found.spans


def trajectories(spans: Iterable[Span]) -> list[dict[str, Any]]:
    return [whole(t) for t in assemble(spans, Reader())]


@pytest.mark.parametrize("form", sorted(FIXTURES.glob("*/trace.jaeger.json")), ids=str)
def test_a_recording_in_jaeger_form_is_the_otlp_one(form: Any) -> None:
    otlp = spans_of(f"{form.parent.name}/trace.otlp.json")
    assert trajectories(read(form.read_bytes())) == trajectories(otlp)


@pytest.mark.parametrize("name", [n for n in NAMES if "_native-" in n])
def test_a_recording_only_its_own_form_has_agrees_with_the_truth(name: str) -> None:
    [form] = FIXTURES.glob(f"{name}/trace.*")
    found = assemble(read(form.read_bytes()), Reader())
    assert differences(truth_of(name), found) == {}
    assert unknown(truth_of(name), found) == {}


def test_mlflow_store_and_mlflow_otlp_tell_of_the_same_run() -> None:
    stored = read((FIXTURES / "mlflow_native-err/trace.mlflow-trace.json").read_bytes())
    sent = spans_of("mlflow-err/trace.otlp.json")
    one, other = trajectories(stored), trajectories(sent)
    assert one == other


ALL = [n for n in NAMES if (FIXTURES / n / "trace.otlp.json").exists()]
SCOPED = ["dspy", "llamaindex", "agno", "crewai", "langgraph_tl", "openai_agents", "google_adk"]
SCOPED += ["ag2", "autogen", "beeai", "haystack", "langgraph_js_oi", "openlit", "smolagents"]
SCOPED += ["litellm", "mistral_both"]
SCOPED += [
    "voltagent",
    "langgraph_oi",
    "mastra",
    "pydantic",
    "mcp",
    "vercel_ai7",
    "codex",
    "claude",
    "openai_",
]
"""Recordings whose conventions know their spans by the instrumentation scope."""


@pytest.mark.parametrize("name", ALL)
def test_zipkin_keeps_what_was_text(name: str) -> None:
    spans = spans_of(f"{name}/trace.otlp.json")
    found = read(w.as_array(w.zipkin_rows(spans)))
    by_id = {s.span_id: s for s in spans}
    for span in found:
        sent = by_id[span.span_id]
        assert (span.parent_span_id, span.scope_name) == (sent.parent_span_id, sent.scope_name)
        assert (span.status_code, span.status_message) == (sent.status_code, sent.status_message)
        texts = {k: v for k, v in sent.attributes.items() if isinstance(v, str) and k != "error"}
        assert texts.items() <= span.attributes.items()
        assert [e.name for e in span.events] == [e.name for e in sent.events]
    assert len(found) == len(by_id)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "write",
    [lambda s: w.as_lines(w.clickhouse_rows(s)), w.clickhouse_parquet],
    ids=["lines", "parquet"],
)
def test_clickhouse_gives_the_same_trajectory_from_text(
    name: str, write: Callable[[list[Span]], bytes]
) -> None:
    spans = [stringly(s) for s in spans_of(f"{name}/trace.otlp.json")]
    assert trajectories(read(write(spans))) == trajectories(spans)


def stringly(span: Span) -> Span:
    """A span as a store keeps it whose values are all text."""
    import msgspec

    events = tuple(
        msgspec.structs.replace(e, attributes={k: w.as_text(v) for k, v in e.attributes.items()})
        for e in span.events
    )
    return msgspec.structs.replace(
        span,
        attributes={k: w.as_text(v) for k, v in span.attributes.items()},
        resource={k: w.as_text(v) for k, v in span.resource.items()},
        events=events,
    )


@pytest.mark.parametrize("name", [n for n in ALL if not n.startswith(tuple(SCOPED))])
def test_the_console_form_gives_the_same_trajectory(name: str) -> None:
    spans = spans_of(f"{name}/trace.otlp.json")
    assert trajectories(read(w.as_lines(w.console_rows(spans)))) == trajectories(spans)


LANGFUSE: list[Callable[[list[Span]], bytes]] = [
    lambda s: w.as_page(w.langfuse_api_rows(s)),
    lambda s: w.as_lines(w.langfuse_export_rows(s)),
    w.langfuse_parquet,
]
PHOENIX: list[Callable[[list[Span]], bytes]] = [
    lambda s: w.as_page(w.phoenix_api_rows(s)),
    lambda s: w.as_lines(w.phoenix_frame_rows(s)),
    w.phoenix_parquet,
]
LANGSMITH: list[Callable[[list[Span]], bytes]] = [
    lambda s: w.as_page(w.langsmith_rows(s), "runs"),
    lambda s: w.as_lines(w.langsmith_rows(s)),
    w.langsmith_parquet,
]


def without_lost(attributes: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Without what nesting loses.

    `a` beside `a.b`, nulls, what form `metadata` had, and whether a list had one name or many.
    """
    above = {name.rpartition(".")[0] for name in sent}
    listed = {name.rpartition(".")[0] for name in sent if name.rpartition(".")[2].isdecimal()}
    lost = {name for name in sent if name in above or name.rpartition(".")[0] in sent}
    lost |= {name for name in sent if name.rpartition(".")[0] in listed} | listed
    return {
        name: value
        for name, value in attributes.items()
        if name not in lost and value is not None and name.split(".")[0] != "metadata"
    }


@pytest.mark.parametrize("write", LANGFUSE, ids=["api", "lines", "parquet"])
@pytest.mark.parametrize("name", [n for n in ALL if n.startswith("langfuse-")])
def test_langfuse_observations_are_the_otlp_run(
    name: str, write: Callable[[list[Span]], bytes]
) -> None:
    spans = spans_of(f"{name}/trace.otlp.json")
    assert trajectories(read(write(spans))) == trajectories(spans)


@pytest.mark.parametrize("write", PHOENIX, ids=["api", "lines", "parquet"])
@pytest.mark.parametrize("name", [n for n in ALL if "_oi" in n])
def test_phoenix_spans_give_the_attributes_of_openinference(
    name: str, write: Callable[[list[Span]], bytes]
) -> None:
    spans = {s.span_id: s for s in spans_of(f"{name}/trace.otlp.json")}
    for span in read(write(list(spans.values()))):
        sent = {"openinference.span.kind": "UNKNOWN"} | spans[span.span_id].attributes
        assert without_lost(span.attributes, sent) == without_lost(sent, sent)


@pytest.mark.parametrize("write", LANGSMITH, ids=["api", "lines", "parquet"])
@pytest.mark.parametrize("name", [n for n in ALL if n.startswith("langgraph_ls-")])
def test_langsmith_runs_are_the_otlp_run(name: str, write: Callable[[list[Span]], bytes]) -> None:
    spans = spans_of(f"{name}/trace.otlp.json")
    assert trajectories(read(write(spans))) == trajectories(spans)
