"""A run has the same tool-call accuracy by its stored trace and by its messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import empty_store
from tests.support.trajectories import assembled, recorded_spans
from trajscope.evals.evaluated import EvalsResult
from trajscope.evals.messages import extract_tool_calls
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer
from trajscope.model.span import Span
from trajscope.pipeline.evals import run_evals_sync
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import ingest
from trajscope.scorers.tool_call_accuracy import create_tool_call_accuracy_scorer_code
from trajscope.store import Store

ATTRIBUTES = ("pydantic_ai.all_messages", "gen_ai.input.messages", "ai.prompt.messages")
FOLDER = Path(__file__).parents[2] / "fixtures" / "traces"
TRACES = sorted(FOLDER.glob("*/trace.otlp.json"))
PLAIN = ("-two", "-err", "-par", "-workflow")
KINDS = (*PLAIN, "-unk", "-mcp", "-nested", "-handoff")
LOST = {
    "gemini_tl-err": "its calls and answers have no ids, and messages alone are paired by those",
    "google_adk_content-handoff": "each agent's messages tell of the others in prose",
    "litellm_around-err": "the last request could not be written to a span that had ended",
    "llamaindex_tl-handoff": "what a model was given has lost the calls",
    "llamaindex_tl-unk": "what a model was given has lost the calls",
    "llamaindex_tl-workflow": "a tool of the program's, which no model asked for",
    "llamaindex_tl_react-err": "the model asks for tools in prose",
    "llamaindex_tl_streaming-err": "what a model was given has lost the calls",
    "openlit_langgraph-err": "what a model was given has lost the calls",
}


@cache
def spans_in(path: Path) -> list[Span]:
    return recorded_spans(path)


def run_messages(spans: list[Span]) -> list[dict[str, Any]] | None:
    """Return what the run itself recorded as its messages, else the most a model was given."""
    for key in ATTRIBUTES:
        found = [s for s in spans if isinstance(s.attributes.get(key), str)]
        own = [s for s in found if s.parent_span_id is None and key.endswith("all_messages")]
        lists: list[list[dict[str, Any]]] = [json.loads(s.attributes[key]) for s in own or found]
        if lists:
            return max(lists, key=len)
    return None


def steps_by_trace(spans: list[Span]) -> dict[str, int]:
    """Return how many steps each trace of a recording has, those without any left out."""
    counts = {trace_id: len(list(t.walk())) for trace_id, t in assembled(spans).items()}
    return {trace_id: count for trace_id, count in counts.items() if count}


HOLDING_BOTH = [
    path
    for path in TRACES
    if path.parent.name.endswith(KINDS)
    and path.parent.name not in LOST
    and run_messages(spans_in(path)) is not None
    and len(steps_by_trace(spans_in(path))) == 1
]
RECORDED = sorted(
    {
        # One plain run per library, and every run of another shape.
        path.parent.name.rsplit("-", 1)[0 if path.parent.name.endswith(PLAIN) else 1]: path
        for path in HOLDING_BOTH
    }.values()
)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with empty_store() as found:
        list(ingest([str(path) for path in RECORDED], found, InputOptions()))
        yield found


def called(context: StepContext) -> list[str]:
    return list(extract_tool_calls(context.run.output).tools)


ACCURACY = (
    create_scorer("tool-calls", type="agent")
    .preprocess(called)
    .generate_score(lambda c: float(c.results.preprocess == c.run.ground_truth))
    .generate_reason(lambda c: c.results.preprocess)
)


def accuracy(item: dict[str, Any], wanted: list[Any], store: Store) -> EvalsResult:
    data = [{**item, "ground_truth": expected} for expected in wanted]
    scorers = [ACCURACY, "tool-failures", *ready(wanted[0])]
    return run_evals_sync(data=data, scorers=scorers, store=store)


def ready(right: list[str]) -> list[StepScorer]:
    """Return the ready tool-call accuracy, which needs something to expect."""
    if not right:
        return []
    return [create_tool_call_accuracy_scorer_code(expected_tool_order=right, strict_mode=True)]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_a_trace_and_its_messages_have_one_accuracy(path: Path, store: Store) -> None:
    (trace_id,) = steps_by_trace(spans_in(path))
    messages = run_messages(spans_in(path))
    right = list(extract_tool_calls(messages).tools)
    wanted = [right, [*right, "another"], ["something_else"]]
    traced = accuracy({"trace_id": trace_id}, wanted, store)
    told = accuracy({"output": messages}, wanted, store)
    assert [item.scores[0].reason for item in traced.items] == [right] * 3
    assert traced.scores["tool-calls"] == told.scores["tool-calls"] == 1 / 3
    refused = path.parent.name.endswith("-unk")  # a tool that does not exist was never called
    for summary in (*traced.summaries[2:], *told.summaries[2:]):
        assert (summary.average, summary.scored) == (0.0 if refused else 1.0, 3)
    assert {item.trajectory_from for item in traced.items} == {"trace"}
    assert {item.trajectory_from for item in told.items} == {"messages"}


def test_what_holds_both_is_of_many_instrumentations() -> None:
    libraries = {path.parent.name.rsplit("-", 1)[0] for path in RECORDED}
    assert len(libraries) >= 8
    assert any(path.parent.name.endswith("-handoff") for path in RECORDED)
    assert any(path.parent.name.endswith("-nested") for path in RECORDED)


def test_a_trace_that_is_not_stored_is_no_silent_change_of_witness(store: Store) -> None:
    messages = [{"role": "assistant", "content": "Hi"}]
    both = run_evals_sync(
        data=[{"trace_id": "gone", "output": messages}], scorers=["tool-failures"], store=store
    )
    assert both.items[0].trajectory_from == "messages"
    assert both.items[0].notes == ("trace gone: is not in the store",)
    alone = run_evals_sync(data=[{"trace_id": "gone"}], scorers=["tool-failures"], store=store)
    (failure,) = alone.failures()
    assert "data[0]: has no trajectory (trace gone: is not in the store)" in str(failure.error)
