"""What JavaScript's frameworks and exporters write their own way."""

import json

import pytest

from tests.support.spans import span
from tests.unit.conventions.shapes import event, read, tool_calls, trajectory
from trajscope.conventions._messages import find_requests, find_responses
from trajscope.model.reading import StepType, Usage
from trajscope.model.span import Json


def test_genkit_tells_actions_by_their_subtype() -> None:
    def action(subtype: str, name: str, **more: Json) -> dict[str, Json]:
        return {
            "genkit:type": "action",
            "genkit:metadata:subtype": subtype,
            "genkit:name": name,
            **{f"genkit:{k}": v for k, v in more.items()},
        }

    answer = {
        "finishReason": "stop",
        "message": {
            "role": "model",
            "content": [{"toolRequest": {"name": "add", "ref": "c1", "input": {"a": 1}}}],
        },
        "usage": {"inputTokens": 20, "outputTokens": 7},
    }
    call = read(action("model", "googleai/gemini-2.5-flash", output=json.dumps(answer)))
    assert (call.model, call.provider, call.usage) == (
        "gemini-2.5-flash",
        "googleai",
        Usage(20, 7, None, None),
    )
    assert [(r.name, r.call_id, r.args) for r in call.requests] == [("add", "c1", {"a": 1})]
    tool = read(action("tool", "add", input='{"a":1}', output='{"sum":2}', state="success"))
    assert (tool.step_type, tool.name, tool.args, tool.result) == (
        StepType.TOOL_CALL,
        "add",
        {"a": 1},
        {"sum": 2},
    )
    assert read(action("tool", "add", input="{}", state="error")).failed
    assert read(action("flow", "plan")).step_type is StepType.WORKFLOW_RUN
    step = read({"genkit:type": "flowStep", "genkit:name": "prep"})
    assert (step.step_type, step.name) == (StepType.WORKFLOW_STEP, "prep")
    assert read({"genkit:type": "util", "genkit:name": "generate"}).step_type is None


def test_genkit_results_stand_in_tool_responses() -> None:
    held = [{"toolResponse": {"name": "add", "ref": "c1", "output": {"sum": 2}}}]
    (found,) = find_responses([{"role": "tool", "content": held}])
    assert (found.name, found.call_id, found.result) == ("add", "c1", {"sum": 2})
    assert find_requests(held) == ()


def test_a_denied_call_of_the_ai_sdk_failed() -> None:
    output: dict[str, Json] = {"type": "execution-denied", "reason": "too costly"}
    part: Json = {"type": "tool-result", "toolCallId": "c1", "toolName": "add", "output": output}
    (found,) = find_responses([{"role": "tool", "content": [part]}])
    assert (found.failed, found.failure) == (True, "execution denied: too costly")


def ai_call(**attributes: Json) -> dict[str, Json]:
    return {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "add",
        **{k.replace("__", "."): v for k, v in attributes.items()},
    }


def test_a_status_that_a_processor_spread_is_no_failure() -> None:
    spread = {"status_code": "ERROR", "status_message": "bad id"}
    assert read(ai_call(ai__toolCall__result='"ok"'), **spread).failed is None
    assert read(ai_call(), **spread).failed
    own = event("exception", exception__message="bad id")
    assert read(ai_call(ai__toolCall__result='"ok"'), **spread, events=(own,)).failed


def test_langsmith_writes_an_exception_under_the_status_ok() -> None:
    attributes: dict[str, Json] = {"langsmith.span.kind": "tool", "gen_ai.tool.name": "add"}
    raised = event("exception", exception__type="Error", exception__message="bad id")
    found = read(attributes, scope="langsmith", status_code="OK", events=(raised,))
    assert (found.failed, found.failure) == (True, "bad id")
    stopped = event("exception", exception__message="GraphInterrupt()")
    assert not read(attributes, scope="langsmith", status_code="OK", events=(stopped,)).failed
    bare = read({**attributes, "gen_ai.completion": '{"outputs":"18 C"}'}, scope="langsmith")
    assert bare.result == "18 C"


def test_ids_that_the_leaves_have_lost_stand_in_the_answer() -> None:
    leaf = "llm.output_messages.0.message.tool_calls.0.tool_call.function."
    answer = {"tool_calls": [{"name": "add", "args": {"a": 1}, "type": "tool_call", "id": "c1"}]}
    attributes: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        leaf + "name": "add",
        leaf + "arguments": '{"a": 1}',
        "output.value": json.dumps(answer),
    }
    assert [r.call_id for r in read(attributes).requests] == ["c1"]
    other = {**attributes, "output.value": json.dumps({**answer, "tool_calls": []})}
    assert [(r.name, r.call_id) for r in read(other).requests] == [("add", None)]


def test_where_a_graph_begins_is_no_step() -> None:
    metadata = {"ls_integration": "langgraph", "langgraph_node": "__start__"}
    found = read(
        {"openinference.span.kind": "CHAIN", "metadata": json.dumps(metadata)},
        "__start__",
        "@arizeai/openinference-instrumentation-langchain",
    )
    assert found.step_type is None


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({"error": True, "message": "Tool input validation failed"}, True),
        ({"error": True}, None),
        ({"error": False, "message": "sent"}, None),
    ],
)
def test_mastra_says_of_rejected_arguments_that_error_is_true(
    result: dict[str, Json], failed: bool | None
) -> None:
    found = read(
        {
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": "add",
            "gen_ai.tool.call.result": json.dumps(result),
        },
        status_code="OK",
    )
    assert found.failed is failed


def test_mastra_shows_a_model_call_again_when_a_run_is_resumed() -> None:
    def inner(kind: str, **more: Json) -> bool:
        known: dict[str, Json] = {"mastra.span.type": kind, "mastra.metadata.resumed": True}
        return read({**known, **{k.replace("__", "."): v for k, v in more.items()}}).is_model_call

    asked = {"gen_ai__response__finish_reasons": '["tool-calls"]'}
    assert not inner("model_step")
    assert inner("model_step", mastra__model_step__input="[]")
    assert not inner("model_inference", **asked)
    assert inner("model_inference", **asked, mastra__completion_start_time="2026-12-03T08:00:00Z")
    assert inner("model_inference", gen_ai__response__finish_reasons='["stop"]')


def test_nobody_knows_how_a_client_tool_of_mastra_ended() -> None:
    known: dict[str, Json] = {"mastra.span.type": "client_tool_call", "gen_ai.tool.name": "ask"}
    (call,) = tool_calls(
        trajectory([span(1, attributes={**known, "mastra.metadata.args": '{"x":1}'})])
    )
    assert (call.tool_args, call.success) == ({"x": 1}, None)


def test_gemini_cli_schedules_a_refused_call_and_runs_none() -> None:
    def scheduled(kind: str) -> dict[str, Json]:
        request: dict[str, Json] = {"callId": "c1", "name": "nope", "args": {"x": 1}}
        told = {"functionResponse": {"name": "nope", "response": {"error": "not found"}}}
        answer = {"error": {}, "errorType": kind, "responseParts": [told]}
        done = {"request": request, "status": "error", "response": answer}
        return {
            "gen_ai.operation.name": "schedule_tool_calls",
            "gen_ai.input.messages": json.dumps([request]),
            "gen_ai.output.messages": json.dumps([done]),
        }

    refused = read(scheduled("tool_not_registered"), scope="gemini-cli")
    assert (refused.step_type, refused.name, refused.tool_call_id) == (
        StepType.TOOL_CALL,
        "nope",
        "c1",
    )
    assert (refused.failed, refused.failure) == (True, "not found")
    assert read(scheduled("file_not_found"), scope="gemini-cli").step_type is None


def test_a_command_of_gemini_cli_that_ended_with_a_code_failed() -> None:
    done = {"status": "success", "response": {"data": {"exitCode": 3, "isError": True}}}
    found = read(
        {
            "gen_ai.operation.name": "tool_call",
            "gen_ai.tool.name": "run_shell_command",
            "gen_ai.output.messages": json.dumps(done),
        },
        scope="gemini-cli",
    )
    assert found.failed


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"type": "ai", "name": "boss", "content": "done"}, StepType.AGENT_RUN),
        (
            {
                "lc": 1,
                "id": ["langchain_core", "messages", "AIMessage"],
                "kwargs": {"name": "boss"},
            },
            StepType.AGENT_RUN,
        ),
        ({"type": "ai", "name": "sub", "content": "boss"}, StepType.WORKFLOW_RUN),
        ({"type": "tool", "name": "boss", "content": "done"}, StepType.WORKFLOW_RUN),
        ({"type": "ai", "content": "boss"}, StepType.WORKFLOW_RUN),
    ],
)
def test_a_graph_whose_model_speaks_under_its_name_is_an_agent(
    message: dict[str, Json], kind: StepType
) -> None:
    output = json.dumps({"messages": [{"type": "human", "content": "boss, go"}, message]})
    attributes: dict[str, Json] = {
        "openinference.span.kind": "CHAIN",
        "metadata": '{"ls_integration": "langgraph"}',
        "output.value": output,
    }
    scope = "openinference.instrumentation.langchain"
    assert read(attributes, "boss", scope).step_type is kind


def test_traceloop_names_a_tool_of_langchain_js_after_its_class() -> None:
    kwargs = {"name": "add", "tool_call_id": "c1", "content": "2", "status": "success"}
    message = {"lc": 1, "id": ["langchain_core", "messages", "ToolMessage"], "kwargs": kwargs}
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "DynamicStructuredTool",
        "traceloop.entity.input": json.dumps({"args": ['{"a":1}']}),
        "traceloop.entity.output": json.dumps({**message, "type": "constructor"}),
    }
    scope = "@traceloop/instrumentation-langchain"
    found = read(attributes, scope=scope)
    assert (found.name, found.args, found.tool_call_id) == ("add", {"a": 1}, "c1")
    del attributes["traceloop.entity.output"]
    assert read(attributes, scope=scope).name == "DynamicStructuredTool"
    glue: dict[str, Json] = {
        "traceloop.span.kind": "workflow",
        "traceloop.workflow.name": "RunnableSequence",
    }
    assert read(glue, scope=scope).step_type is None


def test_voltagent_tells_a_root_by_its_entity_and_the_rest_by_its_span_type() -> None:
    entity: dict[str, Json] = {"entity.type": "agent", "entity.name": "boss", "entity.id": "b"}
    scope = "@voltagent/core"
    sums = {"usage.prompt_tokens": 60, "usage.completion_tokens": 21}
    root = read({**entity, **sums}, "boss", scope)
    assert (root.step_type, root.agent_name) == (StepType.AGENT_RUN, "boss")
    loop = read({**entity, "span.type": "llm", "llm.model": "m"}, "llm:generateText", scope)
    assert (loop.step_type, loop.is_model_call) == (StepType.MODEL_GENERATION, False)
    called = {"tool.name": "add", "tool.call.id": "c1", "tool.parameters": '{"_def":{}}'}
    given = {"input": '{"a":1}', "output": '{"sum":2}'}
    tool = read({**entity, "span.type": "tool", **called, **given}, "tool.execution:add", scope)
    assert (tool.name, tool.args, tool.result) == ("add", {"a": 1}, {"sum": 2})
    assert read({**entity, "span.type": "memory"}, "memory.read", scope).step_type is None
    found = trajectory(
        [
            span(1, attributes={**entity, **sums}, scope_name=scope),
            span(2, 1, attributes={**entity, "span.type": "llm"}, scope_name=scope),
        ]
    )
    assert found.model_calls is None
    assert found.tokens is not None
    assert (found.tokens.input, found.tokens.output) == (60, 21)
