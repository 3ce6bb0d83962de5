from __future__ import annotations

from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.errors import UsageError
from trajscope.model.trajectory import Trajectory
from trajscope.scorers.comparison import compare_trajectories


def names(*given: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in given]


def test_a_first_fit_that_another_step_needs_is_given_up() -> None:
    took = trajectory(tool("a", tool_args={"q": 1}), tool("b"))
    expected = [{"name": "*"}, {"name": "a"}]
    assert compare_trajectories(took, expected, ordering="unordered").matched_steps == 2
    assert (
        compare_trajectories(took, expected, ordering="unordered", compat="mastra")["score"] == 0.5
    )


def test_relaxed_is_the_longest_common_subsequence_not_the_first_fit() -> None:
    took = trajectory(*(tool(n) for n in "bcda"))
    result = compare_trajectories(took, names(*"abcd"))
    assert (result.score, result.out_of_order_steps) == (0.75, ("a",))
    assert compare_trajectories(took, names(*"abcd"), compat="mastra")["score"] == 0.25


def test_a_mismatch_says_which_argument() -> None:
    took = trajectory(tool("search", tool_args={"q": "x", "n": 1, "deep": {"a": [1, 2]}}))
    wanted = {"name": "search", "toolArgs": {"q": "y", "n": 1, "deep": {"a": [1, 3]}}}
    (line,) = compare_trajectories(took, [wanted]).alignment
    assert line.status == "mismatched"
    assert sorted(line.reasons) == [
        "tool_args.deep.a[1]: is 2; 3 was expected",
        "tool_args.q: is 'x'; 'y' was expected",
    ]


def test_a_mismatched_step_is_missing_and_extra_too() -> None:
    took = trajectory(tool("search", tool_args={"q": "x"}))
    result = compare_trajectories(took, [{"name": "search", "toolArgs": {"q": "y"}}])
    assert result.mismatched_steps == result.missing_steps == result.extra_steps == ("search",)


@pytest.mark.parametrize(
    ("mode", "wanted", "score"),
    [
        ("exact", {"q": 1}, 0),
        ("exact", {"n": [2], "q": 1.0}, 1),
        ("subset", {"q": 1}, 1),
        ("subset", {"q": 1, "z": 0}, 0),
        ("superset", {"q": 1, "n": [2], "z": 0}, 1),
        ("superset", {"q": 1}, 0),
        ("ignore", {"z": 9}, 1),
    ],
)
def test_argument_modes(mode: Any, wanted: Any, score: float) -> None:
    took = trajectory(tool("a", tool_args={"q": 1, "n": [2]}))
    expected = [{"name": "a", "toolArgs": wanted}]
    assert compare_trajectories(took, expected, args_mode=mode).score == score
    own = [{"name": "a", "toolArgs": wanted, "argsMode": mode}]
    assert compare_trajectories(took, own).score == score


@pytest.mark.parametrize(
    ("matchers", "score"),
    [
        ({"city": {"regex": "Par.*"}, "n": {"any": True}}, 1),
        ({"city": {"regex": "Par"}, "n": {"any": True}}, 0),
        ({"city": {"any": True}, "n": {"tolerance": 0.5}}, 1),
        ({"city": {"any": True}, "n": {"tolerance": 0.1}}, 0),
        ({"city": {"any": True}, "n": {"any": True}, "gone": {"any": True}}, 0),
    ],
)
def test_comparators_per_argument_override_the_mode(matchers: Any, score: float) -> None:
    took = trajectory(tool("a", tool_args={"city": "Paris", "n": 3.3}))
    wanted = {"name": "a", "toolArgs": {"city": "Rome", "n": 3}, "argsMatch": matchers}
    assert compare_trajectories(took, [wanted]).score == score


def test_a_comparator_reaches_into_nested_objects() -> None:
    took = trajectory(tool("a", tool_args={"where": {"city": "Paris", "id": "x1"}}))
    wanted = {
        "name": "a",
        "toolArgs": {"where": {"city": "Paris", "id": "?"}},
        "argsMatch": {"where.id": {"regex": "x\\d"}},
    }
    assert compare_trajectories(took, [wanted]).score == 1


def test_comparators_alone_leave_other_arguments_free() -> None:
    took = trajectory(tool("a", tool_args={"city": "Paris", "n": 3}))
    wanted = [{"name": "a", "argsMatch": {"city": {"regex": "P.*"}}}]
    assert compare_trajectories(took, wanted).score == 1


def test_unknown_data_make_an_interval_and_no_score() -> None:
    took = trajectory(tool("a"), tool("b"))
    result = compare_trajectories(took, [{"name": "a", "toolArgs": {"q": 1}}, {"name": "b"}])
    assert (result.score, result.score_low, result.score_high) == (None, 0.5, 1)
    assert result.unknown_steps == ("a",)


@pytest.mark.parametrize("ordering", ["strict", "relaxed", "unordered"])
def test_a_certain_match_goes_before_an_unknown_one(ordering: Any) -> None:
    took = trajectory(tool("a"), tool("a", tool_args={"q": 1}))
    wanted = [{"name": "a", "toolArgs": {"q": 1}}]
    result = compare_trajectories(took, wanted, ordering=ordering)
    assert (result.matched_steps, result.alignment[0].actual_index) == (1, 1)
    last = compare_trajectories(trajectory(*took.steps[::-1]), wanted, ordering=ordering)
    assert (last.matched_steps, last.alignment[0].actual_index) == (1, 0)


def test_unknown_data_do_not_matter_where_something_known_decides() -> None:
    took = trajectory(tool("a", ok=False))
    wanted = {"name": "a", "success": True, "toolArgs": {"q": 1}}
    result = compare_trajectories(took, [wanted])
    assert (result.score, result.mismatched_steps) == (0, ("a",))


def test_data_without_a_type_are_compared() -> None:
    took = trajectory(model(model_id="small"))
    assert (
        compare_trajectories(took, [{"name": "model", "modelId": "big"}], scope="tree").score == 0
    )
    assert (
        compare_trajectories(took, [{"name": "model", "modelId": "small"}], scope="tree").score == 1
    )


def test_tool_call_stands_for_every_kind_of_tool() -> None:
    took = {"steps": [{"stepType": "mcp_tool_call", "name": "a"}]}
    assert compare_trajectories(took, [{"name": "a", "stepType": "TOOL_CALL"}]).score == 1
    assert compare_trajectories(took, [{"name": "a", "stepType": "provider_tool_call"}]).score == 0


def test_auto_looks_at_tools_unless_another_step_is_expected() -> None:
    took = trajectory(agent("boss", model(tool("a"))))
    assert compare_trajectories(took, names("a"), ordering="strict").score == 1
    result = compare_trajectories(took, [{"name": "boss", "stepType": "agent_run"}])
    assert (result.score, result.scope) == (1, "tree")


def test_a_name_that_only_another_kind_of_step_has_is_hinted_at() -> None:
    result = compare_trajectories(trajectory(agent("boss")), names("boss"))
    assert result.score == 0
    assert "agent_run" in result.alignment[0].reasons[0]


def test_the_scope_top_is_the_references() -> None:
    took = trajectory(model(tool("a")), tool("b"))
    result = compare_trajectories(took, names("a", "b"), scope="top")
    assert (result.score, result.total_actual_steps) == (0.5, 2)


def test_in_scope_agent_one_run_must_fit() -> None:
    took = trajectory(agent("one", tool("a")), agent("two", tool("a"), tool("b")))
    result = compare_trajectories(took, names("a", "b"), scope="agent", ordering="strict")
    assert (result.score, result.agent) == (1, "two")


@pytest.mark.parametrize(("steps", "score"), [((), 1), ((tool("a"),), 0)])
def test_expecting_no_step(steps: Any, score: float) -> None:
    assert compare_trajectories(trajectory(*steps), []).score == score


@pytest.mark.parametrize(
    ("options", "key", "hint"),
    [
        ({"ordering": "Strict"}, "ordering", "did you mean strict?"),
        ({"allow_repeated_steps": 1}, "allow_repeated_steps", None),
        ({"scope": "tree_"}, "scope", "did you mean tree?"),
        ({"args_mode": "all"}, "args_mode", None),
        ({"compat": "mastro"}, None, 'choose None (the default) or "mastra"'),
    ],
)
def test_unknown_options_are_refused(options: Any, key: str | None, hint: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        compare_trajectories(trajectory(tool("a")), names("a"), **options)
    assert (caught.value.at.key if caught.value.at else None) == key
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ({"steps": [{"stepType": "tool_call"}]}, []),
        ({"steps": 3}, []),
        (None, []),
        ("x", []),
        ({}, [{"nam": "a"}]),
        ({}, [{"name": "a", "stepType": "toolcall"}]),
        ({}, [{"name": "a", "stepType": "agent_run", "toolArgs": {}}]),
        ({}, "x"),
        ({}, [3]),
        ({}, {"max_step": 3}),
    ],
)
def test_malformed_values_are_refused(actual: Any, expected: Any) -> None:
    with pytest.raises(UsageError):
        compare_trajectories(actual, expected)


def test_a_recorded_trajectory_as_expectation_compares_what_was_done_not_what_came_out() -> None:
    golden = trajectory(model(tool("a", tool_args={"q": 1}, tool_result="x"), prompt_tokens=3))
    again = trajectory(model(tool("a", tool_args={"q": 1}, tool_result="y"), prompt_tokens=9))
    other = trajectory(model(tool("a", tool_args={"q": 2}, tool_result="x"), prompt_tokens=3))
    assert compare_trajectories(again, golden).score == 1
    assert compare_trajectories(other, golden).score == 0.5


def test_ten_thousand_steps_compare_with_themselves() -> None:
    long = Trajectory.model_construct(
        steps=tuple(tool("a", tool_args={"n": n % 7}) for n in range(10_000))
    )
    for ordering in ("strict", "relaxed", "unordered"):
        assert compare_trajectories(long, long, ordering=ordering).score == 1


def test_a_chain_of_a_twenty_thousand_steps_is_compared() -> None:
    step = tool("last")
    for _ in range(20_000):
        step = tool("a").model_copy(update={"children": (step,)})
    deep = Trajectory.model_construct(steps=(step,))
    assert compare_trajectories(deep, names("a", "last")).score == 1


def test_many_extra_steps_are_counted_and_not_all_kept() -> None:
    took = trajectory(*(tool("a") for _ in range(1_500)))
    result = compare_trajectories(took, names("a"))
    assert (len(result.alignment), result.alignment_not_shown) == (1_001, 499)
    assert len(result.extra_steps) == 1_499
