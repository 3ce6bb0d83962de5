"""Cases after public bug reports: traces on which other scorers gave a wrong number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.support.trajectories import recorded
from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation
from trajscope.model.score import Verdict
from trajscope.model.trajectory import Trajectory
from trajscope.scope import merge_session, select_steps
from trajscope.scorers.blacklist import check_trajectory_blacklist
from trajscope.scorers.comparison import compare_trajectories
from trajscope.scorers.efficiency import SCORER as EFFICIENCY
from trajscope.scorers.efficiency import check_trajectory_efficiency
from trajscope.scorers.tool_failures import analyze_tool_failures
from trajscope.scorers.trajectory import SCORER as UNIFIED

CASES = Path(__file__).parent / "cases"
QUOTE = [
    {"name": "get_quote", "stepType": "tool_call"},
    {"name": "send_quote", "stepType": "tool_call"},
]


def only(name: str) -> Trajectory:
    (trajectory,) = recorded(CASES / name).values()
    return trajectory


def steps(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "stepType": "tool_call"} for name in names]


class TestRetriedCall:
    """A call fails twice and then works: two retries, recovered, and nothing extra matched."""

    def test_repeats_match_once_and_are_extra(self) -> None:
        result = compare_trajectories(only("retries.json"), QUOTE)
        assert (result.score, result.matched_steps) == (1, 2)
        assert result.missing_steps == ()
        assert result.extra_steps == ("get_quote", "get_quote")

    def test_strict_minds_the_repeats_and_stays_in_range(self) -> None:
        score = compare_trajectories(only("retries.json"), QUOTE, ordering="strict").score
        assert score == 0.5

    def test_three_attempts_are_two_retries(self) -> None:
        result = analyze_tool_failures(only("retries.json"), max_retries_per_tool=2)
        (pattern,) = result.patterns
        assert (pattern.type, pattern.retry_count, pattern.recovered) == ("retry", 2, True)
        assert pattern.span_ids == ("9f03cd5e440da876", "b1c481d22be947b4", "93aa7ac841a86005")
        assert pattern.messages == ("HTTP 503", "HTTP 503")
        assert result.excessive_retry_tools == ()
        assert result.total_fallbacks == result.total_arg_corrections == result.unrecovered == 0
        assert result.score == 1

    def test_a_limit_of_one_is_exceeded(self) -> None:
        result = analyze_tool_failures(only("retries.json"), max_retries_per_tool=1)
        assert result.excessive_retry_tools == ("get_quote",)
        assert result.score == 0.8

    def test_a_retry_is_not_redundant(self) -> None:
        assert check_trajectory_efficiency(only("retries.json")).redundant_calls == ()


class TestArgumentEncodings:
    """Seven spellings of the same arguments are equal; three others differ, each in its way."""

    args: ClassVar = {"title": "Café sync", "attendees": 2, "remote": False}

    def outcomes(self) -> list[tuple[float | None, tuple[str, ...]]]:
        expected = ExpectedStep(name="create_event", tool_args=self.args)
        found = []
        for step in select_steps(only("ten-calls.json"), "tools"):
            result = compare_trajectories(Trajectory(steps=(step,)), [expected])
            found.append((result.score, result.alignment[0].reasons))
        return found

    def test_seven_are_equal(self) -> None:
        assert [score for score, _ in self.outcomes()] == [1] * 7 + [0] * 3

    def test_each_mismatch_says_where(self) -> None:
        places = [reasons[0].split(":")[0] for _, reasons in self.outcomes()[7:]]
        assert places == ["tool_args.remote", "tool_args.attendees", "tool_args.title"]

    def test_seven_are_one_group_of_repeats(self) -> None:
        calls = check_trajectory_efficiency(only("ten-calls.json")).redundant_calls
        assert [call.index for call in calls] == [1, 2, 3, 4, 5, 6]


REPEATS = "repeats.json"
S1, S2, S3, S4, S5 = (
    "d780eb9708e63dbc4719bfb3dc43ef3b",
    "6c118f6ceabb811e0126574f0dda5bb3",
    "c1791505a627ece35db5b1e4f4a6dec8",
    "86bc15abf1ed8a57a734168e43daf96e",
    "9ca18d74df301a7f2ed796abef1a1728",
)


@pytest.mark.parametrize(
    ("trace", "expected", "strict", "relaxed", "unordered"),
    [
        (S1, ("search", "search"), 1, 1, 1),
        (S2, ("search", "search"), 0.5, 0.5, 0.5),
        (S3, ("search", "book"), 0.75, 1, 1),
        (S4, ("search", "book"), 0.5, 0.5, 1),
        (S5, ("a_tool",), 0, 1, 1),
    ],
)
def test_repeats_extras_and_order(
    trace: str, expected: tuple[str, ...], strict: float, relaxed: float, unordered: float
) -> None:
    trajectory = recorded(CASES / REPEATS)[trace]
    scores = [
        compare_trajectories(trajectory, steps(*expected), ordering=o).score
        for o in ("strict", "relaxed", "unordered")
    ]
    assert scores == [strict, relaxed, unordered]


def test_extra_calls_are_named() -> None:
    found = recorded(CASES / REPEATS)
    assert compare_trajectories(found[S5], steps("a_tool")).extra_steps == ("b_tool", "c_tool")
    assert compare_trajectories(found[S3], steps("search", "book")).extra_steps == ("search",)


def test_another_order_is_neither_missing_nor_extra() -> None:
    trajectory = recorded(CASES / REPEATS)[S4]
    relaxed = compare_trajectories(trajectory, steps("search", "book"))
    assert relaxed.out_of_order_steps
    assert relaxed.missing_steps == relaxed.extra_steps == ()
    unordered = compare_trajectories(trajectory, steps("search", "book"), ordering="unordered")
    assert unordered.matched_steps == 2
    assert unordered.missing_steps == unordered.extra_steps == unordered.out_of_order_steps == ()


def test_repeats_cost_only_where_they_are_forbidden() -> None:
    trajectory = recorded(CASES / REPEATS)[S3]
    allowed, forbidden = (
        compare_trajectories(trajectory, steps("search", "book"), allow_repeated_steps=a)
        for a in (True, False)
    )
    assert (allowed.score, forbidden.score) == (1, 0.9)
    assert forbidden.repeated_steps == ("search",)
    expected = recorded(CASES / REPEATS)[S1]
    wanted = compare_trajectories(expected, steps("search", "search"), allow_repeated_steps=False)
    assert (wanted.score, wanted.repeated_steps) == (1, ())


class TestTokenCountsWrittenAsNull:
    """Counts that were not recorded decide nothing; those that were are a lower bound."""

    unknown, partly = "58ae29571e847b86d8047f3917278aec", "1ee8359545a428ea7f87c65d91e6f78e"

    @pytest.mark.parametrize(("trace", "total"), [(unknown, None), (partly, 300)])
    def test_a_budget_above_what_is_known_is_not_evaluable(
        self, trace: str, total: int | None
    ) -> None:
        trajectory = recorded(CASES / "streamed.json")[trace]
        result = check_trajectory_efficiency(trajectory, max_total_tokens=500)
        assert (result.score, result.over_token_budget) == (None, None)
        assert (result.total_tokens, result.tokens_complete) == (total, False)
        score = EFFICIENCY.score(trajectory, TrajectoryExpectation(max_total_tokens=500))
        assert score.value is None
        assert [finding.verdict for finding in score.findings] == [Verdict.UNKNOWN]
        json.dumps(score.model_dump(mode="json"), allow_nan=False)

    def test_a_lower_bound_above_the_budget_exceeds_it(self) -> None:
        trajectory = recorded(CASES / "streamed.json")[self.partly]
        result = check_trajectory_efficiency(trajectory, max_total_tokens=200)
        assert (result.score, result.over_token_budget) == (0.5, True)

    def test_the_unified_score_is_not_raised_by_it(self) -> None:
        trajectory = recorded(CASES / "streamed.json")[self.unknown]
        with_budget = TrajectoryExpectation(
            steps=(ExpectedStep(name="nothing"), ExpectedStep(name="list_names")),
            max_total_tokens=500,
        )
        score = UNIFIED.score(trajectory, with_budget)
        assert score.value == 0.5
        assert "efficiency not evaluable" in score.reason


class TestMcpNames:
    """One tool under four spellings; a tool whose name only starts alike is another."""

    spellings = (
        "4fcf18c0714b213b995bc25a7273ec4b",
        "446b0cad3c164b16dd395d08aa5036fd",
        "7c466c6918079db5db7005d9b7abc793",
        "71f1597ac8b5e9c4ba2c64d5c6b7d51b",
    )
    other = "89eb9ee97c2779f921cd9e73bd470bfc"
    deleting, leaking = "f38c815e6c026c9ff29022d1863f89a8", "6ca07b2bba4f55a22de8fd85fff77f36"
    rules: ClassVar[dict[str, Any]] = {
        "blacklisted_tools": ["delete_repo"],
        "blacklisted_sequences": [["read_secrets", "http_post"]],
    }

    @pytest.mark.parametrize("trace", spellings)
    @pytest.mark.parametrize("name", ["create_issue", "mcp__github__create_issue", "github.*"])
    def test_every_spelling_matches(self, trace: str, name: str) -> None:
        trajectory = recorded(CASES / "mcp-names.json")[trace]
        assert compare_trajectories(trajectory, [{"name": name}]).score == 1

    def test_a_longer_name_does_not(self) -> None:
        trajectory = recorded(CASES / "mcp-names.json")[self.other]
        assert compare_trajectories(trajectory, [{"name": "create_issue"}]).score == 0

    def test_the_raw_name_is_reported(self) -> None:
        trajectory = recorded(CASES / "mcp-names.json")[self.deleting]
        result = check_trajectory_blacklist(trajectory, **self.rules)
        assert (result.score, result.violated_tools) == (0, ("delete_repo",))
        assert result.hits[0].names == ("mcp__github__delete_repo",)
        assert result.hits[0].span_ids == ("a6a8e65a24680b9f",)

    def test_a_sequence_is_found_behind_prefixes(self) -> None:
        trajectory = recorded(CASES / "mcp-names.json")[self.leaking]
        result = check_trajectory_blacklist(trajectory, **self.rules)
        assert result.violated_sequences == (("read_secrets", "http_post"),)
        assert result.hits[0].span_ids == ("d056a4695d9a1711", "9b614ab80e5deb4d")

    def test_a_server_is_forbidden_as_a_whole(self) -> None:
        found = recorded(CASES / "mcp-names.json")
        hit = [
            trace
            for trace, trajectory in found.items()
            if check_trajectory_blacklist(trajectory, blacklisted_tools=["mcp__github"]).hits
        ]
        assert set(hit) == {*self.spellings, self.other, self.deleting}

    @pytest.mark.parametrize("trace", [*spellings, other])
    def test_the_others_violate_nothing(self, trace: str) -> None:
        trajectory = recorded(CASES / "mcp-names.json")[trace]
        assert check_trajectory_blacklist(trajectory, **self.rules).score == 1


def test_a_session_is_compared_as_a_whole() -> None:
    found = recorded(CASES / "turns.json").values()
    turns = [t for t in found if t.session_id == "chat-7781"]
    assert len(turns) == 3
    whole = merge_session(turns)
    names = ("find_hotel", "hold_room", "confirm_booking", "send_receipt")
    assert compare_trajectories(whole, steps(*names), ordering="strict").score == 1
    assert whole.tokens is not None
    assert (whole.tokens.total, whole.tokens.complete) == (500, True)
