"""Tool calls and trajectories from the reference's message form: where the default differs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.evals.messages.samples import invocation, message
from trajscope.errors import UsageError
from trajscope.evals import messages as m
from trajscope.model.step import ToolStep


def only(*parts: Any, **content: Any) -> ToolStep:
    (step,) = m.extract_trajectory([message(*parts, **content)]).steps
    assert isinstance(step, ToolStep)
    return step


class TestOutcome:
    def test_an_open_call_is_unknown_and_not_failed(self) -> None:
        step = only(invocation(state="call", args={"a": 1}))
        assert (step.success, step.executed) == (None, False)
        assert "success" not in step.model_dump(mode="json")
        reference = m.extract_trajectory([message(invocation(state="call"))], compat="mastra")
        assert reference["steps"][0]["success"] is False

    @pytest.mark.parametrize(
        "fields",
        [
            {"isError": True, "result": "boom"},
            {"state": "output-error", "errorText": "boom"},
            {"result": {"isError": True, "content": [{"type": "text", "text": "boom"}]}},
            {"result": {"error": "boom"}},
            {"result": '{"error": "boom"}'},
            {"result": {"status": "error", "message": "boom"}},
        ],
    )
    def test_what_fails_a_call(self, fields: dict[str, Any]) -> None:
        step = only(invocation(**fields))
        assert (step.success, step.failed, step.failure) == (False, True, "boom")

    @pytest.mark.parametrize("result", [0, "", False, [], {"error": None}, "Error: as text"])
    def test_what_does_not(self, result: Any) -> None:
        """A text proves nothing here: the reference's form has a place for errors."""
        step = only(invocation(result=result))
        assert step.success is True
        assert step.tool_result == result

    def test_an_answer_without_a_result(self) -> None:
        step = only(invocation())
        assert step.success is True
        assert "tool_result" not in step.model_fields_set

    def test_what_stands_beside_an_open_call_is_no_result(self) -> None:
        assert "tool_result" not in only(invocation(state="call", result=1)).model_fields_set

    def test_a_state_of_the_future(self) -> None:
        assert only(invocation(state="output-denied")).success is None
        assert only(invocation(state="finished", result=1)).success is True

    def test_arguments_that_are_not_recorded_are_unknown(self) -> None:
        assert "tool_args" not in only(invocation()).model_fields_set
        assert (
            "tool_args"
            not in only(invocation(state="partial-call", args={"a": 1})).model_fields_set
        )
        assert only(invocation(args={})).tool_args == {}


class TestOneCall:
    def test_asked_in_one_message_and_answered_in_another(self) -> None:
        asked = message(invocation(state="call", args={"a": 1}))
        (step,) = m.extract_trajectory([asked, message(invocation(args={"a": 1}, result=2))]).steps
        assert isinstance(step, ToolStep)
        assert (step.tool_args, step.tool_result, step.success) == ({"a": 1}, 2, True)

    @pytest.mark.parametrize(
        "later",
        [
            invocation(args={"a": 2}),
            invocation("mul", args={"a": 1}),
            invocation(call_id="2", args={"a": 1}),
            invocation(call_id=None, args={"a": 1}),
        ],
    )
    def test_two_calls(self, later: dict[str, Any]) -> None:
        asked = message(invocation(state="call", args={"a": 1}))
        assert len(m.extract_trajectory([asked, message(later)]).steps) == 2

    def test_ids_repeat_between_answered_calls(self) -> None:
        done = message(invocation(args={}, result=1))
        assert len(m.extract_trajectory([done, done]).steps) == 2

    def test_in_parts_and_in_the_older_list(self) -> None:
        both = message(invocation(args={"from": "part"}), older=[invocation(args={"from": "old"})])
        assert m.extract_tool_calls([both]).tools == ("add",)
        assert m.merge_tool_invocations(both) == [invocation(args={"from": "part"})]


class TestCallsAndResults:
    def test_infos_point_at_the_messages_given(self) -> None:
        output = [
            message("x", role="user"),
            message(invocation("a"), invocation("b", call_id=None)),
        ]
        found = m.extract_tool_calls(output)
        assert found.model_dump(mode="json", by_alias=True) == m.extract_tool_calls(
            output, compat="mastra"
        )
        assert [info.tool_call_id for info in found.tool_call_infos] == ["1", "1-1"]

    def test_errors_are_results_too(self) -> None:
        output = [
            message(invocation("a", state="output-error", errorText="boom"), invocation("b", "2"))
        ]
        failed, done = m.extract_tool_results(
            [*output, message(invocation("c", "3", state="call"))]
        )
        assert (failed.failed, failed.failure) == (True, "boom")
        assert (done.failed, done.tool_name) == (False, "b")

    @pytest.mark.parametrize("output", [None, "text", 5])
    def test_a_text_cannot_say_that_no_tool_was_called(self, output: Any) -> None:
        for helper in (m.extract_trajectory, m.extract_tool_calls, m.extract_tool_results):
            with pytest.raises(UsageError, match="is no list"):
                helper(output, compat=None)

    def test_the_messages_stay_with_the_trajectory(self) -> None:
        output = [message("x")]
        trajectory = m.extract_trajectory(output)
        assert trajectory.raw_output is output
        assert trajectory.steps == ()
        assert trajectory.tokens is None
        assert trajectory.model_calls is None
