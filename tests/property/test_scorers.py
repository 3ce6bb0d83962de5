"""Laws of the scorers: what holds for every trajectory and every expectation."""

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.support import trajectories as some
from trajscope.errors import UsageError
from trajscope.evals.expectations import pattern_paths
from trajscope.match import json_key, match_step
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.ports import Scorer
from trajscope.registry import discover
from trajscope.scope import select_steps
from trajscope.scorers.blacklist import check_trajectory_blacklist
from trajscope.scorers.comparison import compare_trajectories
from trajscope.scorers.efficiency import check_trajectory_efficiency
from trajscope.scorers.tool_failures import analyze_tool_failures
from trajscope.values import equal_json

SCORERS = discover("trajscope.scorers", "SCORER", Scorer)  # type: ignore[type-abstract]
ORDERINGS = ("strict", "relaxed", "unordered")


@pytest.mark.parametrize("name", sorted(SCORERS))
@given(trajectory=some.trajectories(), expectation=some.expectations())
def test_a_score_is_finite_in_0_to_1_or_none_with_a_reason(
    name: str, trajectory: Trajectory, expectation: TrajectoryExpectation
) -> None:
    score = SCORERS[name].score(trajectory, expectation)
    assert score.reason
    assert score.value is None or (math.isfinite(score.value) and 0 <= score.value <= 1)
    text = json.dumps(score.model_dump(mode="json", by_alias=True), allow_nan=False)
    assert Score.model_validate(json.loads(text)) == score


@pytest.mark.parametrize("name", sorted(SCORERS))
@given(trajectory=some.trajectories(), expectation=some.expectations())
def test_scoring_twice_gives_the_same(
    name: str, trajectory: Trajectory, expectation: TrajectoryExpectation
) -> None:
    assert SCORERS[name].score(trajectory, expectation) == SCORERS[name].score(
        trajectory, expectation
    )


@given(some.trajectories(), st.lists(some.expected_steps(), max_size=5), st.booleans())
def test_strict_is_within_relaxed_is_within_unordered(
    trajectory: Trajectory, expected: list[Any], repeats: bool
) -> None:
    strict, relaxed, unordered = (
        compare_trajectories(trajectory, expected, ordering=o, allow_repeated_steps=repeats)
        for o in ("strict", "relaxed", "unordered")
    )
    assert strict.score_low <= relaxed.score_low <= unordered.score_low
    assert strict.score_high <= relaxed.score_high <= unordered.score_high
    for result in (strict, relaxed, unordered):
        assert result.score_low <= result.score_high
        agree = result.score_low == result.score_high
        assert result.score == (result.score_low if agree else None)


@pytest.mark.parametrize("ordering", ORDERINGS)
@given(trajectory=some.trajectories())
def test_a_trajectory_is_like_itself(ordering: Any, trajectory: Trajectory) -> None:
    result = compare_trajectories(
        trajectory, trajectory, ordering=ordering, allow_repeated_steps=False, scope="tree"
    )
    assert result.score == 1
    assert not result.missing_steps
    assert not result.extra_steps


@pytest.mark.parametrize("ordering", ORDERINGS)
@given(trajectory=some.trajectories(), expected=st.lists(some.expected_steps(), max_size=5))
def test_every_step_stands_in_the_alignment_once(
    ordering: Any, trajectory: Trajectory, expected: list[Any]
) -> None:
    result = compare_trajectories(trajectory, expected, ordering=ordering)
    lines = result.alignment
    assert sorted(p.expected_index for p in lines if p.expected_index is not None) == list(
        range(len(expected))
    )
    assert sorted(p.actual_index for p in lines if p.actual_index is not None) == list(
        range(result.total_actual_steps)
    )
    shared = result.matched_steps + len(result.unknown_steps) + len(result.out_of_order_steps)
    assert shared + len(result.missing_steps) == result.total_expected_steps
    assert shared + len(result.extra_steps) == result.total_actual_steps


@given(
    st.lists(some.tool_steps(), max_size=5), st.lists(some.expected_steps(), min_size=1, max_size=4)
)
def test_alignments_are_the_best_there_are(steps: list[Any], expected: list[Any]) -> None:
    """Held against every assignment there is, tried one by one."""
    trajectory = some.trajectory(*steps)
    taken = select_steps(trajectory, "tools")
    fits = [[match_step(e, a).holds is True for a in taken] for e in expected]
    places = [*range(len(taken)), *[None] * len(expected)]
    free = ordered = 0
    for chosen in set(permutations(places, len(expected))):
        used = [p for p in chosen if p is not None]
        if all(p is None or fits[i][p] for i, p in enumerate(chosen)):
            free = max(free, len(used))
            ordered = max(ordered, len(used) if used == sorted(used) else 0)
    relaxed = compare_trajectories(trajectory, expected, ordering="relaxed", scope="tools")
    unordered = compare_trajectories(trajectory, expected, ordering="unordered", scope="tools")
    assert relaxed.score_low == pytest.approx(ordered / len(expected))
    assert unordered.score_low == pytest.approx(free / len(expected))


@given(some.trajectories(), st.lists(some.expected_steps(), max_size=5), st.randoms())
def test_unordered_does_not_depend_on_the_order_of_the_expectation(
    trajectory: Trajectory, expected: list[Any], random: Any
) -> None:
    shuffled = expected[:]
    random.shuffle(shuffled)
    one, other = (
        compare_trajectories(trajectory, e, ordering="unordered") for e in (expected, shuffled)
    )
    assert (one.score_low, one.score_high) == (other.score_low, other.score_high)


@given(some.trajectories(), st.lists(some.names, min_size=1, max_size=3))
def test_the_blacklist_finds_a_name_exactly_where_it_is(
    trajectory: Trajectory, forbidden: list[str]
) -> None:
    taken = [step.name for step in trajectory.walk()]
    result = check_trajectory_blacklist(trajectory, blacklisted_tools=forbidden)
    assert set(result.violated_tools) == set(forbidden) & set(taken)
    assert len(result.hits) == sum(name in forbidden for name in taken)
    assert result.score == (None if not taken else float(not result.hits))


@given(some.trajectories(), st.lists(some.names, min_size=1, max_size=3))
def test_a_step_that_is_no_tool_hides_no_sequence(trajectory: Trajectory, rule: list[str]) -> None:
    calls = select_steps(trajectory, "tools")
    apart = [step for call in calls for step in (some.model(prompt_tokens=1), call)]
    found = [
        check_trajectory_blacklist(some.trajectory(*steps), blacklisted_sequences=[rule]).score
        for steps in (calls, apart)
        if steps
    ]
    assert len(set(found)) <= 1


@given(some.trajectories(), st.floats(0, 100), st.floats(0, 100))
def test_a_smaller_budget_is_never_better_kept(
    trajectory: Trajectory, one: float, other: float
) -> None:
    small, large = sorted((one, other))
    for name in ("max_steps", "max_total_tokens", "max_total_duration_ms"):
        tight = check_trajectory_efficiency(trajectory, **{name: small}).score  # type: ignore[call-overload]
        wide = check_trajectory_efficiency(trajectory, **{name: large}).score  # type: ignore[call-overload]
        # A lower bound may prove the small budget exceeded and leave the large one open.
        assert wide is None or (tight is not None and tight <= wide)


@given(st.integers(0, 50), st.floats(0, 100))
def test_a_lower_bound_never_meets_a_token_budget(total: int, budget: float) -> None:
    counts = TokenTotals(input=total, output=0, total=total, complete=False)
    trajectory = some.trajectory(some.tool("a"), tokens=counts)
    result = check_trajectory_efficiency(trajectory, max_total_tokens=budget)
    assert result.over_token_budget is (True if total > budget else None)
    assert (result.score is None) == (total <= budget)


@given(some.trajectories())
@example(some.trajectory(some.tool("a", ok=False), some.tool("b", ok=False)))
def test_failures_are_counted_once_and_cost(trajectory: Trajectory) -> None:
    result = analyze_tool_failures(trajectory)
    judged = [
        step
        for step in trajectory.walk()
        if step.is_tool and (step.executed or step.success is False)  # type: ignore[attr-defined]
    ]
    failed = [step for step in judged if step.success is False]  # type: ignore[attr-defined]
    assert result.calls == len(judged)
    assert result.total_failures == len(failed) == sum(p.failures for p in result.patterns)
    assert sum(t.failed for t in result.tools.values()) == len(failed)
    assert result.total_retries == sum(p.retry_count for p in result.patterns)
    if judged and len(failed) == len(judged):
        assert result.score == 0
    if result.unrecovered:
        assert result.score_high < 1
    if not failed and any(step.success for step in judged):  # type: ignore[attr-defined]
        assert result.score == 1


@given(some.trajectories(), some.expectations())
def test_compat_takes_our_values_and_gives_the_reference_keys(
    trajectory: Trajectory, expectation: TrajectoryExpectation
) -> None:
    assume(expectation.steps is not None)
    compared = compare_trajectories(trajectory, expectation, compat="mastra")
    assert set(compared) == {
        "score", "matchedSteps", "totalExpectedSteps", "totalActualSteps",
        "missingSteps", "extraSteps", "outOfOrderSteps", "repeatedSteps",
    }  # fmt: skip
    assert compared == compare_trajectories(
        trajectory.model_dump(mode="json", by_alias=True),
        expectation.model_dump(mode="json", by_alias=True),
        compat="mastra",
    )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(json_values, json_values)
@example({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0})
@example(True, 1)
@example(10**22, 1e22)
@example([], {})
def test_two_values_have_one_key_exactly_when_they_are_equal(one: Any, other: Any) -> None:
    assert (json_key(one) == json_key(other)) == equal_json(one, other)
    assert json_key(one) == json_key(json.loads(json.dumps(one)))


@given(st.text(max_size=12))
def test_no_name_a_user_writes_makes_anything_but_a_usage_error(name: str) -> None:
    trajectory = some.trajectory(some.tool("a"))
    try:
        result = check_trajectory_blacklist(trajectory, blacklisted_tools=[name])
    except UsageError as error:
        assert error.at is not None
    else:
        assert result.score in (0, 1)


@given(some.expectations())
def test_every_pattern_is_listed(expectation: TrajectoryExpectation) -> None:
    listed = [pattern for _, pattern in pattern_paths(expectation)]
    rules = [name for rule in expectation.blacklisted_sequences or () for name in rule]
    steps = [step.name for step in expectation.steps or ()]
    assert sorted(listed) == sorted([*(expectation.blacklisted_tools or ()), *rules, *steps])
