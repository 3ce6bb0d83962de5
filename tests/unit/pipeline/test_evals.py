"""`run_evals` over a store: which trajectories are read, and which scores are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import empty_store
from trajscope.errors import UsageError
from trajscope.evals.scorer import StepContext, create_scorer, not_scorable
from trajscope.pipeline import evals
from trajscope.pipeline.evals import StoredTraces, run_evals_sync
from trajscope.pipeline.load import InputOptions, stored
from trajscope.pipeline.storing import ingest
from trajscope.store import Store

FOLDER = Path(__file__).parents[3] / "fixtures" / "traces"
CAPTURES = [str(FOLDER / name) for name in ("traceloop-par", "traceloop-two", "traceloop-err")]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with empty_store() as found:
        list(ingest(CAPTURES, found, InputOptions()))
        yield found


def named(id: str, said: Any) -> Any:
    def score(context: StepContext) -> Any:
        if isinstance(said, Exception):
            raise said
        return not_scorable(said) if isinstance(said, str) else said

    return create_scorer(id).generate_score(score).generate_reason(lambda c: "because")


def test_each_trace_is_the_trajectory_the_store_has(store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(evals, "_AT_A_TIME", 2)
    ids = store.trace_ids()
    whole = {found.trajectory.trace_id: found.trajectory for found in stored(store)}
    assert len(ids) == 3
    for order in (ids, ids[::-1], [ids[1], *ids, ids[1]]):
        traces = StoredTraces(store, list(dict.fromkeys(order)))
        for trace_id in order:
            assert traces.find(trace_id) == whole[trace_id]
    assert StoredTraces(store, ids).find("gone") is None
    assert StoredTraces(store, ["gone", *ids]).find("gone") is None


def test_scores_of_stored_traces_are_written_and_nothing_recovered_is_one(store: Store) -> None:
    ids = store.trace_ids()
    boom = create_scorer("boom").generate_score(lambda c: 1.0)
    result = run_evals_sync(
        data=[{"trace_id": trace_id} for trace_id in [*ids, "gone"]],
        scorers=[
            named("half", 0.5),
            named("none", "no answer"),
            boom.generate_reason(lambda c: c.run["nothing"]),
            "tool-failures",
        ],
        store=store,
        save=True,
        concurrency=2,
    )
    assert result.scores["half"] == 0.5
    written = {(s.trace_id, s.scorer): s for s in store.scores()}
    assert {trace_id for trace_id, _ in written} == set(ids)
    for trace_id in ids:
        half, none = written[trace_id, "half"], written[trace_id, "none"]
        assert (half.value, half.reason, half.error_type) == (0.5, "because", None)
        assert (none.value, none.reason, none.error_type) == (None, "no answer", None)
        failed = written[trace_id, "boom"]
        assert (failed.value, failed.error_type) == (None, "KeyError")
        assert "step generate_reason" in failed.reason
        assert written[trace_id, "tool-failures"].value is not None
        assert half.scorer_version


def test_saving_needs_a_store() -> None:
    with pytest.raises(UsageError, match="save: there is no store"):
        run_evals_sync(data=[{"output": "x"}], scorers=[named("a", 1)], save=True)


def test_an_expectation_of_the_item_reaches_a_ready_scorer(store: Store) -> None:
    (trace_id, *_) = store.trace_ids()
    result = run_evals_sync(
        data=[{"trace_id": trace_id, "expectedTrajectory": {"blacklistedTools": ["get_*"]}}],
        scorers=["blacklist", "efficiency"],
        store=store,
    )
    assert result.scores["blacklist"] == 0.0
    assert result.summaries[1].not_scorable == 1
