"""By default, on traces as frameworks recorded them: what the reference's scorers miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.support.trajectories import assembled, recorded_spans
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory
from trajscope.scorers.blacklist import check_trajectory_blacklist
from trajscope.scorers.comparison import compare_trajectories
from trajscope.scorers.efficiency import check_trajectory_efficiency
from trajscope.scorers.tool_failures import analyze_tool_failures
from trajscope.scorers.trajectory import SCORER as UNIFIED

TRACES = Path(__file__).parents[3] / "fixtures" / "traces"


def spans_of(name: str) -> list[Span]:
    return recorded_spans(TRACES / name / "trace.otlp.json")


def trajectory_of(spans: list[Span]) -> Trajectory:
    """Return the one trajectory that has tool calls."""
    found = [t for t in assembled(spans).values() if any(s.is_tool for s in t.walk())]
    (trajectory,) = found
    return trajectory


def without(spans: list[Span], drop: Callable[[Span], bool]) -> list[Span]:
    kept = [span for span in spans if not drop(span)]
    assert len(kept) < len(spans)
    return kept


@pytest.mark.parametrize("name", ["mastra1-nested", "openai_agents_oi-nested"])
def test_a_forbidden_tool_of_a_sub_agent_is_found(name: str) -> None:
    trajectory = trajectory_of(spans_of(name))
    result = check_trajectory_blacklist(trajectory, blacklisted_tools=["get_weather"])
    assert (result.score, result.violated_tools) == (0, ("get_weather",))
    assert len(result.hits) == 2
    assert {hit.agent for hit in result.hits} <= {"weather-agent", "weather_agent"}
    assert len({hit.span_ids for hit in result.hits}) == 2


def test_a_forbidden_tool_under_a_model_generation_is_found_and_the_reference_misses_it() -> None:
    trajectory = trajectory_of(spans_of("mastra1-two"))
    tools = ["convert_temp"]
    assert check_trajectory_blacklist(trajectory, blacklisted_tools=tools).score == 0
    missed = check_trajectory_blacklist(trajectory, blacklisted_tools=tools, compat="mastra")
    assert missed["score"] == 1


@pytest.mark.parametrize("name", ["pydantic_ai_v5-two", "langgraph_tl-two", "mastra1-two"])
def test_a_model_step_between_two_tools_hides_no_sequence(name: str) -> None:
    trajectory = trajectory_of(spans_of(name))
    rule = ["get_weather", "convert_temp"]
    result = check_trajectory_blacklist(trajectory, blacklisted_sequences=[rule])
    assert result.violated_sequences == (tuple(rule),)
    assert len(result.hits[0].span_ids) == 2
    other = check_trajectory_blacklist(trajectory, blacklisted_sequences=[rule[::-1]])
    assert other.score == 1


@pytest.mark.parametrize("name", ["mastra1-two", "pydantic_ai_v5-two", "openai_agents_oi-two"])
def test_an_orphan_changes_no_score(name: str) -> None:
    """The parent of the tool calls was never exported, or was no step to begin with."""
    spans = spans_of(name)
    whole = trajectory_of(spans)
    call = next(s for s in whole.walk() if s.is_tool)
    by_id = {span.span_id: span for span in spans}
    orphaned = [
        msgspec.structs.replace(span, parent_span_id="f" * 16)
        if span.span_id == call.span_id
        else span
        for span in spans
    ]
    assert by_id[str(call.span_id)].parent_span_id is not None
    broken = trajectory_of(orphaned)
    assert broken.orphans == (call.span_id,)
    expectation = TrajectoryExpectation.model_validate(
        {
            "steps": [{"name": "get_weather"}, {"name": "convert_temp"}],
            "ordering": "strict",
            "maxSteps": 20,
            "blacklistedTools": ["delete"],
            "noRedundantCalls": True,
        }
    )
    before, after = (UNIFIED.score(t, expectation).value for t in (whole, broken))
    assert before == after == 1


def test_the_order_of_argument_keys_does_not_matter() -> None:
    trajectory = trajectory_of(spans_of("mastra1-nested"))
    args = {"toolArgs": {"city": "Paris"}, "stepType": "tool_call"}
    expected = [{"name": "get_weather", **args}, {"name": "get_weather", **args}]
    assert compare_trajectories(trajectory, expected, ordering="strict").score == pytest.approx(
        0.75
    )
    assert compare_trajectories(trajectory, expected).score == 1


def test_a_trace_whose_every_tool_call_failed_scores_0() -> None:
    spans = spans_of("mastra1-err")
    whole = trajectory_of(spans)
    worked = next(s.span_id for s in whole.walk() if s.is_tool and s.success)  # type: ignore[attr-defined]
    failed = trajectory_of(without(spans, lambda span: span.span_id == worked))
    result = analyze_tool_failures(failed)
    assert (result.score, result.unrecovered) == (0, 1)
    assert [pattern.type for pattern in result.patterns] == ["failure"]
    assert analyze_tool_failures(failed, compat="mastra")["score"] == 1


@pytest.mark.parametrize("name", ["mastra1-err", "langgraph_oi-err", "pydantic_ai_v5-err"])
def test_other_arguments_after_a_failure_are_a_correction(name: str) -> None:
    result = analyze_tool_failures(trajectory_of(spans_of(name)))
    (pattern,) = result.patterns
    assert (pattern.type, pattern.tool_name, pattern.recovered) == (
        "arg_correction",
        "lookup_order",
        True,
    )
    assert len(pattern.span_ids) == 2
    assert (result.total_retries, result.score) == (0, 1)


def test_a_refused_call_is_a_failure_and_no_step() -> None:
    trajectory = trajectory_of(spans_of("langgraph_oi-unk"))
    result = analyze_tool_failures(trajectory)
    assert [(p.type, p.tool_name) for p in result.patterns] == [("fallback", "no_such_tool")]
    compared = compare_trajectories(trajectory, [{"name": "no_such_tool"}])
    assert (compared.score, compared.requested_only) == (0, ("no_such_tool",))
    assert "never ran" in compared.alignment[0].reasons[0]
    listed = check_trajectory_blacklist(trajectory, blacklisted_tools=["no_such_*"])
    assert (listed.score, listed.hits[0].requested) == (0, True)


def test_a_call_repeated_by_a_sub_agent_is_redundant() -> None:
    trajectory = trajectory_of(spans_of("mastra1-nested"))
    (call,) = check_trajectory_efficiency(trajectory).redundant_calls
    assert (call.name, call.agent) == ("get_weather", "weather-agent")
    assert call.span_id != call.repeats_span_id


def test_step_budgets_count_all_steps_but_noise() -> None:
    trajectory = trajectory_of(spans_of("mastra1-nested"))
    assert check_trajectory_efficiency(trajectory).total_steps == 7
    assert check_trajectory_efficiency(trajectory, scope="tools").total_steps == 3
    assert check_trajectory_efficiency(trajectory, scope="top").total_steps == 1


def test_arguments_that_were_not_recorded_decide_nothing() -> None:
    trajectory = trajectory_of(spans_of("pydantic_ai1x_v1-nocontent"))
    call = next(step for step in trajectory.walk() if step.is_tool)
    result = compare_trajectories(trajectory, [{"name": call.name, "toolArgs": {"city": "Paris"}}])
    assert (result.score, result.score_low, result.score_high) == (None, 0, 1)
    assert result.unknown_steps == (call.name,)
    assert compare_trajectories(trajectory, [{"name": call.name}]).score == 1
