"""Scores of many traces: the same in any number of processes, also when one of them dies."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.spans import span
from tests.support.stores import ingest
from trajscope.errors import PluginError, UsageError
from trajscope.evals.select import facts_of
from trajscope.model.expectation import NamedExpectation, TrajectoryExpectation
from trajscope.model.reading import Reading, StepType
from trajscope.model.score import Score
from trajscope.pipeline import bulk, waiting, workers
from trajscope.pipeline.bulk import score_on_all_cores, score_stored, workers_for
from trajscope.pipeline.load import facts, stored
from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
from trajscope.pipeline.waiting import run_here
from trajscope.pipeline.workers import Work
from trajscope.store import Store

IDS = [f"{n:032x}" for n in range(1, 31)]
TOOLS = ("search", "fetch", "delete")

OWN = """
import os

from trajscope import create_scorer

DEADLY = {deadly!r}


def judge(context):
    if context.run.run_id in DEADLY:
        os._exit(9)
    return 1 / len(list(context.run.output.walk()))


async def later(context):
    return 0.5


own = create_scorer("own").generate_score(judge)
waiting = create_scorer("waiting").generate_score(later)
"""
EXPECTATIONS = tuple(
    NamedExpectation.model_validate(entry)
    for entry in (
        {"name": "no deletes", "expect": {"blacklistedTools": ["delete"]}},
        {
            "name": "one trace",
            "select": {"traceId": IDS[7]},
            "expect": {"steps": [{"name": "search"}], "maxSteps": 2},
        },
        {"name": "nobody's", "select": {"agent": "nobody"}, "expect": {"maxSteps": 1}},
    )
)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bulk") / "spans.duckdb"
    records = []
    for n, trace_id in enumerate(IDS):
        for k in range(1 + n % 4):
            reading = Reading(
                convention="t", step_type=StepType.TOOL_CALL, name=TOOLS[(n + k) % 3], args={"k": k}
            )
            start = n * 1000 + k * 10
            records.append((span(k + 1, None, start, start + 5, trace_id=trace_id), reading))
    with Store.open(path) as store:
        ingest(store, records)
    return str(path)


def own(folder: Path, *deadly: str) -> str:
    path = folder / "own_scorers.py"
    path.write_text(OWN.format(deadly=list(deadly)))
    return str(path)


def in_one_process(work: Work) -> list[Score]:
    scoring = work.scoring()
    with Store.open(work.db, read_only=True) as store:
        found = [Judged(a.trajectory, facts(a)) for a in stored(store, IDS)]
    return list(scoring.run(found))


def test_two_processes_say_what_one_says_in_the_same_order(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_SMALLEST", 7)
    file = own(tmp_path)
    work = Work(db, EXPECTATIONS, ("blacklist", f"{file}:own", "trajectory", f"{file}:waiting"))
    told: list[tuple[int, int]] = []
    found = score_stored(work, IDS, 2, lambda done, total: told.append((done, total)))
    alone = in_one_process(work)
    assert found.scores == alone
    assert len(found.scores) == 4 * 31
    assert found.matched == {"no deletes", "one trace"}
    assert (found.traces, found.has_steps) == (30, True)
    assert told[-1] == (30, 30)
    assert len(told) == 5


def test_a_worker_that_dies_costs_the_one_score_it_died_at(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_SMALLEST", 8)
    file = own(tmp_path, IDS[21])
    work = Work(db, EXPECTATIONS[:1], ("blacklist", f"{file}:own"))
    found = score_stored(work, IDS, 2)
    assert [(s.trace_id, s.scorer) for s in found.scores] == [
        (trace_id, scorer) for trace_id in IDS for scorer in ("blacklist", "own")
    ]
    (dead,) = [s for s in found.scores if s.value is None]
    assert (dead.trace_id, dead.scorer, dead.error_type) == (IDS[21], "own", "WorkerDied")
    assert dead.expectation == "no deletes"
    assert "process ended" in dead.reason


def test_a_scorer_that_always_kills_ends_the_run(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_DEATHS", 0)
    work = Work(db, (), (f"{own(tmp_path, *IDS)}:own",))
    with pytest.raises(PluginError, match=r"own_scorers\.py:own died"):
        score_stored(work, IDS[:2], 1)


def test_what_is_wrong_with_the_expectation_ends_the_run(db: str) -> None:
    bad = NamedExpectation(
        name="bad", expect=TrajectoryExpectation(blacklisted_tools=("re:(unclosed",))
    )
    with pytest.raises(UsageError, match="unclosed"):
        score_stored(Work(db, (bad,), ("blacklist",)), IDS[:3], 2)


class Slow:
    """A scorer that waits; it notes how many of it wait at once."""

    name, description, waits = "slow", "Waits.", True

    def __init__(self) -> None:
        self.now = self.most = 0

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        return True

    def score(self, trajectory: object, expectation: object) -> Score:
        raise AssertionError("one at a time")

    async def score_later(self, trajectory: object, expectation: object) -> Score:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if self.most < 0:
            raise ValueError
        return Score(scorer="slow", value=1.0)


def test_scorers_that_wait_do_so_many_at_a_time_and_in_order(db: str) -> None:
    slow = Slow()
    scoring = Scoring([], [slow, *chosen_scorers(["tool-failures"])], named=True)
    with Store.open(db, read_only=True) as store:
        found = [Judged(a.trajectory, facts_of(a.trajectory)) for a in stored(store, IDS)]
    scores = list(run_here(scoring, found))
    assert [(s.trace_id, s.scorer) for s in scores] == [
        (trace_id, scorer) for trace_id in IDS for scorer in ("slow", "tool-failures")
    ]
    assert slow.most == waiting.MOST_WAITING


def test_scorers_that_wait_also_run_where_a_loop_runs_already(db: str, tmp_path: Path) -> None:
    (waits,) = chosen_scorers([f"{own(tmp_path)}:waiting"])
    with Store.open(db, read_only=True) as store:
        found = [Judged(a.trajectory, facts_of(a.trajectory)) for a in stored(store, IDS[:2])]

    async def notebook() -> list[float | None]:
        scores = [*run_here(Scoring([], [waits], named=True), found)]
        scores += [waits.score(judged.trajectory, TrajectoryExpectation()) for judged in found]
        return [score.value for score in scores]

    assert asyncio.run(notebook()) == [0.5] * 4


def test_a_scoring_is_told_what_others_found(db: str, tmp_path: Path) -> None:
    scoring = Scoring(EXPECTATIONS, chosen_scorers([f"{own(tmp_path)}:own"]), named=True)
    assert score_on_all_cores(db, [], scoring) is None  # too few to pay
    found = score_on_all_cores(db, [], scoring, 2)
    assert found is not None
    assert (scoring.traces, scoring.unmatched()) == (30, ["nobody's"])
    assert score_on_all_cores(db, [*IDS[:3], "unknown"], scoring, 2) is None
    some = score_on_all_cores(db, IDS[3:5], scoring, 2)
    assert some is not None
    assert [s.trace_id for s in some.scores] == IDS[3:5]


def test_more_processes_only_where_they_pay() -> None:
    many = bulk.ENOUGH_TRACES
    of_sessions = NamedExpectation(
        name="s", expect=TrajectoryExpectation(max_steps=1, scope="session")
    )
    busy = chosen_scorers(["blacklist"])
    assert workers_for(Scoring([], busy, named=True), many - 1) == 1
    assert workers_for(Scoring([of_sessions], busy, named=True), many) == 1
    assert workers_for(Scoring([], [Slow()], named=True), many) == 1
    assert workers_for(Scoring([], busy, named=True), many) >= 1
