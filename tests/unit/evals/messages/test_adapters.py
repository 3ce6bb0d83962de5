"""Messages of single libraries, as objects and as JSON, and how answers find their calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from trajscope.errors import UsageError
from trajscope.evals.adapters import plain, to_messages
from trajscope.evals.messages import extract_tool_calls, extract_trajectory
from trajscope.model.step import McpToolCallStep, ProviderToolCallStep, ToolStep


def calls(messages: Any) -> list[tuple[str, Any, Any, bool | None]]:
    return [
        (s.name, s.tool_args, s.tool_result, s.success)
        for s in extract_trajectory(messages).steps
        if isinstance(s, ToolStep)
    ]


def asked(call_id: str, name: str = "add", arguments: str = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answered(call_id: str, content: Any = "3") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


class TestAnswers:
    def test_an_answer_belongs_to_the_open_call_of_its_id_before_it(self) -> None:
        twice = [asked("c", "a"), answered("c", "1"), asked("c", "b"), answered("c", "2")]
        assert calls(twice) == [("a", {}, "1", True), ("b", {}, "2", True)]

    def test_a_call_without_an_answer_is_unknown_and_did_not_run(self) -> None:
        (step,) = extract_trajectory([asked("c")]).steps
        assert isinstance(step, ToolStep)
        assert (step.success, step.executed) == (None, False)

    def test_an_answer_without_its_call_is_a_call_of_its_own(self) -> None:
        assert calls([answered("gone")]) == [("", None, "3", True)]

    def test_an_answer_that_is_repeated_is_one(self) -> None:
        assert len(calls([asked("c"), answered("c"), answered("c")])) == 1
        assert len(calls([asked("c"), answered("c"), answered("c", "other")])) == 2

    def test_two_ids_for_one_call_pair_by_order(self) -> None:
        found = [asked("fc_1", "a"), asked("fc_2", "b"), answered("call_1", "1")]
        assert calls([*found, answered("call_2", "2")]) == [
            ("a", {}, "1", True),
            ("b", {}, "2", True),
        ]

    def test_an_answer_never_goes_to_a_call_of_an_earlier_turn(self) -> None:
        found = [asked("lost"), asked("b"), answered("b"), asked("x", "last"), answered("y")]
        assert [c[3] for c in calls(found)] == [None, True, True]

    def test_calls_without_ids_pair_by_name(self) -> None:
        legacy = [
            {"role": "assistant", "function_call": {"name": "add", "arguments": '{"a": 1}'}},
            {"role": "function", "name": "add", "content": "1"},
        ]
        assert calls(legacy) == [("add", {"a": 1}, "1", True)]


class TestShapes:
    def test_arguments_of_openai(self) -> None:
        assert calls([asked("c", arguments="")]) == [("add", {}, None, None)]
        assert calls([asked("c", arguments='{"a": ')]) == [("add", '{"a": ', None, None)]

    def test_results_are_decoded(self) -> None:
        assert calls([asked("c"), answered("c", '{"a": 1}')])[0][2] == {"a": 1}
        assert calls([asked("c"), answered("c", "{'a': 1}")])[0][2] == {"a": 1}
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        assert calls([asked("c"), answered("c", parts)])[0][2] == "a\nb"

    @pytest.mark.parametrize(
        ("content", "ok"),
        [
            ("Error: no such city", False),
            ('{"isError": true, "content": []}', False),
            ('{"error": "boom"}', False),
            ("there was no error", True),
            ('{"error": null}', True),
            ("", True),
        ],
    )
    def test_what_fails_a_call(self, content: str, ok: bool) -> None:
        assert calls([asked("c"), answered("c", content)])[0][3] is ok

    def test_a_refused_call_did_not_run(self) -> None:
        (step,) = extract_trajectory(
            [
                asked("c", "nope"),
                answered("c", "Error: nope is not a valid tool, try one of [add]."),
            ]
        ).steps
        assert isinstance(step, ToolStep)
        assert (step.success, step.executed) == (False, False)

    @pytest.mark.parametrize(
        ("tool", "ok"), [("mul", False), ("mcp__calc__mul", False), ("add", True)]
    )
    def test_the_error_text_of_an_mcp_server_fails_the_tool_it_names(
        self, tool: str, ok: bool
    ) -> None:
        text = '[{"type": "text", "text": "Error executing tool mul: bad"}]'
        assert calls([asked("c", tool), answered("c", text)])[0][3] is ok

    def test_what_failed_says_so_in_the_reference_form(self) -> None:
        (message,) = to_messages([asked("c"), answered("c", '{"isError": true}')])
        assert message["content"]["parts"][0]["toolInvocation"]["isError"] is True

    def test_the_messages_given_are_not_written_to(self) -> None:
        invocation = {"toolCallId": "c", "toolName": "add", "state": "call"}
        part = {"type": "tool-invocation", "toolInvocation": invocation}
        assert calls([{"role": "assistant", "parts": [part]}, answered("c")])[0][3] is True
        listed = {"role": "assistant", "content": "", "toolInvocations": [invocation]}
        assert calls([listed, answered("c")])[0][3] is True
        assert invocation == {"toolCallId": "c", "toolName": "add", "state": "call"}

    def test_hosted_tools_of_responses(self) -> None:
        items = [
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}},
            {"type": "code_interpreter_call", "id": "i", "status": "failed", "code": "1/0"},
            {"type": "file_search_call", "id": "f", "status": "in_progress", "queries": ["q"]},
            {"type": "mcp_approval_request", "id": "p", "name": "rm", "arguments": "{}"},
            {"type": "mcp_call", "id": "m", "approval_request_id": "p", "name": "rm"}
            | {"arguments": "{}", "output": "done", "error": None},
            {"type": "computer_call", "call_id": "s", "action": {"type": "screenshot"}},
            {"type": "computer_call_output", "call_id": "s", "output": {"image": "x"}},
        ]
        assert calls(items) == [
            ("web_search", {"action": {"query": "q"}}, None, True),
            ("code_interpreter", {"code": "1/0"}, None, False),
            ("file_search", {"queries": ["q"]}, None, None),
            ("rm", {}, "done", True),
            ("computer", {"action": {"type": "screenshot"}}, {"image": "x"}, True),
        ]
        steps = extract_trajectory(items).steps
        assert [isinstance(s, ProviderToolCallStep) for s in steps] == [True] * 4 + [False]

    def test_a_whole_response_is_its_items(self) -> None:
        item = {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}
        response = {"object": "response", "id": "r", "output": [item]}
        assert extract_tool_calls([response]).tools == ("add",)
        completion = {"choices": [{"message": asked("c", "mul")}]}
        assert extract_tool_calls([completion]).tools == ("mul",)

    def test_server_tools_of_anthropic(self) -> None:
        use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}}
        error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
        result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": error}
        assert calls([{"role": "assistant", "content": [use, result]}]) == [
            ("web_search", {"q": 1}, error, False)
        ]

    def test_gemini_and_bedrock(self) -> None:
        gemini = [
            {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 1}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "add", "response": {"result": 2}}}],
            },
        ]
        assert extract_tool_calls(gemini).tools == ("add",)
        use = {"toolUseId": "t", "name": "add", "input": {"a": 1}}
        result = {"toolUseId": "t", "content": [{"json": {"sum": 2}}], "status": "error"}
        bedrock = [
            {"role": "assistant", "content": [{"text": "ok"}, {"toolUse": use}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ]
        assert calls(bedrock) == [("add", {"a": 1}, {"sum": 2}, False)]

    def test_the_ai_sdk(self) -> None:
        model_messages = [
            {
                "role": "assistant",
                "content": [
                    {"type": "tool-call", "toolCallId": "1", "toolName": "add", "input": {"a": 1}}
                ],
            },
            {
                "role": "tool",
                "content": [
                    {"type": "tool-result", "toolCallId": "1", "toolName": "add"}
                    | {"output": {"type": "error-text", "value": "boom"}}
                ],
            },
        ]
        assert calls(model_messages) == [("add", {"a": 1}, "boom", False)]
        part: dict[str, Any] = {"type": "tool-add", "toolCallId": "1", "input": {"a": 1}}
        states: list[dict[str, Any]] = [
            {"state": "output-available", "output": 2},
            {"state": "output-error", "errorText": "boom"},
            {"state": "input-available"},
            {"state": "input-streaming"},
        ]
        ui = [{"role": "assistant", "parts": [{**part, **state}]} for state in states]
        found = [extract_trajectory([m]).steps[0] for m in ui]
        assert [(s.failed, s.failure) for s in found] == [
            (False, None),
            (True, "boom"),
            (None, None),
            (None, None),
        ]

    def test_opentelemetry(self) -> None:
        call = {"type": "tool_call", "id": "c", "name": "add", "arguments": {"a": 1}}
        result = {"type": "tool_call_response", "id": "c", "response": 2}
        conversation = [
            {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
            {"role": "assistant", "parts": [call]},
            {"role": "tool", "parts": [result]},
        ]
        assert calls(conversation) == [("add", {"a": 1}, 2, True)]

    def test_mcp_tools_are_known_by_their_name(self) -> None:
        (step,) = extract_trajectory([asked("c", "mcp__calc__add")]).steps
        assert isinstance(step, McpToolCallStep)
        assert step.mcp_server == "calc"

    def test_instructions_that_every_request_repeats_are_said_once(self) -> None:
        part = {"part_kind": "user-prompt", "content": "hi"}
        request = {"kind": "request", "instructions": "Be brief.", "parts": [part]}
        roles = [m["role"] for m in to_messages([request, request])]
        assert roles == ["system", "user", "user"]

    def test_an_interrupted_call_of_pydantic_ai_is_unknown(self) -> None:
        call = {"part_kind": "tool-call", "tool_name": "a", "tool_call_id": "1", "args": None}
        back = {**call, "part_kind": "tool-return", "outcome": "interrupted", "content": "x"}
        conversation = [
            {"kind": "response", "parts": [call]},
            {"kind": "request", "parts": [back]},
        ]
        assert calls(conversation) == [("a", {}, None, None)]

    def test_rejected_arguments_of_pydantic_ai(self) -> None:
        call = {"part_kind": "tool-call", "tool_name": "a", "tool_call_id": "1", "args": '{"x": 1}'}
        retry: dict[str, Any] = {"part_kind": "retry-prompt", "tool_name": "a", "tool_call_id": "1"}
        retry["content"] = [{"type": "missing", "msg": "Field required", "loc": ["y"]}]
        (step,) = extract_trajectory(
            [{"kind": "response", "parts": [call]}, {"kind": "request", "parts": [retry]}]
        ).steps
        assert isinstance(step, ToolStep)
        assert step.tool_args == {"x": 1}
        assert "Field required" in (step.failure or "")
        assert (step.success, step.executed) == (False, False)


class TestUnknown:
    @pytest.mark.parametrize("value", [5, {"a": 1}, {"type": "span"}, [1], "text"])
    def test_what_is_no_message_is_refused_with_its_place(self, value: Any) -> None:
        with pytest.raises(UsageError, match="message 1: is of no known shape") as caught:
            to_messages([{"role": "user", "content": "hi"}, value])
        assert caught.value.hint is not None

    def test_a_text_is_no_conversation(self) -> None:
        with pytest.raises(UsageError, match="is no list"):
            to_messages("hi")

    def test_unknown_blocks_are_kept(self) -> None:
        image = {"type": "image", "source": {"data": "x"}}
        (message,) = to_messages([{"role": "user", "content": [image]}])
        assert message["content"]["parts"] == [image]


class Colour(Enum):
    RED = "red"


class Block(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: str = "text"
    text: str = "hi"


@dataclass
class Message:
    role: str = "assistant"
    content: list[Block] = field(default_factory=lambda: [Block()])
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    colour: Colour = Colour.RED
    data: bytes = b"1234"


class Odd:
    def __str__(self) -> str:
        raise RuntimeError


class TestPlain:
    def test_objects_become_their_fields(self) -> None:
        assert plain(Message(content=[Block.model_validate({"more": (1, {2})})])) == {
            "role": "assistant",
            "content": [{"type": "text", "text": "hi", "more": [1, [2]]}],
            "at": "2026-01-01T00:00:00+00:00",
            "colour": "red",
            "data": "<4 bytes>",
        }
        assert plain(Odd()) == "<Odd>"

    def test_json_is_the_very_same_object(self) -> None:
        value = {"a": [1, None, {"b": float("nan")}]}
        assert plain(value) is value

    def test_objects_are_messages(self) -> None:
        assert to_messages([Message()])[0]["content"]["parts"] == [{"type": "text", "text": "hi"}]
