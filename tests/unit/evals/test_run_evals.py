from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.evals.engine import TargetCall
from trajscope.evals.error import ScorerRunError
from trajscope.evals.evaluated import EvalsResult
from trajscope.evals.material import TargetReply
from trajscope.evals.outcome import ItemResult
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.pipeline.evals import run_evals, run_evals_sync


def fixed(id: str, *scores: Any, **more: Any) -> StepScorer[Any, Any]:
    """Return a scorer that gives these scores in turn: a number, a reason not to, or an error."""
    left = iter(scores)

    def score(context: StepContext) -> Any:
        found = next(left)
        if isinstance(found, Exception):
            raise found
        return not_scorable(found) if isinstance(found, str) else found

    return create_scorer(id, **more).generate_score(score)


def evals(**arguments: Any) -> EvalsResult:
    return run_evals_sync(**{"target": lambda said: said, **arguments})


def asked(count: int) -> list[dict[str, Any]]:
    return [{"input": f"q{index}"} for index in range(count)]


def test_every_item_meets_every_scorer_and_averages_are_over_what_was_scored() -> None:
    result = evals(
        data=asked(4),
        scorers=[fixed("a", 1, 0.5, "no answer", ValueError("boom")), fixed("b", 0, 0, 1, 1)],
    )
    assert result.scores == {"a": 0.75, "b": 0.5}
    first = result.summaries[0]
    assert (first.scored, first.not_scorable, first.failed) == (2, 1, 1)
    assert [score.status for item in result.items for score in item.scores[:1]] == [
        "scored",
        "scored",
        "not_scorable",
        "failed",
    ]
    (failure,) = result.failures()
    assert isinstance(failure.error, ScorerRunError)
    assert "scorer a, step generate_score: boom" in str(failure.error)
    assert "a: 0.750 (2 scored, 1 not scorable, 1 failed)" in str(result)
    assert result.verdict is None


def test_nothing_scored_is_no_average() -> None:
    result = evals(data=asked(2), scorers=[fixed("a", "n", "n")])
    assert result.scores == {"a": None}
    assert result.to_json()["scorers"] == [
        {"id": "a", "average": None, "scored": 0, "notScorable": 2, "failed": 0}
    ]


def test_a_score_recovered_from_a_failed_run_is_shown_and_never_counted() -> None:
    def reason(context: StepContext) -> str:
        raise ValueError("no words")

    scorer = create_scorer("a").generate_score(lambda c: 1.0).generate_reason(reason)
    result = evals(data=asked(1), scorers=[scorer])
    assert result.scores == {"a": None}
    score = result.items[0].to_json()["scores"][0]
    assert (score["status"], score["score"]) == ("failed", None)
    assert score["recovered"] == {"score": 1.0}
    assert score["error"]["details"]["failedStep"] == "generate_reason"


def test_a_target_that_fails_ends_its_own_item() -> None:
    def target(said: str) -> str:
        if said == "q1":
            raise RuntimeError("agent down")
        return said

    result = evals(data=asked(3), target=target, scorers=[fixed("a", 1, 1)])
    assert result.scores == {"a": 1.0}
    assert (result.summaries[0].scored, result.summaries[0].failed) == (2, 1)
    assert [item.error is None for item in result.items] == [True, False, True]
    assert result.to_json()["summary"] == {"totalItems": 3, "failedItems": 1}
    assert "3 items, 1 not run to the end" in str(result)


@pytest.mark.parametrize("failure", [StopIteration("x"), KeyError("x"), TimeoutError()])
def test_whatever_a_target_raises_is_its_result(failure: Exception) -> None:
    def sync(said: str) -> str:
        raise failure

    async def later(said: str) -> str:
        raise failure if not isinstance(failure, StopIteration) else KeyError("x")

    for target in (sync, later):
        result = evals(data=asked(1), target=target, scorers=[fixed("a", 1)])
        assert isinstance(result.items[0].error, Exception)


@pytest.mark.parametrize(
    ("scores", "threshold", "passed", "verdict"),
    [
        ((1, 0.5), 0.75, True, "passed"),
        ((1, 0.5), 0.76, False, "scored"),
        ((1, 0.5), {"max": 0.7}, False, "scored"),
        ((1, 0.5), {"min": 0.7, "max": 0.8}, True, "passed"),
        ((1, "n"), 1, True, "passed"),
        (("n", "n"), 0, None, "unknown"),
        ((1, ValueError()), 0.5, True, "passed"),
        ((1, ValueError()), 0.6, None, "unknown"),
        ((0, ValueError()), 0.6, False, "scored"),
        ((0, ValueError()), {"max": 0.5}, True, "passed"),
        ((0, ValueError()), {"max": 0.4}, None, "unknown"),
        ((ValueError(), ValueError()), 0, None, "unknown"),
    ],
)
def test_a_threshold_is_met_when_no_missing_score_could_turn_it(
    scores: tuple[Any, ...], threshold: Any, passed: bool | None, verdict: str
) -> None:
    entry = {"scorer": fixed("a", *scores), "threshold": threshold}
    result = evals(data=asked(2), scorers=[entry])
    assert result.summaries[0].passed is passed
    assert result.verdict == verdict


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((1, 1), "passed"),
        ((1, 0.99), "failed"),
        ((1, ValueError()), "unknown"),
        ((0.9, ValueError()), "failed"),
        ((1, "n"), "passed"),
        (("n", "n"), "unknown"),
    ],
)
def test_a_gate_is_met_by_ones_alone(scores: tuple[Any, ...], verdict: str) -> None:
    result = evals(data=asked(2), gates=[fixed("g", *scores)])
    assert result.verdict == verdict
    assert result.scores == {}


def test_a_missed_gate_outweighs_a_met_threshold() -> None:
    met = {"scorer": fixed("a", 1), "threshold": 1}
    assert evals(data=asked(1), scorers=[met], gates=[fixed("g", 0)]).verdict == "failed"


def test_turns_are_judged_alone_and_the_whole_by_the_scorers_of_all() -> None:
    seen: list[Any] = []

    def whole(context: StepContext) -> float:
        seen.append((context.run.input, context.run.output))
        return 1.0

    def target(said: str, call: TargetCall) -> list[str]:
        return [f"{call.turn}:{said}:{len(call.earlier)}"]

    turns = [
        {"input": "a", "gates": [fixed("g", 1)]},
        {"input": "b", "scorers": [{"scorer": fixed("t", 0.5), "threshold": 0.6}]},
    ]
    scorer = create_scorer("w").generate_score(whole)
    result = evals(data=[{"turns": turns}], target=target, scorers=[scorer])
    assert seen == [(["a", "b"], ["0:a:0", "1:b:1"])]
    assert [[one.passed for one in turn] for turn in result.turn_summaries] == [[True], [False]]
    assert result.verdict == "scored"
    json = result.to_json()
    assert [turn["index"] for turn in json["turns"]] == [0, 1]
    assert json["turns"][1]["scorers"][0]["average"] == 0.5


def test_inputs_are_one_conversation() -> None:
    result = evals(data=[{"inputs": ["a", "b"]}], scorers=[fixed("w", 1)])
    assert result.turn_summaries == ()
    assert result.items[0].output == "b"


def test_trajectory_scorers_get_the_trajectory_of_the_messages() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    scorer = create_scorer("t", type="trajectory").generate_score(
        lambda c: float(c.run.output.steps[0].name == "add")
    )
    result = evals(
        data=[{"output": [{"role": "assistant", "tool_calls": [call]}]}],
        target=None,
        scorers=[scorer, "tool-failures"],
    )
    assert result.scores["t"] == 1.0
    assert result.items[0].trajectory_from == "messages"
    assert result.items[0].duration_ms is None


def test_an_output_that_holds_no_messages_fails_the_trajectory_scorer_alone() -> None:
    result = evals(
        data=[{"input": "q"}],
        scorers={"agent": [fixed("a", 1)], "trajectory": [fixed("t", 1)]},
    )
    assert result.bucket("agent") == {"a": 1.0}
    assert result.bucket("trajectory") == {"t": None}
    assert len(result.failures()) == 1


def test_what_the_target_knows_more_goes_to_the_scorers() -> None:
    took = {"steps": [{"stepType": "tool_call", "name": "add", "success": True}]}
    reply = TargetReply("o", input="more", trajectory=took)
    scorer = create_scorer("a").generate_score(lambda c: float(c.run.input == "more"))
    result = evals(data=asked(1), target=lambda said: reply, scorers=[scorer, "tool-failures"])
    assert result.scores == {"a": 1.0, "tool-failures": 1.0}
    assert result.items[0].trajectory_from == "given"


def test_as_many_items_run_at_a_time_as_allowed() -> None:
    running = most = 0

    async def target(said: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return said

    told: list[tuple[int, int, int]] = []

    def progress(done: int, total: int, item: ItemResult) -> None:
        told.append((done, total, item.index))

    result = evals(
        data=asked(10),
        target=target,
        scorers=[create_scorer("a").generate_score(lambda c: 1)],
        concurrency=3,
        progress=progress,
    )
    assert most == 3
    assert [item.index for item in result.items] == list(range(10))
    assert [done for done, _, _ in told] == list(range(1, 11))
    assert sorted(index for _, _, index in told) == list(range(10))


def test_blocking_targets_run_beside_each_other() -> None:
    both = threading.Barrier(2, timeout=5)

    def target(said: str) -> str:
        both.wait()
        return said

    result = evals(data=asked(2), target=target, scorers=[fixed("a", 1, 1)], concurrency=2)
    assert result.scores == {"a": 1.0}


def test_what_progress_raises_ends_the_run_and_its_workers() -> None:
    def progress(done: int, total: int, item: ItemResult) -> None:
        raise OSError("closed")

    with pytest.raises(OSError, match="closed"):
        evals(data=asked(5), scorers=[fixed("a", *[1] * 5)], progress=progress, concurrency=2)


def test_a_running_loop_is_no_hindrance() -> None:
    async def inside() -> EvalsResult:
        await run_evals(data=asked(1), target=lambda q: q, scorers=[fixed("a", 1)])
        return evals(data=asked(1), scorers=[fixed("a", 1)])

    assert asyncio.run(inside()).scores == {"a": 1.0}


SCORER = create_scorer("a").generate_score(lambda c: 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": []}, "data: is empty"),
        ({"data": "q"}, "data: is no list"),
        ({"data": [3]}, r"data\[0\]: is no mapping"),
        ({"data": [{}]}, r"data\[0\]: has neither input"),
        ({"data": [{"input": 1}, {"inptu": 1}]}, r"(?s)data\[1\]: inptu is unknown.*mean input"),
        ({"data": [{"input": 1, "turns": [{"input": 1}]}]}, "has input and turns"),
        ({"data": [{"turns": []}]}, "turns is empty"),
        ({"data": [{"inputs": "ab"}]}, "inputs: is no list"),
        ({"data": [{"turns": [{}]}]}, r"turns\[0\]: has no input"),
        ({"data": [{"turns": [{"input": 1}], "output": []}]}, "is recorded and has turns"),
        ({"data": [{"input": 1}], "target": None}, "is not recorded, and there is no target"),
        ({"target": 3}, "target: is no function"),
        ({"scorers": []}, "scorers: there are none"),
        ({"scorers": 3}, "scorers: is no list"),
        ({"scorers": [3]}, r"scorers\[0\]: is no scorer"),
        ({"scorers": ["nothing"]}, "unknown scorer 'nothing'"),
        ({"scorers": {"agents": [SCORER]}}, "has the keys"),
        ({"scorers": [create_scorer("b")]}, "scorer b: has no generate_score"),
        ({"scorers": [SCORER, SCORER]}, "two scorers have the id a"),
        ({"scorers": [{"scorer": SCORER, "threshold": 2}]}, "threshold is 2"),
        ({"scorers": [{"scorer": SCORER, "threshold": None}]}, "threshold is None"),
        ({"scorers": [{"scorer": SCORER, "threshold": {"min": 1, "max": 0}}]}, "is above"),
        ({"scorers": [{"scorer": SCORER, "treshold": 1}]}, "expected scorer and threshold"),
        ({"gates": [{"scorer": SCORER, "threshold": 1}]}, r"gates\[0\]: is a gate"),
        ({"concurrency": 0}, "concurrency: is 0"),
        ({"compat": "x"}, "compat: is unknown"),
    ],
)
def test_what_is_malformed_is_refused_before_anything_runs(
    arguments: dict[str, Any], message: str
) -> None:
    ran: list[Any] = []
    usual = {"data": asked(1), "scorers": [SCORER], "target": ran.append}
    with pytest.raises(UsageError, match=message):
        run_evals_sync(**{**usual, **arguments})
    assert not ran
