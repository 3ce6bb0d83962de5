from __future__ import annotations

import math
from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.errors import UsageError
from trajscope.model.trajectory import TokenTotals
from trajscope.scorers.efficiency import check_trajectory_efficiency


@pytest.mark.parametrize(("limit", "score"), [(4, 1), (3, 1), (2, 0.5), (1, 0), (0, 0)])
def test_a_step_budget_falls_off_with_the_excess(limit: float, score: float) -> None:
    took = trajectory(tool("a"), model(tool("b")))
    assert check_trajectory_efficiency(took, max_steps=limit).score == score


def test_a_requested_call_is_no_step() -> None:
    took = trajectory(tool("a"), tool("b", ok=None, executed=False))
    assert check_trajectory_efficiency(took, max_steps=1).over_step_budget is False


def test_tokens_of_a_hand_written_trajectory_are_added_up() -> None:
    took = trajectory(model(model(prompt_tokens=1, completion_tokens=2), prompt_tokens=3))
    result = check_trajectory_efficiency(took, max_total_tokens=10)
    assert (result.total_tokens, result.tokens_complete, result.score) == (6, False, None)


def test_a_trace_without_model_calls_has_no_known_tokens() -> None:
    result = check_trajectory_efficiency(trajectory(tool("a")), max_total_tokens=10)
    assert (result.total_tokens, result.over_token_budget, result.score) == (None, None, None)
    assert "not evaluable" in result.reason


def test_zero_tokens_are_a_figure() -> None:
    zero = TokenTotals(input=0, output=0, total=0, complete=True)
    result = check_trajectory_efficiency(trajectory(tokens=zero), max_total_tokens=0)
    assert (result.total_tokens, result.score) == (0, 1)


@pytest.mark.parametrize(
    ("fields", "steps", "known", "complete"),
    [
        ({"total_duration_ms": 9.0}, (), 9, True),
        ({}, (tool("a", duration_ms=2), tool("b", duration_ms=3)), 5, True),
        (
            {},
            (
                tool("a", start_ns=0, end_ns=4_000_000, duration_ms=4),
                tool("b", start_ns=1_000_000, end_ns=3_000_000, duration_ms=2),
            ),
            4,
            True,
        ),
        ({}, (tool("a", duration_ms=7), tool("b")), 7, False),
        ({}, (), None, False),
        ({"total_duration_ms": -5.0}, (), None, False),
    ],
)
def test_durations(fields: Any, steps: Any, known: float | None, complete: bool) -> None:
    result = check_trajectory_efficiency(trajectory(*steps, **fields))
    assert (result.total_duration_ms, result.duration_complete) == (known, complete)


def test_a_step_longer_than_the_budget_exceeds_it_whatever_else_is_unknown() -> None:
    took = trajectory(tool("a", duration_ms=7), tool("b"))
    assert check_trajectory_efficiency(took, max_total_duration_ms=5).over_duration_budget is True
    assert check_trajectory_efficiency(took, max_total_duration_ms=9).over_duration_budget is None


def calls(*given: tuple[str, Any, bool | None]) -> Any:
    steps = (
        tool(name, ok=ok, **({} if args is None else {"tool_args": args}))
        for name, args, ok in given
    )
    return trajectory(*steps)


@pytest.mark.parametrize(
    ("took", "indices"),
    [
        (calls(("a", {}, True), ("a", {}, True)), [1]),
        (calls(("a", {}, True), ("b", {}, True), ("a", {}, True)), [2]),
        (calls(("a", {}, False), ("a", {}, True)), []),
        (calls(("a", {}, True), ("a", {}, False), ("a", {}, True)), [1]),
        (calls(("a", {}, None), ("a", {}, True)), [1]),
        (calls(("a", {"x": 1, "y": 2}, True), ("a", {"y": 2.0, "x": 1}, True)), [1]),
        (calls(("a", {"x": 1}, True), ("a", {"x": True}, True)), []),
        (calls(("a", {"x": "1"}, True), ("a", {"x": 1}, True)), []),
    ],
)
def test_redundant_calls(took: Any, indices: list[int]) -> None:
    found = check_trajectory_efficiency(took, no_redundant_calls=True)
    assert [call.index for call in found.redundant_calls] == indices
    assert found.score == 1 - 0.2 * len(indices)


def test_another_agent_run_repeats_nothing() -> None:
    took = trajectory(
        agent("one", tool("a", tool_args={})),
        agent("two", tool("a", tool_args={})),
        tool("a", tool_args={}),
    )
    assert check_trajectory_efficiency(took).redundant_calls == ()


def test_unknown_arguments_are_not_evaluable() -> None:
    result = check_trajectory_efficiency(calls(("a", None, True), ("a", {}, True)))
    assert (result.score, result.unknown_calls) == (None, 1)
    alone = check_trajectory_efficiency(calls(("a", None, True), ("b", {}, True)))
    assert (alone.score, alone.unknown_calls) == (1, 0)


def test_what_is_not_evaluable_is_left_out_of_the_mean() -> None:
    result = check_trajectory_efficiency(trajectory(tool("a")), max_steps=1, max_total_tokens=1)
    assert result.score == 1
    assert result.dimensions == {"max_steps": 1, "max_total_tokens": None}


def test_redundant_calls_weigh_beside_a_budget_only_when_asked_for() -> None:
    took = calls(("a", {}, True), ("a", {}, True))
    assert check_trajectory_efficiency(took, max_steps=9).score == 1
    assert check_trajectory_efficiency(took, max_steps=9, no_redundant_calls=True).score == 0.9
    assert check_trajectory_efficiency(took).score == 0.8
    assert check_trajectory_efficiency(took, no_redundant_calls=False).score is None


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "3", True])
@pytest.mark.parametrize("name", ["max_steps", "max_total_tokens", "max_total_duration_ms"])
def test_a_budget_is_a_finite_number_of_at_least_0(name: str, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        check_trajectory_efficiency(trajectory(), **{name: value})
    assert caught.value.at is not None
    assert caught.value.at.key == name
