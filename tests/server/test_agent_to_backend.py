"""From a real agent to a real backend: trajectory, scores, events, each once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import grpc
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.agents import ask_for_weather
from tests.support.receivers import AGAIN_AT_ONCE, Answer, Backend, grpc_backend, http_backend
from tests.support.stores import ingest
from trajscope.conventions import Reader
from trajscope.evals.select import facts_of
from trajscope.model.expectation import NamedExpectation, TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.pipeline.evaluations import evaluations_of
from trajscope.pipeline.exporting import export
from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
from trajscope.store import Store
from trajscope.telemetry import OtlpSender, TrajectoryExporter
from trajscope.telemetry._address import Protocol
from trajscope.telemetry._spans import to_span

EXPECTATION = NamedExpectation(
    name="a short answer",
    expect=TrajectoryExpectation.model_validate(
        {
            "steps": [{"name": "get_weather"}, {"name": "book_flight"}],
            "maxSteps": 10,
            "blacklistedTools": ["get_time"],
        }
    ),
)
FOUR = ("comparison", "efficiency", "blacklist", "tool-failures")
Run = Callable[..., AbstractContextManager[Backend]]

BUSY = Answer(
    503, headers=AGAIN_AT_ONCE, code=grpc.StatusCode.UNAVAILABLE, details="come back later"
)


@pytest.fixture(scope="module")
def judged() -> tuple[TrajectoryExporter, list[Score], InMemorySpanExporter]:
    """What the agent did, as a trajectory, judged by the four scorers, and its spans."""
    exporter, spans = TrajectoryExporter(), InMemorySpanExporter()
    provider = TracerProvider()
    for each in (exporter, spans):
        provider.add_span_processor(SimpleSpanProcessor(each))
    ask_for_weather(provider)
    provider.shutdown()
    scoring = Scoring([EXPECTATION], chosen_scorers(FOUR), named=True)
    found = [Judged(t, facts_of(t)) for t in exporter.trajectories]
    return exporter, list(scoring.run(found)), spans


@pytest.mark.parametrize(("run", "protocol"), [(http_backend, "http"), (grpc_backend, "grpc")])
@pytest.mark.parametrize("answers", [[], [BUSY, BUSY]], ids=["at once", "after 503 twice"])
def test_events_arrive_once_with_the_exact_attributes(
    judged: tuple[TrajectoryExporter, list[Score], InMemorySpanExporter],
    run: Run,
    protocol: Protocol,
    answers: list[Answer],
) -> None:
    exporter, scores, spans = judged
    (trajectory,) = exporter.trajectories
    (root,) = trajectory.root_span_ids
    called = {step.name: step.span_id for step in trajectory.walk() if step.is_tool}
    assert {s.scorer: s.value for s in scores} == {
        "comparison": 0.5,
        "efficiency": 1.0,
        "blacklist": 0.0,
        "tool-failures": 1.0,
    }
    reader = Reader()
    with (
        run(answers) as backend,
        Store.open() as store,
        OtlpSender(backend.url, protocol=protocol) as sender,
    ):
        recorded = [to_span(span) for span in spans.get_finished_spans()]
        ingest(store, [(span, reader(span)) for span in recorded])
        store.save_scores(scores)
        first = export(store, sender)
        second = export(store, sender)
    assert (first.sent, first.known, first.left) == (len(backend.events), 0, 0)
    assert (second.sent, second.known, second.left) == (0, first.sent, 0)
    assert len(backend.requests) == 1 + len(answers)

    events = backend.events
    assert {e["event_name"] for e in events} == {"gen_ai.evaluation.result"}
    assert {e["trace_id"] for e in events} == {trajectory.trace_id}
    by_name = {e["attributes"]["gen_ai.evaluation.name"]: e for e in events if is_score(e)}
    assert set(by_name) == set(FOUR)
    assert {e["span_id"] for e in by_name.values()} == {root}
    blacklist = by_name["blacklist"]
    (score,) = [s for s in scores if s.scorer == "blacklist"]
    assert blacklist["attributes"]["gen_ai.evaluation.score.value"] == 0.0
    assert blacklist["types"]["gen_ai.evaluation.score.value"] == "double_value"
    assert blacklist["attributes"]["gen_ai.evaluation.explanation"] == score.reason
    assert blacklist["attributes"]["trajscope.expectation.name"] == "a short answer"
    assert blacklist["attributes"]["trajscope.scorer.version"]
    assert not {"gen_ai.evaluation.score.label", "error.type"} & set(blacklist["attributes"])
    assert all(
        isinstance(e["attributes"]["gen_ai.evaluation.score.value"], float)
        for e in by_name.values()
    )
    (finding,) = [
        e for e in events if not is_score(e) and "get_time" in str(e["attributes"].values())
    ]
    assert finding["span_id"] == called["get_time"]
    assert finding["attributes"]["gen_ai.evaluation.name"] == "blacklist"
    assert finding["attributes"]["gen_ai.evaluation.score.label"] == "violated"
    assert finding["attributes"]["trajscope.finding.span_ids"] == [called["get_time"]]
    assert finding["severity"] == "ERROR"
    assert "gen_ai.evaluation.score.value" not in finding["attributes"]


def is_score(event: dict[str, dict[str, str]]) -> bool:
    return event["attributes"]["trajscope.kind"] == "score"


def test_a_program_sends_its_own_scores_without_a_store(
    judged: tuple[TrajectoryExporter, list[Score], InMemorySpanExporter],
) -> None:
    exporter, scores, _ = judged
    (trajectory,) = exporter.trajectories
    evaluations = evaluations_of(scores, trajectory)
    with http_backend() as backend, OtlpSender(backend.url) as sender:
        assert sender.send(evaluations).confirmed
    assert [e["attributes"]["trajscope.key"] for e in backend.events] == [
        e.key for e in evaluations
    ]
    assert {e["span_id"] for e in backend.events} >= set(trajectory.root_span_ids)
