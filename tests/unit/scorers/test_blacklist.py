from __future__ import annotations

from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.errors import UsageError
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Verdict
from trajscope.scorers.blacklist import SCORER, check_trajectory_blacklist

DEEP = trajectory(agent("boss", model(tool("read")), agent("helper", tool("send"))))


@pytest.mark.parametrize(
    ("pattern", "hit"),
    [
        ("read", True),
        ("re", False),
        ("re*", True),
        ("re:re.d", True),
        ("re:re", False),
        ("READ", False),
    ],
)
def test_names_globs_and_expressions(pattern: str, hit: bool) -> None:
    result = check_trajectory_blacklist(DEEP, blacklisted_tools=[pattern])
    assert result.score == (0 if hit else 1)


@pytest.mark.parametrize("pattern", ["re:(", "re:[", "re:*"])
def test_a_malformed_expression_names_its_place(pattern: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_trajectory_blacklist(DEEP, blacklisted_tools=["a", pattern])
    assert caught.value.at is not None
    assert caught.value.at.key == "blacklistedTools[1]"
    assert caught.value.hint


def test_an_agent_may_be_forbidden_by_name() -> None:
    assert check_trajectory_blacklist(DEEP, blacklisted_tools=["helper"]).score == 0
    assert check_trajectory_blacklist(DEEP, blacklisted_tools=["helper"], scope="tools").score == 1


def test_a_sequence_is_contiguous_among_tools_across_agents() -> None:
    assert check_trajectory_blacklist(DEEP, blacklisted_sequences=[["read", "send"]]).score == 0
    between = trajectory(tool("read"), tool("x"), tool("send"))
    assert check_trajectory_blacklist(between, blacklisted_sequences=[["read", "send"]]).score == 1


def test_calls_of_a_parallel_agent_hide_no_sequence() -> None:
    took = trajectory(
        agent("one", tool("read", order=0), tool("send", order=2)),
        agent("two", tool("x", order=1)),
    )
    result = check_trajectory_blacklist(took, blacklisted_sequences=[["read", "send"]])
    assert (result.score, result.hits[0].agent) == (0, "one")


def test_the_order_is_by_time_not_by_nesting() -> None:
    took = trajectory(agent("one", tool("send", order=1)), tool("read", order=0))
    rule = [["read", "send"]]
    assert check_trajectory_blacklist(took, blacklisted_sequences=rule).score == 0
    assert check_trajectory_blacklist(took, blacklisted_sequences=[rule[0][::-1]]).score == 1


def test_a_call_that_never_ran_neither_hides_a_sequence_nor_is_left_out() -> None:
    asked = tool("x", ok=None, executed=False)
    took = trajectory(tool("read"), asked, tool("send"))
    found = check_trajectory_blacklist(
        took, blacklisted_tools=["x"], blacklisted_sequences=[["read", "send"], ["read", "x"]]
    )
    assert [(hit.rule, hit.requested) for hit in found.hits] == [
        (("x",), True),
        (("read", "send"), False),
        (("read", "x"), True),
    ]


def test_each_rule_is_reported_once_and_each_occurrence_shown() -> None:
    took = trajectory(*(tool(n) for n in "abab"))
    result = check_trajectory_blacklist(
        took, blacklisted_tools=["a", "a"], blacklisted_sequences=[["a", "b"]]
    )
    assert (result.violated_tools, result.violated_sequences) == (("a",), (("a", "b"),))
    assert len(result.hits) == 4


def test_overlapping_occurrences_are_all_found() -> None:
    took = trajectory(*(tool("a") for _ in range(4)))
    assert len(check_trajectory_blacklist(took, blacklisted_sequences=[["a", "a"]]).hits) == 3


def test_a_trajectory_without_steps_is_not_evaluable() -> None:
    result = check_trajectory_blacklist(trajectory(), blacklisted_tools=["a"])
    assert (result.score, result.reason) == (None, "the trajectory has no steps")


def test_many_occurrences_are_counted_and_not_all_kept() -> None:
    took = trajectory(*(tool("a") for _ in range(1_500)))
    result = check_trajectory_blacklist(took, blacklisted_tools=["a"])
    assert (len(result.hits), result.hits_not_shown) == (1_000, 500)


def test_findings_carry_the_witness_spans() -> None:
    took = trajectory(tool("read", span_id="1"), tool("send", span_id="2"), trace_id="t")
    rules = TrajectoryExpectation(blacklisted_sequences=(("read", "send"),))
    (finding,) = SCORER.score(took, rules).findings
    assert (finding.span_ids, finding.trace_id) == (("1", "2"), "t")
    assert finding.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "options",
    [
        {"blacklisted_tools": "a"},
        {"blacklisted_tools": [1]},
        {"blacklisted_tools": [""]},
        {"blacklisted_sequences": [[]]},
        {"blacklisted_sequences": ["ab"]},
    ],
)
def test_malformed_lists_are_refused(options: Any) -> None:
    with pytest.raises(UsageError):
        check_trajectory_blacklist(DEEP, **options)
