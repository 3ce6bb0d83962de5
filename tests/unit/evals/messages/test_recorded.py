"""One conversation, recorded from each library: whatever wrote it, it says the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trajscope.evals import messages
from trajscope.evals.adapters import to_messages
from trajscope.model.step import ToolStep

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))
WITHOUT_REASONING = "openai_chat"


def load(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def conversation(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return load(request.param)


def test_who_said_what(conversation: list[dict[str, Any]]) -> None:
    assert messages.get_user_message_from_run_input(conversation) == "Weather in Faro?"
    assert "Be brief." in messages.get_system_messages_from_run_input(conversation)
    said = messages.extract_agent_response_messages(conversation)
    assert [text for text in said if text] == ["Let me look.", "It is 18 C."]
    first = messages.get_assistant_message_from_run_output(conversation)
    last = messages.get_assistant_message_from_run_output(conversation, which="last")
    assert (first, last) == ("Let me look.", "It is 18 C.")


def test_what_it_thought(request: pytest.FixtureRequest) -> None:
    for path in RECORDED:
        thought = messages.get_reasoning_from_run_output(load(path))
        wanted = None if path.stem == WITHOUT_REASONING else "I need the weather."
        assert thought == wanted, path.stem


def test_what_it_did(conversation: list[dict[str, Any]]) -> None:
    steps = messages.extract_trajectory(conversation).steps
    assert all(isinstance(step, ToolStep) for step in steps)
    found = [(s.name, s.tool_args, s.success, s.executed) for s in steps if isinstance(s, ToolStep)]
    assert found == [
        ("weather", {"city": "Faro"}, True, True),
        ("convert", {"celsius": 18}, False, True),
    ]
    assert isinstance(steps[0], ToolStep)
    assert steps[0].tool_result == {"celsius": 18}
    assert "no such unit" in (steps[1].failure or "")


def test_messages_that_only_answer_vanish(conversation: list[dict[str, Any]]) -> None:
    converted = to_messages(conversation)
    assert {message["role"] for message in converted} <= {"system", "user", "assistant"}
    assert to_messages(converted) == converted


def test_the_reference_reads_what_was_converted(conversation: list[dict[str, Any]]) -> None:
    """What the adapter writes is what the reference's own functions understand."""
    converted = to_messages(conversation)
    trajectory = messages.extract_trajectory(converted, compat="mastra")
    assert [s["success"] for s in trajectory["steps"]] == [True, False]
    text = messages.get_assistant_message_from_run_output(converted, compat="mastra")
    assert text == "It is 18 C."


def test_indexes_are_those_of_the_messages_given(conversation: list[dict[str, Any]]) -> None:
    for info in messages.extract_tool_calls(conversation).tool_call_infos:
        assert info.tool_name in json.dumps(conversation[info.message_index])
