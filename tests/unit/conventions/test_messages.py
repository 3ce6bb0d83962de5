"""Tool calls and results inside messages, in the shapes providers and libraries write."""

import json

import pytest

from tests.unit.conventions.shapes import event, read
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.model.reading import ToolRequest
from trajscope.model.span import Json

ADD = ToolRequest("add", "c1", {"a": 1})

REQUESTS: dict[str, Json] = {
    "OpenAI chat": {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 1}'},
                        }
                    ]
                }
            }
        ]
    },
    "OpenAI Responses": {
        "output": [
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "add",
                "arguments": '{"a": 1}',
            }
        ]
    },
    "Anthropic": {"content": [{"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}]},
    "Bedrock Converse": {
        "content": [{"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 1}}}]
    },
    "Gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [{"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}}]
                }
            }
        ]
    },
    "LangChain": [
        [{"message": {"kwargs": {"tool_calls": [{"name": "add", "args": {"a": 1}, "id": "c1"}]}}}]
    ],
    "OTel GenAI parts": [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 1}}],
        }
    ],
    "AI SDK 4": [
        {"toolCallType": "function", "toolCallId": "c1", "toolName": "add", "args": '{"a":1}'}
    ],
    "AI SDK 6": [{"type": "tool-call", "toolCallId": "c1", "toolName": "add", "input": '{"a":1}'}],
    "older OpenLLMetry": [{"tool_calls": [{"id": "c1", "name": "add", "arguments": '{"a": 1}'}]}],
}


@pytest.mark.parametrize("shape", REQUESTS)
def test_a_request_is_found_in_every_shape(shape: str) -> None:
    for value in (REQUESTS[shape], json.dumps(REQUESTS[shape])):
        assert find_requests(value) == (ADD,)


RESPONSES: dict[str, Json] = {
    "OpenAI chat": [{"role": "tool", "tool_call_id": "c1", "content": "18 C"}],
    "OpenAI Responses": [{"type": "function_call_output", "call_id": "c1", "output": "18 C"}],
    "Anthropic": [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "18 C"}],
        }
    ],
    "Bedrock Converse": [
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "18 C"}]}}],
        }
    ],
    "Gemini": [{"parts": [{"functionResponse": {"id": "c1", "name": "w", "response": "18 C"}}]}],
    "OTel GenAI parts": [
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "c1", "response": "18 C"}],
        }
    ],
    "the same before 1.37": [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "18 C"}]}
    ],
    "AI SDK": [
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "w",
                    "output": {"type": "text", "value": "18 C"},
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("shape", RESPONSES)
def test_a_response_is_found_in_every_shape(shape: str) -> None:
    for value in (RESPONSES[shape], json.dumps(RESPONSES[shape])):
        (found,) = find_responses(value)
        assert (found.call_id, found.result, found.failed) == ("c1", "18 C", None)


def test_a_status_beside_a_result_is_heard() -> None:
    failed = {"toolUseId": "c1", "status": "error", "content": [{"text": "no such city"}]}
    (found,) = find_responses([{"content": [{"toolResult": failed}]}])
    assert (found.failed, found.failure) == (True, "no such city")


def test_definitions_of_tools_are_no_requests() -> None:
    tool = {"type": "function", "name": "add", "parameters": {"type": "object"}}
    definitions = [tool, {"type": "function", "function": tool}, {"name": "add", "inputSchema": {}}]
    assert find_requests({"tools": definitions, "output": []}) == ()


def test_requests_of_the_model_before_tool_calls_are_found() -> None:
    legacy = {"function_call_name": "add", "function_call_arguments_json": '{"a": 1}'}
    assert find_requests([legacy]) == (ToolRequest("add", None, {"a": 1}),)


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


def test_message_events_of_the_older_conventions_are_read() -> None:
    reading = read(
        CHAT,
        events=(
            event("gen_ai.user.message", content="add one"),
            event("gen_ai.assistant.message", content="", tool_calls=json.dumps([CALL])),
            event("gen_ai.tool.message", content="2", id="c0"),
            event("gen_ai.choice", index=0, message=json.dumps({"tool_calls": [CALL]})),
        ),
    )
    assert reading.requests == (ADD,)  # the assistant message among them is history
    assert [(r.call_id, r.result) for r in reading.responses] == [("c0", "2")]


def test_content_events_of_the_oldest_conventions_are_read() -> None:
    reading = read(
        CHAT,
        events=(
            event(
                "gen_ai.content.prompt",
                gen_ai__prompt=json.dumps([{"role": "tool", "tool_call_id": "c0", "content": "2"}]),
            ),
            event(
                "gen_ai.content.completion", gen_ai__completion=json.dumps([{"tool_calls": [CALL]}])
            ),
        ),
    )
    assert reading.requests == (ADD,)
    assert reading.responses[0].call_id == "c0"


def test_details_of_an_operation_in_one_event_are_read() -> None:
    parts = [{"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 1}}]
    details = event(
        "gen_ai.client.inference.operation.details",
        gen_ai__output__messages=[{"role": "assistant", "parts": parts}],
        gen_ai__input__messages=json.dumps(RESPONSES["OTel GenAI parts"]),
    )
    reading = read(CHAT, events=(details,))
    assert reading.requests == (ADD,)
    assert reading.responses[0].result == "18 C"


def test_an_enclosed_event_body_is_read() -> None:
    body = json.dumps({"content": "2", "id": "c0"})
    reading = read(CHAT, events=(event("gen_ai.tool.message", gen_ai__event__content=body),))
    assert [(r.call_id, r.result) for r in reading.responses] == [("c0", "2")]


def test_a_list_of_events_in_one_attribute_is_read() -> None:
    listed = [
        {"event.name": "gen_ai.assistant.message", "tool_calls": [{**CALL, "id": "old"}]},
        {"event.name": "gen_ai.tool.message", "role": "tool", "id": "old", "content": "2"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"tool_calls": [CALL]}},
    ]
    reading = read({**CHAT, "events": json.dumps(listed)}, scope="pydantic-ai")
    assert reading.requests == (ADD,)
    assert [r.call_id for r in reading.responses] == ["old"]


def test_messages_of_one_attribute_per_leaf_are_read() -> None:
    older = {
        "gen_ai.prompt.0.role": "tool",
        "gen_ai.prompt.0.tool_call_id": "c0",
        "gen_ai.prompt.0.content": "2",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "add",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
    }
    reading = read({"llm.request.type": "chat", "gen_ai.request.model": "m", **older})
    assert reading.requests == (ADD,)
    assert [(r.call_id, r.result) for r in reading.responses] == [("c0", "2")]
