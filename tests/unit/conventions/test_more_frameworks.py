"""smolagents, AutoGen, AG2, BeeAI, Haystack, OpenLIT, OTel's OpenAI Agents: what is their own."""

import json

import pytest

from tests.support.steps import become, recorder, tools
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.conventions._reprs import objects_in
from trajscope.model.span import Json

KIND = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
READ = Reader()

smol = recorder("openinference.instrumentation.smolagents")
autogen = recorder("openinference.instrumentation.autogen_agentchat")
ag2 = recorder("opentelemetry.instrumentation.ag2")
ag2_oi = recorder("openinference.instrumentation.ag2")
bee = recorder("openinference.instrumentation.beeai")
mine = recorder("my_application")
haystack_oi = recorder("openinference.instrumentation.haystack")
openlit_graph = recorder("openlit.instrumentation.langgraph")
openlit_agents = recorder("openlit.instrumentation.openai_agents")
openlit_chain = recorder("openlit.instrumentation.langchain")
otel_agents = recorder("opentelemetry.instrumentation.openai_agents")


class TestSmolagents:
    @pytest.mark.parametrize(
        ("given", "args"),
        [
            ({"args": [], "kwargs": {"city": "Faro"}, "sanitize": True}, {"city": "Faro"}),
            ({"args": ["Faro"], "kwargs": {"days": 2}}, {"city": "Faro", "days": 2}),
            ({"args": ["Faro", 2], "kwargs": {}}, {"city": "Faro", "days": 2}),
            ({"args": ["Faro", 2, 3], "kwargs": {}}, None),  # more than the schema has names for
        ],
    )
    def test_arguments_by_position_get_their_names_from_the_schema(
        self, given: Json, args: Json
    ) -> None:
        schema = json.dumps({"city": {"type": "string"}, "days": {"type": "integer"}})
        more = {KIND: "TOOL", "tool.name": "look", "tool.parameters": schema}
        (call,) = tools(smol(1, "SimpleTool", **more, **{"input.value": json.dumps(given)}))
        assert (call.name, call.tool_args) == ("look", args)

    def test_an_agent_that_is_called_like_a_tool_ran_as_its_run(self) -> None:
        asked = "llm.output_messages.0.message.tool_calls.0.tool_call."
        request = {
            asked + "id": "c1",
            asked + "function.name": "clerk",
            asked + "function.arguments": '{"task": "look"}',
        }
        found = become(
            smol(1, "boss.run", **{KIND: "AGENT"}, end_ns=99),
            smol(2, "Model.generate", 1, **{KIND: "LLM"}, **request),
            smol(20, "clerk.run", 1, **{KIND: "AGENT"}),
        )
        assert found == [
            "agent_run boss",
            "  model_generation Model.generate",
            "    tool_call clerk ok",
            "  agent_run clerk",
        ]


def test_autogen_tells_of_a_failure_in_the_next_request() -> None:
    result = {"name": "look", "content": "Error: gone", "call_id": "c1", "is_error": True}
    asked = "llm.output_messages.0.message.tool_calls.0.tool_call."
    told = "llm.input_messages.1."
    (call,) = tools(
        autogen(
            1,
            "create",
            **{KIND: "LLM", asked + "id": "c1", asked + "function.name": "look"},
            **{asked + "function.arguments": "{}"},
        ),
        autogen(
            20,
            "create",
            **{KIND: "LLM", told + "message.role": "function"},
            **{told + "function.0": json.dumps(result)},
        ),
    )
    assert (call.success, call.failure) == (False, "Error: gone")


class TestAg2:
    def test_usage_spans_and_managers_of_a_chat_are_no_steps(self) -> None:
        kind, name = "ag2.span.type", "gen_ai.agent.name"
        found = become(
            ag2(1, "conversation _User", **{kind: "conversation", name: "_User"}, end_ns=99),
            ag2(2, "invoke_agent chat_manager", 1, **{kind: "agent", name: "chat_manager"}),
            ag2(3, "invoke_agent clerk", 2, **{kind: "agent", name: "clerk"}),
            ag2(4, "chat m", 3, **{kind: "llm", "gen_ai.request.model": "m"}),
            ag2(5, "record_usage model_call", 3, **{kind: "usage", "gen_ai.response.model": "m"}),
        )
        assert found == ["workflow_run _User", "  agent_run clerk", "    model_generation m"]

    def test_a_call_and_its_result_stand_in_openinferences_own_attributes(self) -> None:
        more = {
            "tool.name": "look",
            "input.value": '{"arguments": "{\\"q\\": 1}", "name": "look"}',
            "tool_call.function.arguments": '{"q": 1}',
            "output.value": '[false, {"name": "look", "content": "Error: gone"}]',
        }
        (call,) = tools(ag2_oi(1, "look", **{KIND: "TOOL"}, **more, status_code="ERROR"))
        assert (call.tool_args, call.tool_result) == ({"q": 1}, "Error: gone")
        assert call.failure == "Error: gone"


def test_an_event_of_beeai_is_no_step_whatever_kind_it_has() -> None:
    wrapped = '{"input": {"q": 1}, "options": null}'
    spans = [
        bee(1, "look", **{KIND: "TOOL", "tool.name": "look", "input.value": wrapped}),
        bee(2, "error", 1, **{KIND: "TOOL", "metadata.path": "tool.look.error"}),
    ]
    assert become(*spans) == ["tool_call look ok"]
    assert [c.tool_args for c in tools(*spans)] == [{"q": 1}]


class TestHaystack:
    def test_the_component_that_an_agent_is_names_it(self) -> None:
        component = {"haystack.component.name": "clerk", "haystack.component.type": "Agent"}
        found = become(
            mine(1, "haystack.pipeline.run", end_ns=99),
            mine(2, "haystack.component.run", 1, **component, end_ns=90),
            mine(3, "haystack.agent.run", 2, end_ns=80),
            mine(4, "haystack.agent.step", 3, **{"haystack.agent.step": 0}),
            mine(5, "haystack.agent.step.tool", 4, **{"haystack.tool.name": "look"}),
        )
        assert found == [
            "workflow_run haystack.pipeline.run",
            "  agent_run clerk",
            "    tool_call look ok",
        ]

    def test_an_agent_inside_the_tools_of_another_is_another_run(self) -> None:
        invoker = {
            "haystack.component.name": "tool_invoker",
            "haystack.component.type": "ToolInvoker",
        }
        found = become(
            mine(1, "haystack.agent.run", end_ns=99),
            mine(2, "haystack.component.run", 1, **invoker),
            mine(3, "haystack.agent.run", 2),
        )
        assert found == ["agent_run haystack.agent.run", "  agent_run haystack.agent.run"]

    @pytest.mark.parametrize("error", [True, False])
    def test_what_became_of_a_call_stands_in_the_invokers_output(self, error: bool) -> None:
        call = {"tool_name": "look", "arguments": {"q": 1}, "id": "c1"}
        replies = {"replies": [{"role": "assistant", "content": [{"tool_call": call}]}]}
        result = {"result": "12 found", "origin": call, "error": error}
        told = {"tool_messages": [{"role": "tool", "content": [{"tool_call_result": result}]}]}
        kind, output = "haystack.component.type", "haystack.component.output"
        (found,) = tools(
            mine(
                1,
                "haystack.component.run",
                **{kind: "OpenAIChatGenerator", output: json.dumps(replies)},
            ),
            mine(20, "haystack.component.run", **{kind: "ToolInvoker", output: json.dumps(told)}),
        )
        assert (found.name, found.tool_args, found.success) == ("look", {"q": 1}, not error)

    def test_openinference_writes_reprs_of_its_objects(self) -> None:
        call = "ToolCall(tool_name='look', arguments={'q': \"it's\"}, id='c1', extra=None)"
        role = "ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=["
        told = f"{role}ToolCallResult(result='none', origin={call}, error=True)])"
        asked = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[{call}])"
        (found,) = tools(
            haystack_oi(
                1, "G.run", **{KIND: "LLM", "output.value": json.dumps({"replies": [asked]})}
            ),
            haystack_oi(
                20, "G.run", **{KIND: "LLM", "input.value": json.dumps({"messages": [told]})}
            ),
        )
        assert (found.tool_args, found.success, found.failure) == ({"q": "it's"}, False, "none")


class TestOpenLit:
    def test_nodes_and_turns_are_no_agents(self) -> None:
        op = {OPERATION: "invoke_agent"}
        name = "gen_ai.agent.name"
        assert become(
            openlit_graph(1, "invoke_workflow g", **{OPERATION: "invoke_workflow"}, end_ns=99),
            openlit_graph(2, "invoke_agent plan", 1, **op, **{name: "plan"}),
            openlit_graph(3, "invoke_agent model", 1, **op, **{name: "model"}),
        ) == ["workflow_run g", "  workflow_step plan"]
        assert become(
            openlit_agents(1, "invoke_agent", **op, end_ns=99),
            openlit_agents(2, "invoke_agent clerk", 1, **op, **{name: "clerk"}),
        ) == ["agent_run clerk"]

    @pytest.mark.parametrize(
        ("result", "value", "success"),
        [
            ("content='18 C' name='look' tool_call_id='c1'", "18 C", True),
            ("content=\"it's gone\" tool_call_id='c1' status='error'", "it's gone", False),
            ("content='18 C' and more", "content='18 C' and more", True),
        ],
    )
    def test_a_result_is_taken_out_of_the_repr_of_a_message(
        self, result: str, value: str, success: bool
    ) -> None:
        more = {OPERATION: "execute_tool", "gen_ai.tool.name": "look"}
        (call,) = tools(
            openlit_chain(1, "execute_tool look", **more, **{"gen_ai.tool.call.result": result})
        )
        assert (call.tool_result, call.success) == (value, success)


def test_otels_openai_agents_are_told_from_their_trace_and_turns() -> None:
    asked = "ResponseFunctionToolCall(arguments='{\"q\": 1}', call_id='c1', name='look')"
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": asked}]}])
    nobody = {"gen_ai.agent.name": "OpenAI Agent"}
    turn = {OPERATION: "unknown", **nobody}
    chat = {OPERATION: "chat", "gen_ai.output.messages": said, **nobody}
    spans = [
        otel_agents(1, "Agent workflow", **{OPERATION: "invoke_agent"}, end_ns=99),
        otel_agents(2, "unknown", 1, **turn, end_ns=90),
        otel_agents(
            3, "invoke_agent c", 2, **{OPERATION: "invoke_agent", "gen_ai.agent.name": "c"}
        ),
        otel_agents(
            4, "unknown", 3, **turn, status_code="ERROR", status_message="Tool not found: 'look'"
        ),
        otel_agents(5, "chat m", 4, **chat),
    ]
    assert become(*spans) == [
        "workflow_run Agent workflow",
        "  agent_run c",
        "    model_generation chat m",
        "      tool_call look failed",
    ]
    assert [name for t in assemble(spans, READ) for name in t.agents] == ["c"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A(x=1, y=[B(z='a)b')])", [{"x": 1, "y": [{"z": "a)b"}]}]),
        ("A(x=<function f at 0x7f>, y=<E.V: 3>)", [{"x": None, "y": 3}]),
        ("A(x=1", []),
        ("A(x=1 2)", []),
        ("NoA(x=1) A(1)", [{}]),
    ],
)
def test_objects_are_read_out_of_reprs(text: str, found: list[Json]) -> None:
    assert objects_in({"messages": [text]}, "A") == found
