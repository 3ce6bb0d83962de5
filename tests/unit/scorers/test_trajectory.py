from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.errors import UsageError
from trajscope.evals.error import ScorerRunError
from trajscope.evals.runs import create_trajectory_test_run
from trajscope.model.expectation import TrajectoryExpectation, Weights
from trajscope.scorers._unified import evaluate
from trajscope.scorers.accuracy import SCORER as ACCURACY
from trajscope.scorers.accuracy import create_trajectory_accuracy_scorer_code
from trajscope.scorers.trajectory import SCORER, create_trajectory_scorer_code

TOOK = trajectory(agent("boss", model(tool("a"), tool("b"))), tool("c", ok=False))


def score(expect: Any, took: Any = TOOK, **weights: float) -> float | None:
    expectation = TrajectoryExpectation.model_validate(expect)
    return evaluate(took, expectation, Weights(**weights)).score


STEPS = {"steps": [{"name": "a"}, {"name": "b"}, {"name": "x"}, {"name": "y"}]}


@pytest.mark.parametrize(
    ("expect", "wanted"),
    [
        (STEPS, (0.4 * 0.5 + 0.2 * (2 / 3)) / 0.6),
        ({**STEPS, "maxSteps": 5}, (0.4 * 0.5 + 0.3 + 0.2 * (2 / 3)) / 0.9),
        ({**STEPS, "blacklistedTools": ["never"]}, (0.4 * 0.5 + 0.2 * (2 / 3) + 0.1) / 0.7),
        ({**STEPS, "blacklistedTools": ["b"]}, 0),
        ({"noRedundantCalls": False}, 2 / 3),
        ({}, 2 / 3),
    ],
)
def test_dimensions_weigh_as_in_the_reference(expect: Any, wanted: float) -> None:
    assert score(expect) == pytest.approx(wanted)


def test_failures_weigh_only_where_there_are_any() -> None:
    took = trajectory(tool("a"))
    assert score({"steps": [{"name": "a"}, {"name": "b"}]}, took) == 0.5
    assert score({}, took) == 1


def test_what_cannot_be_evaluated_is_left_out_and_named() -> None:
    took = trajectory(tool("a"))
    expectation = TrajectoryExpectation.model_validate(
        {"steps": [{"name": "a"}, {"name": "z"}], "maxTotalTokens": 1}
    )
    result = evaluate(took, expectation, Weights())
    assert (result.score, result.weights) == (0.5, {"accuracy": 0.4})
    assert set(result.not_evaluated) == {"efficiency"}


def test_nothing_evaluated_is_no_score() -> None:
    result = SCORER.score(trajectory(), TrajectoryExpectation(max_total_tokens=1))
    assert result.value is None
    assert "not evaluable" in result.reason
    assert SCORER.score(trajectory(), TrajectoryExpectation()).value is None


def nested(children: Any, name: str = "boss") -> Any:
    return {"steps": [{"name": name, "stepType": "agent_run", "children": children}]}


@pytest.mark.parametrize(
    ("children", "wanted"),
    [
        ({"steps": [{"name": "a"}, {"name": "b"}]}, 1),
        ({"steps": [{"name": "b"}, {"name": "a"}]}, 0.7 + 0.3 * 0.5),
        ({"steps": [{"name": "c"}]}, 0.7),
        ({"maxSteps": 2}, 0.7 + 0.3 * 0.5),
        ({"blacklistedTools": ["b"]}, 0),
        ({"steps": [{"name": "model", "children": {"blacklistedTools": ["b"]}}]}, 0),
    ],
)
def test_nested_expectations_look_below_their_step(children: Any, wanted: float) -> None:
    took = trajectory(agent("boss", model(tool("a"), tool("b"))), tool("c"))
    assert score(nested(children), took) == pytest.approx(wanted)


def test_a_step_that_was_not_taken_scores_0_below() -> None:
    result = evaluate(
        TOOK, TrajectoryExpectation.model_validate(nested({"maxSteps": 9}, "chief")), Weights()
    )
    assert (result.nested[0].found, result.nested[0].score) == (False, 0)


@pytest.mark.parametrize("names", list(product(("boss", "x"), ("model", "x"), ("a", "x"))))
def test_expectations_nest_below_steps_that_were_not_taken(names: tuple[str, ...]) -> None:
    children: Any = {"maxSteps": 0}
    for name in reversed(names):
        children = {"steps": [{"name": name, "children": children}], "blacklistedTools": ["never"]}
    found = SCORER.score(TOOK, TrajectoryExpectation.model_validate(children))
    taken = names.index("x") if "x" in names else 3
    missing = [f.message for f in found.findings if f.rule == "comparison"]
    assert len(missing) == (taken < 3)
    assert found.value is not None


def test_nested_expectations_inherit_how_to_compare() -> None:
    children = {"steps": [{"name": "b"}, {"name": "a"}]}
    took = trajectory(agent("boss", tool("a"), tool("b")))
    assert score({**nested(children), "ordering": "unordered"}, took) == 1
    own = {**children, "ordering": "strict"}
    assert score({**nested(own), "ordering": "unordered"}, took) == pytest.approx(0.85)


def test_the_parent_is_the_one_the_alignment_found() -> None:
    took = trajectory(
        tool("ask", tool_args={"n": 1}, children=(tool("x"),)),
        tool("ask", tool_args={"n": 2}, children=(tool("y"),)),
    )
    step = {"name": "ask", "toolArgs": {"n": 2}, "children": {"steps": [{"name": "y"}]}}
    assert score({"steps": [step]}, took) == 1


def test_findings_of_nested_expectations_are_found_too() -> None:
    expectation = TrajectoryExpectation.model_validate(nested({"blacklistedTools": ["b"]}))
    rules = [finding.rule for finding in SCORER.score(TOOK, expectation).findings]
    assert rules == ["tool-failures", "blacklist"]


def test_accuracy_minds_steps_only() -> None:
    expectation = TrajectoryExpectation.model_validate(
        {**nested({"steps": [{"name": "b"}, {"name": "a"}]}), "blacklistedTools": ["b"]}
    )
    found = ACCURACY.score(TOOK, expectation)
    assert found.value == pytest.approx(0.85)
    assert {finding.rule for finding in found.findings} == {"comparison"}


def test_a_run_is_scored_sync_and_async() -> None:
    scorer = create_trajectory_scorer_code(defaults={"maxSteps": 5})
    run = create_trajectory_test_run(TOOK, expected_trajectory={"steps": [{"name": "a"}]})
    result = asyncio.run(scorer.run(run))
    assert result.score == scorer.run_sync(run).score == pytest.approx((0.7 + 0.2 * 2 / 3) / 0.9)
    assert "accuracy 1.00" in result.reason


def test_a_run_overrides_the_defaults() -> None:
    scorer = create_trajectory_accuracy_scorer_code(comparison_options={"ordering": "strict"})
    strict = scorer.run_sync(output=TOOK, expected_trajectory={"steps": [{"name": "a"}]})
    relaxed = scorer.run_sync(
        output=TOOK, expected_trajectory={"steps": [{"name": "a"}], "ordering": "relaxed"}
    )
    assert (strict.score, relaxed.score) == (0, 1)


def test_a_run_without_expectation_is_not_scorable_and_0_in_the_reference() -> None:
    result = create_trajectory_accuracy_scorer_code().run_sync(output=TOOK)
    assert result.score is None
    assert result.not_scorable == {
        "step": "generate_score",
        "reason": "no expected steps were given",
    }
    compat = create_trajectory_accuracy_scorer_code(compat="mastra")
    assert compat.run_sync({"output": {"steps": []}}).score == 0


def test_a_malformed_run_is_a_scorer_run_error() -> None:
    scorer = create_trajectory_scorer_code()
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync(output={"steps": 3})
    assert caught.value.failed_step == "preprocess"
    assert isinstance(caught.value.__cause__, UsageError)


@pytest.mark.parametrize(
    "weights",
    [{"accuracy": -1}, {"accuracy": float("nan")}, {"acuracy": 1}, {"accuracy": "1"}],
)
def test_weights_are_refused(weights: Any) -> None:
    with pytest.raises(UsageError):
        create_trajectory_scorer_code(weights=weights)


def test_weights_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="0 for every dimension"):
        create_trajectory_scorer_code(
            weights={"accuracy": 0, "efficiency": 0, "toolFailures": 0, "blacklist": 0}
        )
