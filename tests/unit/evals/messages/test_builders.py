"""Messages and runs to try scorers on."""

from __future__ import annotations

from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.evals import messages as m
from trajscope.evals.scorer import create_scorer


def test_a_message_with_calls_is_read_back() -> None:
    call = m.create_tool_invocation(tool_name="add", tool_call_id="1", args={"a": 1}, result=2)
    built = m.create_test_message(content="Done.", role="assistant", tool_invocations=[call])
    assert m.get_text_content(built) == "Done."
    assert m.extract_tool_calls([built]).tools == ("add",)
    assert m.extract_tool_results([built])[0].result == 2
    assert m.is_scorer_run_output_for_agent([built])
    assert m.is_scorer_run_output_for_agent([built], compat="mastra")


def test_nothing_of_an_invocation_is_dropped() -> None:
    call = m.create_tool_invocation(tool_name="add", error_text="boom")
    assert call["state"] == "output-error"
    built = m.create_test_message(content="", role="assistant", tool_invocations=[call])
    assert m.extract_tool_results([built])[0].failure == "boom"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: m.create_test_message({"content": "hi"}), "by keyword"),
        (lambda: m.create_test_message(content=None), "content: is no text"),  # type: ignore[arg-type]
        (lambda: m.create_test_message(content="x", role="robot"), "role: is unknown"),
        (lambda: m.create_test_message(tool_invocations=[1]), "tool_invocations"),  # type: ignore[list-item]
        (lambda: m.create_tool_invocation(), "tool_name: is empty"),
        (lambda: m.create_tool_invocation(tool_name="a", state="done"), "state: is unknown"),
        (lambda: m.create_agent_test_run({"output": []}), "by keyword"),
    ],
)
def test_refusals(build: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build()


def test_a_run_is_what_a_scorer_takes() -> None:
    run = m.create_agent_test_run(
        input_messages=[m.create_test_message(content="Hi")],
        system_messages=["Be brief."],
        output=[m.create_test_message(content="Hello", role="assistant")],
    )
    assert m.is_scorer_run_input_for_agent(run["input"])
    assert m.get_user_message_from_run_input(run["input"]) == "Hi"
    assert m.get_combined_system_prompt(run["input"]) == "Be brief."
    scorer = create_scorer(id="greets").generate_score(
        lambda c: float(m.get_assistant_message_from_run_output(c.run["output"]) == "Hello")
    )
    assert scorer.run_sync(run).score == 1.0
    again = m.create_agent_test_run()
    assert again["run_id"] != run["run_id"]


@pytest.mark.parametrize(
    ("value", "is_input"),
    [
        ({"input_messages": []}, True),
        ({"inputMessages": [], "taggedSystemMessages": {}}, True),
        ({"input_messages": [], "system_messages": "x"}, False),
        ({"input_messages": [5]}, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_what_is_a_run_input(value: Any, is_input: bool) -> None:
    assert m.is_scorer_run_input_for_agent(value) is is_input


@pytest.mark.parametrize(
    ("value", "is_output"),
    [([], True), ([{"role": "user", "content": "x"}], True), ([None], False), ("x", False)],
)
def test_what_is_a_run_output(value: Any, is_output: bool) -> None:
    assert m.is_scorer_run_output_for_agent(value) is is_output


@pytest.mark.parametrize(
    ("number", "ours", "reference"),
    [
        (1.005, 1.01, 1.01),
        (-0.015, -0.02, -0.01),
        (0.285, 0.29, 0.29),
        (2, 2, 2),
        (1e300, 1e300, None),
    ],
)
def test_two_decimals(number: float, ours: float, reference: float | None) -> None:
    assert m.round_to_two_decimals(number) == ours
    if reference is not None:
        assert m.round_to_two_decimals(number, compat="mastra") == reference


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True])
def test_what_cannot_be_rounded(value: Any) -> None:
    with pytest.raises(UsageError, match="is no finite number"):
        m.round_to_two_decimals(value)


def test_an_unknown_compat_is_refused_everywhere() -> None:
    for name in m.__all__:
        helper = getattr(m, name)
        if not isinstance(helper, type):
            with pytest.raises(UsageError, match="compat"):
                helper([], compat="other")
