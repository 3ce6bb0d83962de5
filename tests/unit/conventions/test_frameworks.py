"""What conventions make of spans of versions and settings that are not among the recordings."""

import json

import pytest
from msgspec import UNSET

from tests.support.spans import span
from tests.unit.conventions.shapes import event, kinds, read, tool_calls, trajectory
from trajscope.model.reading import Reading, StepType, ToolRequest
from trajscope.model.span import Json, Span

TOOLS: list[tuple[str, Reading]] = [
    (
        "Google ADK 1",
        read(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gcp.vertex.agent.tool_call_args": '{"a": 1}',
                "gcp.vertex.agent.tool_response": '{"result": 2}',
            },
            "execute_tool add",
            "gcp.vertex.agent",
        ),
    ),
    (
        "Google ADK before 1.10",
        read(
            {
                "gcp.vertex.agent.tool_call_args": "{'a': 1}",
                "gcp.vertex.agent.tool_response": '{"result": 2}',
            },
            "tool_call [add]",
            "gcp.vertex.agent",
        ),
    ),
    (
        "Pydantic AI, format 1",
        read(
            {
                "gen_ai.tool.name": "add",
                "tool_arguments": '{"a": 1}',
                "tool_response": '{"result": 2}',
            },
            "running tool",
            "pydantic-ai",
        ),
    ),
    (
        "Pydantic AI through OpenInference's processor",
        read(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gen_ai.tool.call.arguments": '{"a": 1}',
                "gen_ai.tool.call.result": '{"result": 2}',
                "openinference.span.kind": "TOOL",
            },
            "execute_tool add",
            "pydantic-ai",
        ),
    ),
    (
        "Vercel AI SDK",
        read(
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "add",
                "ai.toolCall.args": '{"a":1}',
                "ai.toolCall.result": '{"result":2}',
            },
            "ai.toolCall",
            "ai",
        ),
    ),
    (
        "Vercel AI SDK, operation dropped by limits",
        read(
            {
                "ai.toolCall.name": "add",
                "ai.toolCall.args": '{"a":1}',
                "ai.toolCall.result": '{"result":2}',
            },
            "ai.toolCall",
            "ai",
        ),
    ),
    (
        "MLflow",
        read(
            {
                "mlflow.spanType": '"TOOL"',
                "mlflow.spanInputs": '{"a": 1}',
                "mlflow.spanOutputs": '{"result": 2}',
            },
            "add",
        ),
    ),
    (
        "MLflow 2, second call of a function",
        read(
            {
                "mlflow.spanType": '"TOOL"',
                "mlflow.spanFunctionName": '"add"',
                "mlflow.spanInputs": '{"a": 1}',
                "mlflow.spanOutputs": '{"result": 2}',
            },
            "add_2",
        ),
    ),
    (
        "Langfuse",
        read(
            {
                "langfuse.observation.type": "tool",
                "langfuse.observation.input": '{"args": [], "kwargs": {"a": 1}}',
                "langfuse.observation.output": '{"result": 2}',
            },
            "add",
        ),
    ),
    (
        "LangSmith, a traced function",
        read(
            {
                "langsmith.span.kind": "tool",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.prompt": '{"a":1}',
                "gen_ai.completion": '{"output":{"result":2}}',
            },
            "add",
        ),
    ),
    (
        "OpenAI Agents SDK through Logfire",
        read(
            {"name": "add", "input": '{"a": 1}', "output": '{"result": 2}', "mcp_data": "null"},
            "Function: {name}",
            "logfire.openai_agents",
        ),
    ),
    (
        "Spring AI",
        read(
            {
                "spring.ai.kind": "tool_call",
                "gen_ai.operation.name": "framework",
                "spring.ai.tool.definition.name": "add",
                "spring.ai.tool.call.arguments": '{"a": 1}',
                "spring.ai.tool.call.result": '{"result": 2}',
            }
        ),
    ),
    (
        "Strands Agents, content in events",
        read(
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"},
            events=(
                event("gen_ai.tool.message", role="tool", content='{"a": 1}', id="t1"),
                event("gen_ai.choice", message='{"result": 2}', id="t1"),
            ),
        ),
    ),
    (
        "Strands Agents, content in one event",
        read(
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"},
            events=(
                event(
                    "gen_ai.client.inference.operation.details",
                    gen_ai__input__messages='[{"role": "tool", "parts": [{"type": "tool_call",'
                    ' "id": "t1", "name": "add", "arguments": {"a": 1}}]}]',
                ),
                event(
                    "gen_ai.client.inference.operation.details",
                    gen_ai__output__messages='[{"role": "tool", "parts": [{"type":'
                    ' "tool_call_response", "id": "t1", "response": {"result": 2}}]}]',
                ),
            ),
        ),
    ),
    (
        "GenAI, operation and name dropped by limits",
        read(
            {
                "gen_ai.tool.call.arguments": '{"a": 1}',
                "gen_ai.tool.call.result": '{"result": 2}',
            },
            "execute_tool add",
        ),
    ),
]


@pytest.mark.parametrize("reading", [r for _, r in TOOLS], ids=[n for n, _ in TOOLS])
def test_a_tool_call_is_read_alike_from_every_vocabulary(reading: Reading) -> None:
    assert reading.step_type is StepType.TOOL_CALL
    assert (reading.name, reading.args, reading.result) == ("add", {"a": 1}, {"result": 2})
    assert reading.failed is None


FAILED: list[tuple[str, Reading]] = [
    (
        "the status word of Strands Agents",
        read(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gen_ai.tool.status": "error",
                "gen_ai.tool.call.result": "no such number",
            },
            status_code="OK",
        ),
    ),
    (
        "the level of Langfuse",
        read(
            {
                "langfuse.observation.type": "tool",
                "langfuse.observation.level": "ERROR",
                "langfuse.observation.status_message": "no such number",
            },
            "add",
        ),
    ),
    (
        "the answer ADK asks tools for",
        read(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gcp.vertex.agent.tool_response": '{"status": "error",'
                ' "error_message": "no such number"}',
            },
            scope="gcp.vertex.agent",
        ),
    ),
    (
        "error.type without an exception",
        read(
            {
                "gen_ai.operation.name": "execute_tool",
                "error.type": "ValueError",
                "error.message": "no such number",
            }
        ),
    ),
    (
        "the error Logfire keeps as JSON",
        read(
            {"name": "add", "error": '{"message": "no such number", "data": null}'},
            "Function: {name}",
            "logfire.openai_agents",
            status_code="ERROR",
        ),
    ),
]


@pytest.mark.parametrize("reading", [r for _, r in FAILED], ids=[n for n, _ in FAILED])
def test_a_failure_is_read_from_every_vocabulary(reading: Reading) -> None:
    assert (reading.failed, reading.failure) == (True, "no such number")


def test_a_warning_of_langfuse_is_no_failure() -> None:
    attributes: dict[str, Json] = {
        "langfuse.observation.type": "tool",
        "langfuse.observation.level": "WARNING",
    }
    assert read(attributes, "add").failed is None


def test_an_interrupt_without_its_type_is_no_failure() -> None:
    reading = read(
        {"langsmith.span.kind": "tool"},
        "ask_human",
        status_code="ERROR",
        events=(
            event(
                "exception", exception__type="Exception", exception__message="GraphInterrupt((x,))"
            ),
        ),
    )
    assert (reading.failed, reading.not_failure) == (False, True)


NOISE: list[tuple[str, Reading]] = [
    ("merged tools", read({"gen_ai.tool.name": "(merged tools)"}, scope="gcp.vertex.agent")),
    ("the invocation", read({}, "invocation", "gcp.vertex.agent")),
    ("running tools", read({"logfire.msg": "running 2 tools"}, "running tools", "pydantic-ai")),
    ("a turn", read({"name": "turn"}, "Turn {turn} for agent x", "logfire.openai_agents")),
    ("a prompt", read({"langsmith.span.kind": "prompt", "gen_ai.operation.name": "chat"})),
    ("a pending span", read({"logfire.span_type": "pending_span", "gen_ai.tool.name": "add"})),
    ("a log", read({"logfire.span_type": "log", "gen_ai.request.model": "m"})),
    ("an advisor", read({"spring.ai.kind": "advisor", "gen_ai.operation.name": "framework"})),
    ("a step of the AI SDK", read({"gen_ai.operation.name": "agent_step"}, "step 1", "gen_ai")),
    ("a task of MLflow", read({"mlflow.spanType": '"TASK"'})),
    ("an event of Langfuse", read({"langfuse.observation.type": "event"})),
]


@pytest.mark.parametrize("reading", [r for _, r in NOISE], ids=[n for n, _ in NOISE])
def test_noise_says_why(reading: Reading) -> None:
    assert reading.step_type is None
    assert reading.noise_reason


AGENTS: list[tuple[str, Reading]] = [
    ("GenAI", read({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"})),
    ("its label", read({"gen_ai.operation.name": "invoke_agent"}, "invoke_agent boss")),
    ("Google ADK before 1.10", read({}, "agent_run [boss]", "gcp.vertex.agent")),
    ("Pydantic AI, format 1", read({"agent_name": "boss"}, "agent run", "pydantic-ai")),
    (
        "Vercel AI SDK",
        read({"ai.operationId": "ai.streamText", "ai.telemetry.functionId": "boss"}, scope="ai"),
    ),
    ("MLflow", read({"mlflow.spanType": '"AGENT"'}, "boss")),
    ("Langfuse", read({"langfuse.observation.type": "agent"}, "boss")),
    (
        "LangSmith",
        read({"langsmith.span.kind": "chain", "langsmith.metadata.lc_agent_name": "boss"}, "boss"),
    ),
    ("Logfire", read({"name": "boss"}, "Agent run: {name!r}", "logfire.openai_agents")),
    (
        "Azure AI Agents",
        read({"gen_ai.operation.name": "process_thread_run", "gen_ai.agent.name": "boss"}),
    ),
]


@pytest.mark.parametrize("reading", [r for _, r in AGENTS], ids=[n for n, _ in AGENTS])
def test_an_agent_is_named_alike_from_every_vocabulary(reading: Reading) -> None:
    assert reading.step_type is StepType.AGENT_RUN
    assert (reading.name, reading.agent_name) == ("boss", "boss")


def test_the_model_in_a_label_is_no_agent() -> None:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.request.model": "m",
    }
    assert read(attributes, "invoke_agent m", "gen_ai").agent_name is None


SESSIONS: list[tuple[str, dict[str, Json]]] = [
    ("", {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s1"}),
    ("gcp.vertex.agent", {"gcp.vertex.agent.session_id": "s1"}),
    ("ai", {"ai.operationId": "ai.toolCall", "ai.telemetry.metadata.sessionId": "s1"}),
    ("langfuse-sdk", {"langfuse.observation.type": "tool", "session.id": "s1"}),
    ("langsmith", {"langsmith.span.kind": "llm", "langsmith.metadata.thread_id": "s1"}),
    ("", {"mlflow.spanType": '"AGENT"', "mlflow.trace.session": '"s1"'}),
]


@pytest.mark.parametrize(("scope", "attributes"), SESSIONS)
def test_a_session_is_found_in_every_vocabulary(scope: str, attributes: dict[str, Json]) -> None:
    assert read(attributes, "call_llm", scope).session_id == "s1"


def test_a_session_that_is_null_is_none() -> None:
    assert (
        read(
            {"group_id": "null"}, "OpenAI Agents trace: {name}", "logfire.openai_agents"
        ).session_id
        is None
    )


@pytest.mark.parametrize("scope", ["", "openinference.instrumentation.agno"])
def test_what_a_tool_takes_is_not_what_it_got(scope: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    attributes: dict[str, Json] = {"openinference.span.kind": "TOOL", "tool.name": "add"}
    assert read({**attributes, "tool.parameters": json.dumps(schema)}, scope=scope).args is UNSET


@pytest.mark.parametrize("cut", ['{"a": 1, "b": "xxx', "<not serializable>", "N/A", "__REDACTED__"])
def test_arguments_that_are_cut_or_withheld_are_unknown(cut: str) -> None:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": cut,
    }
    assert read(attributes).args is UNSET


def test_a_call_without_arguments_is_known_to_have_none() -> None:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": "{}",
    }
    assert read(attributes).args == {}


def test_the_tools_of_adk_1_lie_below_the_model_call_and_count_no_call_twice() -> None:
    def adk(id: int, parent: int | None, name: str, **attributes: Json) -> Span:
        given = {k.replace("__", "."): v for k, v in attributes.items()}
        return span(id, parent, id, name=name, attributes=given, scope_name="gcp.vertex.agent")

    model: dict[str, Json] = {
        "gen_ai__request__model": "m",
        "gen_ai__usage__input_tokens": 4,
        "gen_ai__usage__output_tokens": 1,
    }
    found = trajectory(
        [
            adk(1, None, "invocation"),
            adk(2, 1, "agent_run [boss]"),
            adk(3, 2, "call_llm", **model),
            adk(4, 3, "generate_content m", gen_ai__operation__name="generate_content", **model),
            adk(5, 4, "execute_tool add", gen_ai__tool__name="add"),
        ]
    )
    assert kinds(found) == [("agent_run", "boss"), ("model_generation", "m"), ("tool_call", "add")]
    assert found.model_calls == 1
    assert found.tokens is not None
    assert (found.tokens.input, found.tokens.output) == (4, 1)


def test_ai_sdk_3_to_6_write_a_tool_call_in_several_ways() -> None:
    for calls in (
        [{"toolCallType": "function", "toolCallId": "c1", "toolName": "add", "args": '{"a":1}'}],
        [{"toolCallId": "c1", "toolName": "add", "input": '{"a": 1}'}],
        [{"toolCallId": "c1", "toolName": "add", "input": {"a": 1}}],
    ):
        reading = read(
            {"ai.operationId": "ai.streamText.doStream", "ai.response.toolCalls": json.dumps(calls)}
        )
        assert reading.requests == (ToolRequest("add", "c1", {"a": 1}),)
    older = read(
        {"ai.operationId": "ai.streamText.doStream", "ai.result.toolCalls": json.dumps(calls)}
    )
    assert older.requests == (ToolRequest("add", "c1", {"a": 1}),)


def test_a_generated_object_is_one_generation() -> None:
    found = trajectory(
        [
            span(1, attributes={"ai.operationId": "ai.generateObject", "ai.model.id": "m"}),
            span(2, 1, 1, attributes={"ai.operationId": "ai.generateObject.doGenerate"}),
        ]
    )
    assert kinds(found) == [("model_generation", "m")]
    assert found.model_calls == 1


def test_embeddings_of_the_ai_sdk_are_one_step() -> None:
    found = trajectory(
        [
            span(1, attributes={"ai.operationId": "ai.embedMany", "ai.model.id": "m"}),
            span(2, 1, 1, attributes={"ai.operationId": "ai.embedMany.doEmbed"}),
        ]
    )
    assert kinds(found) == [("embedding", "m")]


def test_a_tool_the_provider_ran_is_marked() -> None:
    call = {"toolCallId": "c1", "toolName": "web_search", "input": {}, "providerExecuted": True}
    attributes: dict[str, Json] = {"ai.operationId": "ai.generateText.doGenerate"}
    attributes["ai.response.toolCalls"] = json.dumps([call])
    (found,) = tool_calls(trajectory([span(1, attributes=attributes)]))
    assert (found.step_type, found.executed, found.success) == ("provider_tool_call", False, None)


def test_a_guardrail_says_whether_it_was_triggered() -> None:
    reading = read(
        {"name": "pii", "triggered": True},
        "Guardrail {name!r} {triggered=}",
        "logfire.openai_agents",
    )
    assert (reading.step_type, reading.name, reading.fields) == (
        "guardrail",
        "pii",
        {"triggered": True},
    )


def test_a_client_of_logfire_is_a_model_call() -> None:
    call = {"id": "c1", "function": {"name": "add", "arguments": '{"a":1}'}}
    usage = {"prompt_tokens": 4, "completion_tokens": 1}
    answer = {"message": {"tool_calls": [call]}, "usage": usage}
    reading = read(
        {"request_data": "{}", "response_data": json.dumps(answer)}, scope="logfire.openai"
    )
    assert reading.is_model_call
    assert reading.requests == (ToolRequest("add", "c1", {"a": 1}),)
    assert reading.usage is not None
    assert (reading.usage.input, reading.usage.output) == (4, 1)


LOST_SCOPES: list[tuple[str, dict[str, Json], StepType]] = [
    ("Function: {name}", {"name": "add", "input": "{}"}, StepType.TOOL_CALL),
    ("Agent run: {name!r}", {"name": "boss"}, StepType.AGENT_RUN),
    ("handoff to clerk", {"openinference.span.kind": "TOOL"}, StepType.HANDOFF),
]


@pytest.mark.parametrize(("label", "attributes", "step_type"), LOST_SCOPES)
def test_labels_of_one_author_stand_in_for_a_scope_that_was_lost(
    label: str, attributes: dict[str, Json], step_type: StepType
) -> None:
    assert read(attributes, label).step_type is step_type
    assert read(attributes, label, "somebody.else").step_type is not step_type
