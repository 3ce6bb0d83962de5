from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.trajectories import agent, tool, trajectory
from trajscope.errors import UsageError
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Severity, Verdict
from trajscope.scope import locate_tools
from trajscope.scorers.tool_failures import SCORER, analyze_tool_failures


def call(text: str) -> Any:
    """`a1-`: a failed call of a with argument 1; `+` worked, `?` unknown, `a-` no argument."""
    outcome = {"-": False, "+": True, "?": None}[text[-1]]
    args = {} if len(text) == 2 else {"tool_args": {"n": int(text[1])}}
    return tool(text[0], ok=outcome, **args)


def patterns(*calls: str) -> list[tuple[str, str, int, bool | None]]:
    result = analyze_tool_failures(trajectory(*map(call, calls)))
    return [(p.type, p.tool_name, p.failures, p.recovered) for p in result.patterns]


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        (["a1+"], []),
        (["a1-"], [("failure", "a", 1, False)]),
        (["a1-", "a1+"], [("retry", "a", 1, True)]),
        (["a1-", "a1-", "a1+"], [("retry", "a", 2, True)]),
        (["a1-", "a2+"], [("arg_correction", "a", 1, True)]),
        (["a1-", "b1+"], [("fallback", "a", 1, True)]),
        (["a1-", "b1+", "a1+"], [("retry", "a", 1, True)]),
        (["a1-", "a1-"], [("retry", "a", 1, False), ("failure", "a", 1, False)]),
        (["a1-", "a1-", "b1+"], [("retry", "a", 1, True), ("fallback", "a", 1, True)]),
        (["a1-", "a1-", "a2+"], [("retry", "a", 1, True), ("arg_correction", "a", 1, True)]),
        (["a1-", "b1-"], [("fallback", "a", 1, False), ("failure", "b", 1, False)]),
        (["a1-", "b1?"], [("fallback", "a", 1, None)]),
        (["a-", "a+"], [("retry", "a", 1, True)]),
        (["a1?", "b1+"], []),
    ],
)
def test_each_failure_is_answered_by_what_followed(calls: list[str], found: list[Any]) -> None:
    assert patterns(*calls) == found


def test_the_reference_fields_of_a_chain() -> None:
    result = analyze_tool_failures(trajectory(*map(call, ["a1-", "a1-", "b1+"])))
    retry, fallback = result.patterns
    for pattern in (retry, fallback):
        assert pattern.fell_back_to_alternative
        assert (pattern.alternative_tool, pattern.eventually_succeeded) == ("b", False)
    assert (retry.retry_count, fallback.retry_count, result.total_retries) == (1, 0, 1)


@pytest.mark.parametrize(
    ("calls", "score"),
    [
        (["a1+", "b1+"], 1),
        (["a1-", "a1+"], 1),
        (["a1-"], 0),
        (["a1-", "b1-", "c1-"], 0),
        (["a1+", "b1-"], 0.5),
        (["a1-", "b1+"], 0.75),
        (["a1-", "a1-", "a1-", "a1-", "a1+"], 0.6),
        (["a1?"], None),
        (["a1-", "b1?"], None),
        ([], None),
    ],
)
def test_scores(calls: list[str], score: float | None) -> None:
    found = analyze_tool_failures(trajectory(*map(call, calls))).score
    assert found == (None if score is None else pytest.approx(score))


def test_an_unknown_recovery_gives_bounds() -> None:
    result = analyze_tool_failures(trajectory(*map(call, ["a1-", "a1?", "b1+"])))
    assert (result.score, result.score_low, result.score_high) == (None, 0.5, 1)
    assert result.unknown_recoveries == 1


def test_a_failure_is_answered_within_its_agent_run() -> None:
    took = trajectory(agent("one", call("a1-")), agent("two", call("a1+")))
    (pattern,) = analyze_tool_failures(took).patterns
    assert (pattern.type, pattern.agent) == ("failure", "one")


def test_a_parallel_call_is_no_answer() -> None:
    one = tool("a", ok=False, tool_args={"n": 1}, start_ns=0, end_ns=10)
    parallel = tool("a", tool_args={"n": 2}, start_ns=5, end_ns=6)
    later = tool("a", tool_args={"n": 2}, start_ns=10, end_ns=12)
    assert analyze_tool_failures(trajectory(one, parallel)).patterns[0].type == "failure"
    answered = analyze_tool_failures(trajectory(one, parallel, later)).patterns[0]
    assert answered.type == "arg_correction"


def test_retries_are_limited_per_tool_however_they_are_spread() -> None:
    spread = ["a1-", "a1+", "b1+", "a2-", "a2+", "c1+", "a3-", "a3+"]
    result = analyze_tool_failures(trajectory(*map(call, spread)), max_retries_per_tool=2)
    assert result.excessive_retry_tools == ("a",)
    assert result.tools["a"].retries == 3
    assert result.score == pytest.approx(0.8)


def test_one_tool_under_two_spellings_is_one_tool() -> None:
    first = {"stepType": "tool_call", "name": "mcp__x__a", "toolArgs": {}, "success": False}
    second = {"stepType": "mcp_tool_call", "name": "a", "mcpServer": "x", "toolArgs": {}}
    result = analyze_tool_failures({"steps": [first, {**second, "success": True}]})
    assert [pattern.type for pattern in result.patterns] == ["retry"]
    assert list(result.tools) == ["mcp__x__a"]


def test_unknown_arguments_after_a_failure_count_as_a_retry_and_are_marked() -> None:
    (pattern,) = analyze_tool_failures(trajectory(call("a1-"), call("a+"))).patterns
    assert (pattern.type, pattern.args_known) == ("retry", False)


def test_findings_grade_what_happened() -> None:
    took = trajectory(*map(call, ["a1-", "a1+", "b1-", "c1+", "d1-"]))
    findings = SCORER.score(took, TrajectoryExpectation(max_retries_per_tool=0)).findings
    assert [(f.severity, f.verdict) for f in findings] == [
        (Severity.INFO, Verdict.SATISFIED),
        (Severity.WARNING, Verdict.SATISFIED),
        (Severity.ERROR, Verdict.VIOLATED),
        (Severity.ERROR, Verdict.VIOLATED),
    ]


@pytest.mark.parametrize("limit", [-1, float("nan"), "2"])
def test_a_limit_is_a_number_of_at_least_0(limit: Any) -> None:
    with pytest.raises(UsageError):
        analyze_tool_failures(trajectory(), max_retries_per_tool=limit)


MANY = 10_000


@pytest.mark.parametrize(
    ("calls", "fallbacks", "retries"),
    [
        ([tool(f"t{n}", ok=False, tool_args={}) for n in range(MANY)], MANY - 1, 0),
        ([tool("a", ok=False, start_ns=n, end_ns=MANY) for n in range(MANY)], 0, 0),
        ([tool("a", ok=False, tool_args={"n": n // 2}) for n in range(MANY)], 0, MANY // 2),
    ],
    ids=["each of another tool", "side by side", "retried and corrected in turn"],
)
def test_ten_thousand_failures_are_answered_in_time(
    calls: list[Any], fallbacks: int, retries: int
) -> None:
    result = analyze_tool_failures(trajectory(*calls))
    assert (result.total_fallbacks, result.total_retries) == (fallbacks, retries)
    assert (result.unrecovered, result.score) == (MANY, 0)


_TIMES = st.none() | st.integers(0, 6)
_CALLS = st.tuples(st.sampled_from("ab"), st.sampled_from([True, False, None]), _TIMES, _TIMES)


@given(st.lists(_CALLS, max_size=8))
def test_the_first_call_that_did_not_start_before_the_end_answers(drawn: list[Any]) -> None:
    took = trajectory(
        *(
            tool(name, ok=ok, start_ns=start, end_ns=end, span_id=str(n))
            for n, (name, ok, start, end) in enumerate(drawn)
        )
    )
    calls: list[Any] = [place.step for place in locate_tools(took)]

    def answers(call: Any, later: Any) -> bool:
        return call.end_ns is None or later.start_ns is None or later.start_ns >= call.end_ns

    said: dict[Any, Any] = {}
    for n, call in enumerate(calls):
        if call.success is False:
            after = [later for later in calls[n + 1 :] if answers(call, later)]
            same = [later for later in after if later.name == call.name]
            said[call.span_id] = next(iter(same + after), None)
    result = analyze_tool_failures(took)
    for pattern in result.patterns:
        *failed, last = pattern.span_ids if pattern.type != "failure" else (*pattern.span_ids, None)
        for span, answer in zip(failed, [*failed[1:], last], strict=True):
            assert (said[span] and said[span].span_id) == answer
    assert sum(pattern.failures for pattern in result.patterns) == len(said)
