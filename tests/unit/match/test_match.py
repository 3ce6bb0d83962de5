from __future__ import annotations

from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.match import compile_pattern, json_key, literal_pattern, match_step, step_names
from trajscope.model.expectation import ExpectedStep
from trajscope.model.step import AgentRunStep, McpToolCallStep, ToolCallStep, WorkflowStepStep


@pytest.mark.parametrize(
    ("pattern", "name", "hit"),
    [
        ("a", "a", True),
        ("a", "A", False),
        ("a*", "abc", True),
        ("*", "", True),
        ("a?", "ab", True),
        ("a?", "abc", False),
        ("[ab]x", "bx", True),
        ("[!ab]x", "bx", False),
        ("a[", "a[", True),
        ("a[0]", "a[0]", True),
        ("a*\n", "a\n\n", True),
        ("re:a|b", "b", True),
        ("re:a|b", "ab", False),
        ("re:", "", True),
        ("a.c", "abc", False),
    ],
)
def test_patterns_are_held_against_the_whole_name(pattern: str, name: str, hit: bool) -> None:
    assert compile_pattern(pattern).matches([name]) is hit


@pytest.mark.parametrize("name", ["a", "re:(", "a*b", "[x]", "", "?"])
def test_a_literal_pattern_stands_for_its_name_alone(name: str) -> None:
    pattern = compile_pattern(literal_pattern(name))
    assert pattern.matches([name])
    assert not pattern.matches(["other", f"{name}x"])


def test_a_malformed_expression_shows_itself() -> None:
    with pytest.raises(UsageError, match=r"malformed \(got 're:\('"):
        compile_pattern("re:(")


@pytest.mark.parametrize(
    "written",
    ["create_issue", "mcp__github__create_issue", "github.create_issue", "github-create_issue"],
)
@pytest.mark.parametrize(
    "recorded",
    ["create_issue", "mcp__github__create_issue", "mcp_github_create_issue", "github_create_issue"],
)
def test_spellings_of_one_mcp_tool(written: str, recorded: str) -> None:
    step = McpToolCallStep(name=recorded, mcp_server="github")
    assert match_step(ExpectedStep(name=written), step).holds is True
    assert step_names(step)[0] == recorded


def test_a_prefix_without_a_known_server_is_part_of_the_name() -> None:
    step = ToolCallStep(name="github_create_issue")
    assert match_step(ExpectedStep(name="create_issue"), step).holds is False


def test_other_steps_go_by_id_and_by_their_label_as_it_stands() -> None:
    run = AgentRunStep(name="Weather", agent_id="weather-agent", label="agent run: 'weather'")
    for name in ("Weather", "weather-agent", "agent run: 'weather'"):
        assert match_step(ExpectedStep(name=name), run).holds is True
    assert match_step(ExpectedStep(name="agent run*"), run).holds is False
    assert match_step(ExpectedStep(name="s1"), WorkflowStepStep(name="x", step_id="s1")).holds


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"success": True}, None),
        ({"tool_args": {"q": 1}}, None),
        ({"tool_args": None}, True),
        ({"tool_result": "x", "step_type": "agent_run"}, None),
        ({"mcp_server": "x"}, False),
        ({"agent_id": "x"}, False),
    ],
)
def test_unknown_data_are_neither(expected: Any, holds: bool | None) -> None:
    expected = {k: v for k, v in expected.items() if k != "step_type"}
    assert match_step(ExpectedStep(name="a", **expected), ToolCallStep(name="a")).holds is holds


def test_a_deep_value_has_a_key() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert json_key(deep).startswith("[[")


def test_reasons_are_cut() -> None:
    step = ToolCallStep(name="a", tool_args={str(n): "x" * 1000 for n in range(50)})
    match = match_step(ExpectedStep(name="a", tool_args={}), step)
    assert len(match.reasons) == 5
    assert all(len(reason) < 200 for reason in match.reasons)
