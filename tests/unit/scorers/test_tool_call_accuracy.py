"""Tool-call accuracy: laws, then examples of what the reference gets wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.trajectories import NAMES, agent, tool, trajectory
from trajscope.errors import UsageError
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.scorers.tool_call_accuracy import (
    SCORER,
    create_tool_call_accuracy_scorer_code,
    tool_call_accuracy,
)

CALLS = st.lists(st.sampled_from(NAMES), max_size=6)


@given(CALLS, CALLS)
def test_strict_is_in_relaxed_is_in_unordered(made: list[str], expected: list[str]) -> None:
    took = trajectory(*map(tool, made))
    strict, relaxed, unordered = (
        tool_call_accuracy(took, expected, ordering).score
        for ordering in ("strict", "relaxed", "unordered")
    )
    assert strict == float(made == expected)
    assert strict is not None and relaxed is not None and unordered is not None
    assert strict <= relaxed <= unordered


@given(CALLS)
def test_a_run_is_right_against_itself(made: list[str]) -> None:
    took = trajectory(*map(tool, made))
    result = tool_call_accuracy(took, made, "strict")
    assert (result.score, result.missing, result.extra) == (1.0, (), ())


@given(CALLS, CALLS)
def test_every_expected_tool_is_served_or_missing(made: list[str], expected: list[str]) -> None:
    result = tool_call_accuracy(trajectory(*map(tool, made)), expected, "unordered")
    assert len(result.missing) + len(made) - len(result.extra) == len(expected)


@given(CALLS, st.permutations(["*", "a*", *NAMES[:3]]))
def test_in_any_order_the_order_of_the_patterns_is_no_matter(
    made: list[str], expected: list[str]
) -> None:
    took = trajectory(*map(tool, made))
    sorted_ones = tool_call_accuracy(took, sorted(expected), "unordered")
    assert tool_call_accuracy(took, expected, "unordered").score == sorted_ones.score


def test_a_wide_pattern_leaves_a_call_to_a_narrow_one() -> None:
    took = trajectory(tool("search"), tool("book"))
    assert tool_call_accuracy(took, ["*", "search"], "unordered").missing == ()


def run(output: Any, **options: Any) -> Any:
    return create_tool_call_accuracy_scorer_code(**options).run_sync(output=output)


def test_a_tool_that_is_expected_twice_may_be_called_twice() -> None:
    took = trajectory(tool("b"), tool("a"), tool("b"))
    assert run(took, expected_tool_order=["a", "b"]).score == 1.0
    assert run(took, expected_tool_order=["b", "b"]).score == 1.0
    assert run(took, expected_tool_order=["b", "b"], strict_mode=True).score == 0.0


def test_calls_of_sub_agents_and_names_of_servers_count() -> None:
    took = trajectory(agent("boss", agent("helper", tool("mcp__git__push"))))
    assert run(took, expected_tool="push").score == 1.0
    assert run(took, expected_tool="git.push", strict_mode=True).score == 1.0


def test_a_call_that_never_ran_was_not_made() -> None:
    took = trajectory(tool("a", None, executed=False))
    assert run(took, expected_tool="a").score == 0.0


def test_messages_are_understood() -> None:
    call = {"toolCallId": "1", "toolName": "add", "args": {}, "state": "result", "result": 1}
    part = {"type": "tool-invocation", "toolInvocation": call}
    message = {"role": "assistant", "content": {"format": 2, "parts": [part]}}
    assert run([message], expected_tool="add").score == 1.0


@pytest.mark.parametrize("nothing", [None, [], {}])
def test_no_output_is_not_scorable(nothing: Any) -> None:
    result = run(nothing, expected_tool="a")
    assert (result.score, result.not_scorable["reason"]) == (None, "the run has no output")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"expected_tool": ""},
        {"expected_tool_order": []},
        {"expected_tool": 3},
        {"expected_tool": "re:("},
    ],
)
def test_an_expectation_of_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        create_tool_call_accuracy_scorer_code(**options)


@pytest.mark.parametrize(
    ("expectation", "value"),
    [
        ({"steps": [{"name": "a"}]}, 1.0),
        ({"steps": [{"name": "a"}, {"name": "x", "stepType": "agent_run"}]}, 1.0),
        ({"steps": [{"name": "b"}, {"name": "a"}]}, 0.0),
        ({"steps": [{"name": "b"}, {"name": "a"}], "ordering": "unordered"}, 1.0),
        ({"steps": [{"name": "x", "stepType": "agent_run"}]}, None),
        ({"maxSteps": 3}, None),
    ],
)
def test_as_a_scorer_of_trajectories(expectation: dict[str, Any], value: float | None) -> None:
    asked = TrajectoryExpectation.model_validate(expectation)
    score = SCORER.score(trajectory(tool("a"), tool("b")), asked)
    assert score.value == value
    assert SCORER.applies(asked) == (value is not None)
    assert len(score.findings) == (value == 0.0)
    assert SCORER.score(trajectory(), asked).value is None
