"""Laws of a scorer's run and of an evaluation, whatever its steps do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.errors import UsageError
from trajscope.evals.data import Graded, Threshold
from trajscope.evals.error import ScorerRunError
from trajscope.evals.outcome import ItemScore, summarise
from trajscope.evals.scorer import (
    STEP_NAMES,
    StepContext,
    StepScorer,
    create_scorer,
    not_scorable,
)
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.evals import run_evals_sync

DOES = st.sampled_from(["value", "later", "raise", "skip"])
PROGRAMS = st.dictionaries(st.sampled_from(STEP_NAMES), DOES).map(
    lambda steps: {"generate_score": "value", **steps}
)


def scorer_of(program: dict[str, str], order: list[str]) -> StepScorer[Any, Any]:
    def function(does: str) -> Any:
        async def later() -> float:
            await asyncio.sleep(0)
            return 0.5

        def step(context: StepContext) -> Any:
            if does == "raise":
                raise ValueError("boom")
            return {"value": 0.5, "skip": not_scorable("n")}.get(does) or later()

        return step

    scorer: Any = create_scorer("s")
    for name in order:
        scorer = getattr(scorer, name)(function(program[name]))
    return scorer  # type: ignore[no-any-return]


@given(PROGRAMS, st.randoms(use_true_random=False))
def test_a_run_stops_at_the_first_step_that_does_not_go_on(
    program: dict[str, str], random: Any
) -> None:
    """What is known afterwards is exactly what the steps before it gave, in any order of calls."""
    order = list(program)
    random.shuffle(order)
    scorer = scorer_of(program, order)
    present = [name for name in STEP_NAMES if name in program]
    stop = next((n for n in present if program[n] in ("raise", "skip")), None)
    done = present if stop is None else present[: present.index(stop)]
    try:
        result = scorer.run_sync(output="x", run_id="r")
    except ScorerRunError as error:
        assert stop is not None
        assert program[stop] == "raise"
        assert (error.failed_step, list(error.completed_steps)) == (stop, done)
        assert list(error.result.results if error.result else ()) == done
        json.dumps(error.to_json())
        return
    assert stop is None or program[stop] == "skip"
    assert list(result.results) == done
    scored = "generate_score" in done
    assert (result.score, result.not_scorable is None) == (0.5 if scored else None, scored)
    json.dumps(result.to_json())


SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, "n", "fails"]), min_size=1, max_size=5)
BOUNDS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def said(graded: Graded, score: Any) -> ItemScore:
    if score == "n":
        return ItemScore(graded, "not_scorable")
    if score == "fails":
        return ItemScore(graded, "failed", error=ValueError())
    return ItemScore(graded, "scored", score)


@given(SCORES, BOUNDS, BOUNDS, st.sampled_from(["low", "high", "both"]))
def test_passed_is_known_only_if_no_missing_score_could_turn_it(
    scores: list[Any], one: float, other: float, kind: str
) -> None:
    low, high = min(one, other), max(one, other)
    bounds = Threshold(None if kind == "high" else low, None if kind == "low" else high)
    graded = Graded(create_scorer("s"), bounds, said=low)
    summary = summarise(graded, [said(graded, score) for score in scores])
    known = [score for score in scores if isinstance(score, float)]
    failed = scores.count("fails")
    assert summary.scored + summary.not_scorable + summary.failed == len(scores)
    assert summary.average == (sum(known) / len(known) if known else None)
    if not known:
        assert summary.passed is None
        return
    steps = [step / 64 for step in range(64 * failed + 1)]  # every sum the failed could have had
    answers = {bounds.holds((sum(known) + more) / (len(known) + failed)) for more in steps}
    assert summary.passed is (answers.pop() if len(answers) == 1 else None)


@given(
    st.lists(st.sampled_from([0, 0.5, 1, "n", "fails"]), min_size=1, max_size=8), st.integers(1, 4)
)
def test_how_many_run_at_a_time_changes_nothing(wanted: list[Any], concurrency: int) -> None:
    async def target(value: Any) -> Any:
        for _ in range(len(str(value))):
            await asyncio.sleep(0)
        return value

    def score(context: StepContext) -> Any:
        if context.run.output == "fails":
            raise ValueError("boom")
        return not_scorable() if context.run.output == "n" else context.run.output

    def run(at_a_time: int) -> Any:
        result = run_evals_sync(
            data=[{"input": value} for value in wanted],
            target=target,
            scorers=[{"scorer": create_scorer("s").generate_score(score), "threshold": 0.5}],
            concurrency=at_a_time,
        )
        found = result.to_json()
        for item in found["items"]:
            del item["durationMs"]
        return json.dumps(found)

    assert run(concurrency) == run(1)


def test_a_trajectory_scorer_sees_a_trajectory() -> None:
    scorer = create_scorer("t", type="trajectory").generate_score(
        lambda c: float(isinstance(c.run.output, Trajectory) and len(c.run.output.steps) == 1)
    )
    steps = {"steps": [{"stepType": "tool_call", "name": "add"}]}
    assert scorer.run_sync(output=steps).score == 1.0
    assert scorer.run_sync(output=Trajectory.model_validate(steps)).score == 1.0


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (None, "the output is no trajectory"),
        ([], "the output is no trajectory"),
        ({"step": []}, "the output is no trajectory"),
        ({"steps": [{"name": "add", "stepType": "tool"}]}, "steps"),
    ],
)
def test_what_is_no_trajectory_is_refused(output: Any, message: str) -> None:
    scorer = create_scorer("t", type="trajectory").generate_score(lambda c: 1)
    with pytest.raises(UsageError, match=f"scorer t: .*{message}"):
        scorer.run_sync(output=output)


@pytest.mark.parametrize("judge", ["", " ", 3, object()])
def test_what_is_no_judge_is_refused(judge: Any) -> None:
    with pytest.raises(UsageError, match="scorer s: the judge is"):
        create_scorer("s", judge=judge)
    with pytest.raises(UsageError, match="scorer s, step generate_score: the judge is"):
        create_scorer("s").generate_score(create_prompt=lambda c: "?", judge=judge)


def test_a_run_is_a_mapping() -> None:
    bad: Any = "text"
    with pytest.raises(UsageError, match="scorer s: the run is no mapping"):
        create_scorer("s").generate_score(lambda c: 1).run_sync(bad)
    with pytest.raises(UsageError, match="both runId and run_id"):
        create_scorer("s").generate_score(lambda c: 1).run_sync(runId="a", run_id="b")
    result = create_scorer("s").generate_score(lambda c: 1).run_sync({"groundTruth": 3})
    assert result.run.ground_truth == 3
    assert result.to_json()["groundTruth"] == 3


@pytest.mark.parametrize("value", [object(), {"a": {1: object()}}, lambda: 1])
def test_a_result_that_is_no_json_names_its_step(value: Any) -> None:
    for step in ("preprocess", "analyze", "generate_reason"):
        scorer = create_scorer("s").generate_score(lambda c: 1)
        with pytest.raises(ScorerRunError, match=f"scorer s, step {step}: the result is no JSON"):
            getattr(scorer, step)(lambda c: value).run_sync()
