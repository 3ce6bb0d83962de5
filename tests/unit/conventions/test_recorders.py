"""LiteLLM, recorders of OpenLLMetry, LangWatch, Laminar, AgentOps: what is their own."""

import json

import pytest

from tests.support.steps import become, recorder, tools
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Json

OPERATION = "gen_ai.operation.name"
READ = Reader()

lite = recorder("litellm")
index = recorder("opentelemetry.instrumentation.llamaindex")
agno = recorder("opentelemetry.instrumentation.agno")
mcp = recorder("opentelemetry.instrumentation.mcp.instrumentation")
TASK, WORKFLOW, TOOL = ({"traceloop.span.kind": k} for k in ("task", "workflow", "tool"))


class TestLiteLLM:
    def test_an_answer_whose_leaves_lost_its_id_is_found_in_the_whole_input(self) -> None:
        oi = recorder("openinference.instrumentation.litellm")
        kind = {"openinference.span.kind": "LLM"}
        call = "llm.output_messages.0.message.tool_calls.0.tool_call."
        asked = {call + "id": "c1", call + "function.name": "look"}
        told = "llm.input_messages.0.message."
        whole = {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "18 C"}]}
        (found,) = tools(
            oi(1, "completion", **kind, **asked, **{call + "function.arguments": "{}"}),
            oi(
                20,
                "completion",
                **kind,
                **{told + "role": "tool", told + "content": "18 C"},
                **{"input.value": json.dumps(whole)},
            ),
        )
        assert (found.tool_result, found.success) == ("18 C", True)

    @pytest.mark.parametrize(
        ("function", "became"),
        [
            ("acompletion", ["model_generation m"]),
            ("responses", ["model_generation m"]),
            ("aanthropic_messages", ["model_generation m"]),
            ("aembedding", ["embedding m"]),
            ("arerank", []),
        ],
    )
    def test_a_request_is_what_the_function_does(self, function: str, became: list[str]) -> None:
        asked = {OPERATION: function, "gen_ai.request.model": "m"}
        assert become(lite(1, "litellm_request", **asked)) == became

    def test_what_the_provider_answered_has_the_ids_of_calls(self) -> None:
        calls = [{"id": "c1", "function": {"name": "look", "arguments": '{"n": 1}'}}]
        answer = [{"finish_reason": "tool_calls", "message": {"tool_calls": calls}}]
        told = [{"role": "tool", "tool_call_id": "c1", "content": "it's there"}]
        found = tools(
            lite(1, "litellm_request", **{OPERATION: "chat"}),
            lite(2, "raw_gen_ai_request", 1, **{"llm.x.choices": repr(answer)}),
            lite(20, "my generation", **{"llm.x.messages": repr(told)}),
        )
        assert [(c.name, c.tool_args, c.tool_result) for c in found] == [
            ("look", {"n": 1}, "it's there")
        ]

    def test_requests_inside_a_span_of_the_programs_count_each(self) -> None:
        mine = recorder("my_application")
        (found,) = assemble(
            [
                mine(1, "work", **{OPERATION: "chat", "gen_ai.request.model": "m"}, end_ns=99),
                lite(2, "raw_gen_ai_request", 1, **{"llm.x.usage": "{'prompt_tokens': 3}"}),
                lite(20, "raw_gen_ai_request", 1, **{"llm.x.usage": "{'prompt_tokens': 4}"}),
            ],
            READ,
        )
        assert found.model_calls == 2
        assert found.tokens is not None
        assert found.tokens.input == 7

    def test_a_call_that_lost_its_id_is_answered_by_the_name_the_history_gives(self) -> None:
        asked = "gen_ai.completion.0.function_call."
        calls = [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]
        history = [
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "parts": [{"type": "text", "content": "9"}], "tool_call_id": "c1"},
        ]
        (found,) = tools(
            lite(
                1, "chat", **{OPERATION: "chat", asked + "name": "look", asked + "arguments": "{}"}
            ),
            lite(20, "chat", **{OPERATION: "chat", "gen_ai.input.messages": json.dumps(history)}),
        )
        assert (found.tool_result, found.success) == ("9", True)


class TestLlamaIndexThroughOpenLLMetry:
    @pytest.mark.parametrize(
        ("name", "kind", "became"),
        [
            ("FunctionAgent.workflow", WORKFLOW, ["agent_run FunctionAgent"]),
            ("AgentWorkflow.workflow", WORKFLOW, ["workflow_run AgentWorkflow"]),
            ("main.<locals>.Flow.workflow", WORKFLOW, ["workflow_run Flow"]),
            ("SentenceSplitter.workflow", WORKFLOW, []),
            ("FunctionAgent.task", TASK, []),
            ("OpenAI.task", TASK, []),
        ],
    )
    def test_a_span_is_told_by_its_class(self, name: str, kind: Json, became: list[str]) -> None:
        assert isinstance(kind, dict)
        assert become(index(1, name, **kind)) == became

    def test_the_step_that_ran_a_tool_is_the_call_and_tells_how_it_ended(self) -> None:
        inner = {"tool_name": "look", "raw_output": "no such page", "is_error": True}
        said = {"tool_name": "look", "tool_id": "c1", "tool_output": inner}
        step = {"tool.name": "look", "tool.arguments": '{"n": 1}'}
        (call,) = tools(
            index(1, "BaseWorkflowAgent.task", **TASK, **step, **output(said)),
            index(2, "FunctionTool.task", 1, **TASK, **output(inner)),
        )
        assert (call.name, call.tool_args, call.tool_call_id) == ("look", {"n": 1}, "c1")
        assert (call.success, call.failure) == (False, "no such page")

    def test_an_unknown_tool_fails_with_what_the_model_is_told(self) -> None:
        inner = {"raw_output": None, "is_error": True, "blocks": [{"text": "Tool x not found"}]}
        step = {"tool.name": "x", "tool.arguments": "{}"}
        (call,) = tools(
            index(1, "BaseWorkflowAgent.task", **TASK, **step, **output({"tool_output": inner}))
        )
        assert (call.success, call.failure) == (False, "Tool x not found")

    def test_a_retrieval_is_the_method_that_was_called_not_its_parts(self) -> None:
        asked = {"traceloop.entity.input": '{"str_or_query_bundle": "when?"}'}
        part = {"traceloop.entity.input": '{"query_bundle": {}}'}
        found = become(
            index(1, "VectorIndexRetriever.task", **TASK, **asked, **output([{"node": {}}])),
            index(2, "VectorIndexRetriever.task", 1, **TASK, **part),
        )
        assert found == ["retrieval VectorIndexRetriever"]


class TestAgnoThroughOpenLLMetry:
    @pytest.mark.parametrize(
        ("said", "result", "failure"),
        [
            ("status='success' result='18 C' error=None", "18 C", None),
            ("status='success' result=Answer(n=1) error=None", "Answer(n=1)", None),
            ("status='success' result=<generator object f at 0x7f> error=None", None, None),
            ("status='failure' result=None error='no such page'", "no such page", "no such page"),
            ("status='failure' result=None error=None", None, "the tool failed"),
        ],
    )
    def test_what_came_of_a_call_stands_in_what_is_printed(
        self, said: str, result: Json, failure: str | None
    ) -> None:
        more = {"traceloop.entity.output": said + " updated_session_state=None images=None"}
        (call,) = tools(agno(1, "look.tool", **TOOL, **more, status_code="OK"))
        assert (call.tool_result, call.failure) == (result, failure)
        assert call.success is (failure is None)

    def test_a_team_is_an_agent(self) -> None:
        found = become(agno(1, "desk.team", **WORKFLOW, **{"agno.team.name": "desk"}))
        assert found == ["agent_run desk"]


class TestMCPThroughOpenLLMetry:
    def test_client_and_server_are_one_call_of_what_was_wrapped(self) -> None:
        given = {"traceloop.entity.input": '{"tool_name": "add", "arguments": {"a": 1}}'}
        name = {"traceloop.entity.name": "add"}
        served = {"traceloop.workflow.name": "calc.mcp"}
        (call,) = tools(
            mcp(1, "add.tool", **TOOL, **name, **given, **output({"result": "2"}), end_ns=50),
            mcp(2, "ResponseStreamWriter", 1),
            mcp(3, "add.tool", 2, **TOOL, **name, **given, **served, **output([{"type": "text"}])),
        )
        assert (call.name, call.tool_args, call.tool_result) == ("add", {"a": 1}, "2")
        assert (call.step_type, getattr(call, "mcp_server", None)) == ("mcp_tool_call", "calc")


class TestRecordersOfDecoratedFunctions:
    """LangWatch, Laminar and AgentOps: names are those of the functions."""

    mine = staticmethod(recorder("any_scope"))

    def test_langwatch_wraps_values_in_their_type(self) -> None:
        wrapped = {
            "langwatch.span.type": "tool",
            "langwatch.input": '{"type": "json", "value": {"n": 1}}',
            "langwatch.output": '{"type": "text", "value": "18 C"}',
        }
        (call,) = tools(self.mine(1, "look", **wrapped))
        assert (call.name, call.tool_args, call.tool_result) == ("look", {"n": 1}, "18 C")

    @pytest.mark.parametrize(
        ("attributes", "became"),
        [
            ({"langwatch.span.type": "agent"}, ["agent_run helper"]),
            ({"langwatch.span.type": "rag"}, ["retrieval helper"]),
            ({"langwatch.span.type": "component"}, []),
            ({"lmnr.span.type": "DEFAULT"}, []),
            ({"lmnr.span.type": "TOOL"}, ["tool_call helper ok"]),
            ({"agentops.span.kind": "task"}, []),
            ({"agentops.span.kind": "agent", "operation.name": "boss"}, ["agent_run boss"]),
            (
                {"agentops.span.kind": "AgentOpsSpanKindValues.TOOL", "tool.name": "look"},
                ["tool_call look ok"],
            ),
        ],
    )
    def test_kinds(self, attributes: dict[str, Json], became: list[str]) -> None:
        assert become(self.mine(1, "helper", **attributes)) == became

    def test_laminar_says_in_the_choices_why_a_model_stopped(self) -> None:
        choices = [{"finish_reason": "tool_calls", "message": {"content": None}}]
        said = {"lmnr.span.type": "LLM", "gen_ai.output.messages": json.dumps(choices)}
        (found,) = assemble([self.mine(1, "openai.chat", **said)], READ)
        (step,) = found.steps
        assert getattr(step, "finish_reason", None) == "tool_calls"

    def test_what_agentops_calls_a_tool_call_was_asked_for_and_is_answered_later(self) -> None:
        kind = {"agentops.span.kind": "AgentOpsSpanKindValues.TOOL"}
        asked = {"tool.name": "look", "tool.parameters": '{"n": 1}', "tool.call.id": "c1"}
        told = {"gen_ai.prompt.0.role": "tool", "gen_ai.prompt.0.content": "unknown tool look"}
        (call,) = tools(
            self.mine(1, "work", end_ns=99),
            self.mine(2, "chat", 1, **{OPERATION: "chat"}),
            self.mine(3, "tool_call.look", 2, **kind, **asked),
            self.mine(
                20, "chat", 1, **{OPERATION: "chat", "gen_ai.prompt.0.tool_call_id": "c1"}, **told
            ),
        )
        assert (call.name, call.tool_args, call.executed) == ("look", {"n": 1}, False)
        assert (call.success, call.failure) == (False, "unknown tool look")


class TestOpenLIT:
    crew = staticmethod(recorder("openlit.instrumentation.crewai"))
    adk = staticmethod(recorder("openlit.instrumentation.google_adk"))
    AGENT, FLOW = {OPERATION: "invoke_agent"}, {OPERATION: "invoke_workflow"}

    def test_methods_of_a_flow_are_its_steps_and_those_of_an_agent_are_nothing(self) -> None:
        flow = {**self.FLOW, "gen_ai.workflow.name": "OrderFlow"}
        own = {**self.FLOW, "gen_ai.workflow.name": "AgentExecutor"}
        assert become(
            self.crew(1, "invoke_workflow OrderFlow", **flow, end_ns=50),
            self.crew(2, "invoke_agent find", 1, **self.AGENT),
            self.crew(20, "invoke_agent helper", 1, **self.AGENT, **{"gen_ai.agent.name": "h"}),
            self.crew(21, "invoke_workflow AgentExecutor", 20, **own),
            self.crew(22, "invoke_agent call_llm", 21, **self.AGENT),
        ) == ["workflow_run OrderFlow", "  workflow_step find", "  agent_run h"]

    def test_the_runner_of_adk_is_no_agent(self) -> None:
        agent = {**self.AGENT, "gen_ai.agent.name": "helper"}
        runner = {**self.AGENT, "gen_ai.agent.name": "demo", "gen_ai.execution.mode": "async"}
        found = become(
            self.adk(1, "invoke_agent demo", **runner),
            self.adk(2, "invoke_agent helper", 1, **agent),
        )
        assert found == ["agent_run helper"]


def output(value: Json) -> dict[str, str]:
    return {"traceloop.entity.output": json.dumps(value)}
