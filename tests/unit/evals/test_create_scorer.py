from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.evals.error import ScorerRunError
from trajscope.evals.runs import create_trajectory_test_run
from trajscope.evals.scorer import StepContext, create_scorer, not_scorable


def raises(message: str) -> Any:
    def step(context: StepContext) -> Any:
        raise ValueError(message)

    return step


def test_steps_run_in_their_fixed_order_and_see_what_was_before() -> None:
    scorer = (
        create_scorer(id="s")
        .generate_reason(lambda c: f"{c.score} from {sorted(c.results)}")
        .generate_score(lambda c: c.results["preprocess"] / 10)
        .preprocess(lambda c: len(c.run["output"]))
    )
    result = scorer.run_sync(output="four")
    assert result.score == 0.4
    assert result.reason == "0.4 from ['generate_score', 'preprocess']"
    assert result.results == {
        "preprocess": 4,
        "generate_score": 0.4,
        "generate_reason": result.reason,
    }


def test_under_compat_steps_run_as_they_were_added() -> None:
    order: list[str] = []
    scorer = (
        create_scorer(id="s", compat="mastra")
        .analyze(lambda c: order.append("analyze"))
        .preprocess(lambda c: order.append("preprocess"))
        .generate_score(lambda c: -5)
    )
    assert scorer.run_sync({"runId": "r"}).to_json() == {
        "runId": "r",
        "score": -5,
        "analyzeStepResult": None,
        "preprocessStepResult": None,
    }
    assert order == ["analyze", "preprocess"]


def test_functions_may_be_async_and_a_loop_may_be_running() -> None:
    async def score(context: StepContext) -> float:
        await asyncio.sleep(0)
        return 0.5

    scorer = create_scorer(id="s").generate_score(score)

    async def inside() -> tuple[Any, Any]:
        return (await scorer.run(output=1)).score, scorer.run_sync(output=1).score

    assert asyncio.run(inside()) == (0.5, 0.5)


def test_a_scorer_with_a_step_more_is_another_scorer() -> None:
    base = create_scorer(id="s")
    base.generate_score(lambda c: 1)
    with pytest.raises(UsageError, match="no generate_score step"):
        base.run_sync()


def test_a_failed_step_tells_all_that_is_known() -> None:
    scorer = (
        create_scorer(id="s")
        .preprocess(lambda c: {"n": 1})
        .analyze(raises("boom"))
        .generate_score(lambda c: 1)
    )
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync(output="x", run_id="r")
    error = caught.value
    assert (error.failed_step, error.completed_steps) == ("analyze", ("preprocess",))
    assert isinstance(error.__cause__, ValueError)
    assert error.result is not None
    assert error.result.to_json() == {
        "output": "x",
        "runId": "r",
        "preprocessStepResult": {"n": 1},
    }
    assert error.to_json() == {
        "message": "scorer s, step analyze: boom",
        "domain": "SCORER",
        "category": "USER",
        "code": "MASTR_SCORER_FAILED_TO_RUN_WORKFLOW_FAILED",
        "details": {
            "scorerId": "s",
            "steps": "preprocess, analyze, generate_score",
            "failedStep": "analyze",
            "completedSteps": "preprocess",
        },
        "cause": {"message": "boom", "name": "ValueError"},
    }


def test_a_chain_of_causes_is_told_and_a_circle_ends() -> None:
    inner = KeyError("deep")
    outer = RuntimeError("outer")
    outer.__cause__ = inner
    inner.__cause__ = outer

    def step(context: StepContext) -> Any:
        raise outer

    with pytest.raises(ScorerRunError) as caught:
        create_scorer(id="s").generate_score(step).run_sync()
    assert caught.value.to_json()["cause"] == {
        "message": "outer",
        "name": "RuntimeError",
        "cause": {"message": "'deep'", "name": "KeyError"},
    }


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.1, 1.5, "1", True, {}])
def test_a_score_is_a_number_from_0_to_1(score: Any) -> None:
    scorer = create_scorer(id="s").generate_score(lambda c: score)
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync()
    assert caught.value.failed_step == "generate_score"
    compat = create_scorer(id="s", compat="mastra").generate_score(lambda c: score)
    assert compat.run_sync().score is score


def test_not_scorable_ends_the_run() -> None:
    scorer = (
        create_scorer(id="s")
        .preprocess(lambda c: not_scorable("no answer"))
        .generate_score(raises("never reached"))
    )
    result = scorer.run_sync()
    assert result.score is None
    assert result.not_scorable == {"step": "preprocess", "reason": "no answer"}


def test_a_reason_that_cannot_be_given_takes_nothing_from_the_score() -> None:
    def scorer(compat: Any) -> Any:
        made = create_scorer(id="s", compat=compat).generate_score(lambda c: 0.5)
        return made.generate_reason(lambda c: not_scorable("no words"))

    assert scorer(None).run_sync().score == 0.5
    assert "score" not in scorer("mastra").run_sync().to_json()


@pytest.mark.parametrize("value", ["", None, 3])
def test_a_scorer_needs_an_id(value: Any) -> None:
    with pytest.raises(UsageError, match="id"):
        create_scorer(id=value)


def test_a_step_is_given_once_and_is_a_function() -> None:
    scorer = create_scorer(id="s").generate_score(lambda c: 1)
    with pytest.raises(UsageError, match="already"):
        scorer.generate_score(lambda c: 1)
    with pytest.raises(UsageError, match="no function"):
        scorer.preprocess(3)  # type: ignore[call-overload]


def test_runs_have_an_id_of_their_own() -> None:
    scorer = create_scorer(id="s").generate_score(lambda c: 1)
    one, other = scorer.run_sync(), scorer.run_sync()
    assert one.run["run_id"] != other.run["run_id"]
    assert scorer.run_sync(run_id="mine").run["run_id"] == "mine"


def test_a_test_run_holds_the_trajectory_as_output() -> None:
    run = create_trajectory_test_run({"steps": []}, expected_trajectory={"maxSteps": 1}, run_id="r")
    assert run == {
        "input": {"input_messages": []},
        "output": {"steps": []},
        "expected_trajectory": {"maxSteps": 1},
        "run_id": "r",
    }


def test_an_error_comes_back_from_another_process() -> None:
    scorer = create_scorer(id="s").preprocess(lambda c: 1).generate_score(raises("boom"))
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync(output="x", run_id="r")
    back = pickle.loads(pickle.dumps(caught.value))
    assert str(back) == str(caught.value)
    assert back.to_json() == caught.value.to_json()
    assert back.result.to_json() == {"output": "x", "runId": "r", "preprocessStepResult": 1}


def test_what_a_result_shows_is_short() -> None:
    scorer = create_scorer(id="s").generate_score(lambda c: 1)
    result = scorer.run_sync(output="x" * 10_000, run_id="r")
    assert repr(result) == "ScorerResult(run_id='r', score=1, reason=None)"
