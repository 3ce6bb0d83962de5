"""Texts, reasoning and prompts: what the default answers where the reference surprises."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.evals.messages.samples import message
from trajscope.errors import UsageError
from trajscope.evals import messages as m


def cases(*values: Any) -> tuple[Any, ...]:
    return values


class TestText:
    def test_all_parts_and_not_the_last_alone(self) -> None:
        two = message("first", {"type": "step-start"}, "last")
        assert m.get_text_content(two) == "first\nlast"
        assert m.get_text_content(two, compat="mastra") == "last"

    def test_of_two_records_of_the_text_the_fuller_counts(self) -> None:
        assert m.get_text_content(message("a", "b", content="b")) == "a\nb"
        assert m.get_text_content(message("part", content="content")) == "content"
        assert (
            m.get_text_content(message(content={"content": [{"type": "text", "text": "x"}]})) == "x"
        )

    def test_no_text_is_empty(self) -> None:
        assert m.get_text_content(message({"type": "image"})) == ""
        assert m.get_text_content({"role": "user", "content": None}) == ""

    def test_a_tool_message_has_its_own_text(self) -> None:
        found = {"role": "tool", "tool_call_id": "1", "content": "18 C"}
        assert m.get_text_content(found) == "18 C"

    def test_what_is_no_message(self) -> None:
        with pytest.raises(UsageError, match="no known shape"):
            m.get_text_content(5)


class TestAssistant:
    OUTPUT = (message(), message("one"), message("two"), message("u", role="user"))

    def test_first_by_default_and_last_on_demand_and_in_the_reference(self) -> None:
        output = list(self.OUTPUT)
        get = m.get_assistant_message_from_run_output
        assert get(output) == "one"
        assert get(output, which="last") == get(output, compat="mastra") == "two"

    @pytest.mark.parametrize(
        "output", ["said", {"text": "said"}, {"role": "assistant"} | message("said")]
    )
    def test_other_outputs(self, output: Any) -> None:
        assert m.get_assistant_message_from_run_output(output) == "said"

    def test_none(self) -> None:
        for output in (None, "", [], [message("u", role="user")], message("u", role="user")):
            assert m.get_assistant_message_from_run_output(output) is None

    def test_an_output_that_holds_no_messages(self) -> None:
        with pytest.raises(UsageError, match="is no list"):
            m.get_assistant_message_from_run_output(5)
        with pytest.raises(UsageError, match="which: is unknown"):
            m.get_assistant_message_from_run_output([], which="best")  # type: ignore[arg-type]

    def test_signals_speak_for_whom_they_stand(self) -> None:
        signal = message("s", role="signal", metadata={"signal": {"tagName": "assistant"}})
        assert m.extract_agent_response_messages([signal, message("t")]) == ["s", "t"]
        assert m.extract_agent_response_messages([signal, message("t")], compat="mastra") == ["t"]

    def test_messages_without_text_keep_their_place(self) -> None:
        assert m.extract_agent_response_messages(list(self.OUTPUT)) == ["", "one", "two"]
        assert m.extract_agent_response_messages("said") == ["said"]

    def test_the_state_of_a_graph_holds_messages(self) -> None:
        state = {"messages": [message("one")], "step": 3}
        assert m.get_assistant_message_from_run_output(state) == "one"


class TestReasoning:
    def test_of_all_assistant_messages_and_not_the_first_alone(self) -> None:
        thought = {"type": "reasoning", "details": [{"type": "text", "text": "b"}]}
        output = [
            message("x"),
            message(reasoning="a"),
            message(thought),
            message(thought, role="user"),
        ]
        assert m.get_reasoning_from_run_output(output) == "a\nb"
        assert m.get_reasoning_from_run_output(output, compat="mastra") is None

    def test_empty_details_do_not_hide_the_reasoning(self) -> None:
        part = {"type": "reasoning", "reasoning": "x", "details": []}
        assert m.get_reasoning_from_run_output([message(part)]) == "x"

    def test_none(self) -> None:
        for output in (None, "text", [], [message("x")], [{"role": "assistant", "content": None}]):
            assert m.get_reasoning_from_run_output(output) is None


class TestUser:
    def test_first_with_a_text(self) -> None:
        run_input: dict[str, Any] = {
            "input_messages": [message("", role="user"), message("hi", role="user")]
        }
        assert m.get_user_message_from_run_input(run_input) == "hi"
        assert m.get_user_message_from_run_input(run_input["input_messages"]) == "hi"

    @pytest.mark.parametrize(
        "run_input",
        [
            "hi",
            {"inputMessages": [message("hi", role="user")]},
            {"input_messages": [], "messages": [message("hi", role="user")]},
            {"prompt": "hi", "text": "no"},
            {"prompt": "", "text": "hi"},
            {"content": [{"type": "text", "text": "hi"}]},
            {"input": {"messages": [message("hi", role="user")]}},
            {"user": {"text": "hi"}},
            message("hi", role="user"),
        ],
    )
    def test_where_it_may_stand(self, run_input: Any) -> None:
        assert m.get_user_message_from_run_input(run_input) == "hi"

    def test_none(self) -> None:
        for run_input in cases(None, "", [], {}, {"input_messages": [message("a")]}):
            assert m.get_user_message_from_run_input(run_input) is None

    def test_malformed(self) -> None:
        with pytest.raises(UsageError, match="is no run input"):
            m.get_user_message_from_run_input(5)
        with pytest.raises(UsageError, match="inputMessages: is no list"):
            m.get_user_message_from_run_input({"input_messages": "hi"})


class TestInput:
    def test_every_message_whoever_speaks(self) -> None:
        run_input: dict[str, Any] = {
            "input_messages": [message("a", role="user"), message(), message("b")]
        }
        assert m.extract_input_messages(run_input) == ["a", "", "b"]
        assert m.extract_input_messages("hi") == ["hi"]
        assert m.extract_input_messages(None) == m.extract_input_messages({}) == []

    def test_system_messages_of_all_places_in_order(self) -> None:
        run_input: dict[str, Any] = {
            "taggedSystemMessages": {"b": ["tag b"], "2": [{"role": "user", "content": "tag 2"}]},
            "messages": [message("later", role="system")],
            "inputMessages": [message("x", "y", role="system"), message("no", role="user")],
            "systemMessages": [{"content": "one"}, "two", message("a", "b", role="user")],
        }
        texts = m.get_system_messages_from_run_input(run_input)
        assert texts == ["one", "two", "a\nb", "x\ny", "later", "tag b", "tag 2"]
        assert m.get_combined_system_prompt(run_input) == "\n\n".join(texts)

    def test_no_system_messages(self) -> None:
        for run_input in cases(None, "text", {}, []):
            assert m.get_system_messages_from_run_input(run_input) == []
            assert m.get_combined_system_prompt(run_input) == ""

    def test_history_is_whole_unless_it_is_cut(self) -> None:
        remembered = [message(f"m{i}", role="user") for i in range(12)] + [message("  ")]
        run_input: dict[str, Any] = {"remembered_messages": remembered}
        whole = m.get_conversation_history_from_run_input(run_input)
        assert whole is not None
        assert whole.split("\n") == [f"user: m{i}" for i in range(12)]
        two = m.get_conversation_history_from_run_input(run_input, max_messages=2)
        assert two == "user: m10\nuser: m11"
        assert m.get_conversation_history_from_run_input(run_input, max_messages=0) is None
        with pytest.raises(UsageError, match="max_messages"):
            m.get_conversation_history_from_run_input(run_input, max_messages=-1)

    def test_no_history(self) -> None:
        for run_input in cases(None, "text", {}, [message("a")], {"remembered_messages": []}):
            assert m.get_conversation_history_from_run_input(run_input) is None
