"""What the reference gets wrong on real traces, and the default does not: each on a recording."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory
from trajscope.scorers.blacklist import check_trajectory_blacklist
from trajscope.scorers.comparison import compare_trajectories
from trajscope.scorers.efficiency import check_trajectory_efficiency
from trajscope.scorers.tool_failures import analyze_tool_failures

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"


def spans_of(form: str) -> list[Span]:
    records = read_captures([str(TRACES / form)], Problems(strict=True))
    return [record for record in records if isinstance(record, Span)]


def only(spans: list[Span]) -> Trajectory:
    (trajectory,) = assemble(spans, Reader())
    return trajectory


@pytest.mark.parametrize(
    "form", ["mastra1-nested/trace.otlp.json", "pydantic_ai_v5-nested/trace.otlp.json"]
)
def test_a_forbidden_tool_inside_a_sub_agent_is_found(form: str) -> None:
    result = check_trajectory_blacklist(only(spans_of(form)), blacklisted_tools=["get_weather"])
    assert result.score == 0
    assert result.violated_tools == ("get_weather",)


def test_a_forbidden_tool_under_a_model_generation_is_found() -> None:
    trajectory = only(spans_of("mastra1-two/trace.mastra-spans.json"))
    assert {step.step_type for step in trajectory.steps} == {"model_generation"}
    assert check_trajectory_blacklist(trajectory, blacklisted_tools=["convert_temp"]).score == 0


@pytest.mark.parametrize(
    "form", ["openai_agents_oi-two/trace.otlp.json", "mastra1-two/trace.otlp.json"]
)
def test_a_model_step_between_two_tools_hides_no_sequence(form: str) -> None:
    trajectory = only(spans_of(form))
    sequence = [["get_weather", "convert_temp"]]
    assert check_trajectory_blacklist(trajectory, blacklisted_sequences=sequence).score == 0


def test_an_orphan_changes_no_score() -> None:
    spans = spans_of("openai_agents_oi-two/trace.otlp.json")
    noise = next(s for s in spans if s.attributes.get("openinference.span.kind") == "CHAIN")
    lost = msgspec.structs.replace(noise, span_id="f" * 16, parent_span_id="e" * 16)
    whole, orphaned = only(spans), only([*spans, lost])
    assert orphaned.orphans == ("f" * 16,)
    expected = {"steps": [{"name": "get_weather"}, {"name": "convert_temp"}]}
    for ordering in ("strict", "relaxed", "unordered"):
        results = [
            compare_trajectories(t, expected, ordering=ordering).score for t in (whole, orphaned)
        ]
        assert results == [1, 1]
    kept, cut = (
        check_trajectory_efficiency(t, max_steps=6, max_total_tokens=100).score
        for t in (whole, orphaned)
    )
    assert kept == cut


def test_a_tool_call_whose_parent_was_not_exported_still_counts() -> None:
    spans = [
        msgspec.structs.replace(s, parent_span_id="e" * 16) if "convert_temp" in s.name else s
        for s in spans_of("openai_agents_oi-two/trace.otlp.json")
    ]
    expected = {"steps": [{"name": "get_weather"}, {"name": "convert_temp"}], "ordering": "strict"}
    trajectory = only(spans)
    assert len(trajectory.orphans) == 1
    assert compare_trajectories(trajectory, expected).score == 1


def test_the_key_order_of_arguments_does_not_matter() -> None:
    trajectory = only(spans_of("langgraph_oi-mcp/trace.otlp.json"))
    (call,) = [s for s in trajectory.walk() if s.is_tool and s.name == "add"]
    args = call.model_dump()["tool_args"]
    assert list(args) == ["a", "b"]
    turned = dict(reversed(args.items()))
    step = {"name": "add", "toolArgs": turned}
    assert compare_trajectories(trajectory, {"steps": [step]}).score == 1
    assert compare_trajectories(trajectory, {"steps": [{**step, "toolArgs": {"a": 0}}]}).score == 0


def test_a_trace_whose_every_call_failed_is_not_perfect() -> None:
    spans = spans_of("pydantic_ai_v5-err/trace.otlp.json")
    failed_at = next(s.end_ns or 0 for s in spans if s.status_code == "ERROR")
    trajectory = only([s for s in spans if (s.start_ns or 0) < failed_at])
    assert [s.failed for s in trajectory.walk() if s.is_tool] == [True]
    result = analyze_tool_failures(trajectory)
    assert result.score is not None
    assert result.score < 1
