"""LlamaIndex, DSPy, CrewAI and Agno by OpenInference: other versions, content off, oddities."""

import json
from typing import Any

import pytest

from tests.support.steps import become, recorder, tools
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.reading import StepType
from trajscope.model.span import Json, Span

KIND = "openinference.span.kind"
llama = recorder("openinference.instrumentation.llama_index")
dspy = recorder("openinference.instrumentation.dspy")
crew = recorder("openinference.instrumentation.crewai")
agno = recorder("openinference.instrumentation.agno")
READ = Reader()


def agents_of(*spans: Span) -> list[str]:
    return [name for t in assemble(spans, READ) for name in t.agents]


class TestLlamaIndex:
    def turn(self, id: int, parent: int, ev: str) -> Span:
        value = json.dumps({"ctx": "<Context>", "ev": ev})
        more = {KIND: "CHAIN", "input.value": value}
        return llama(id, "BaseWorkflowAgent.setup_agent", parent, **more)

    @pytest.mark.parametrize(
        ("event", "name"),
        [
            ("AgentInput(input=[], current_agent_name='clerk')", "clerk"),
            ('AgentInput(input=[], current_agent_name="Ann\'s clerk")', "Ann's clerk"),
            ("AgentInput(input=[text=\"current_agent_name='evil')\"])", "FunctionAgent"),
            ("AgentInput(input=[], current_agent_na", "FunctionAgent"),
        ],
    )
    def test_the_agents_name_stands_at_the_end_of_an_event(self, event: str, name: str) -> None:
        run = llama(1, "FunctionAgent.run", **{KIND: "CHAIN"})
        assert agents_of(run, self.turn(2, 1, event)) == [name]

    def test_an_agent_class_of_the_users_is_known_by_its_steps(self) -> None:
        state = json.dumps({"init_state": {"config": {"steps": {"run_agent_step": {}}}}})
        run = llama(1, "Clerk.run", **{KIND: "CHAIN", "input.value": state})
        assert become(run) == ["agent_run Clerk"]

    def test_a_workflow_and_its_steps_are_known_without_content(self) -> None:
        found = become(
            llama(1, "Orders.run", **{KIND: "CHAIN", "input.value": "__REDACTED__"}),
            llama(2, "main.<locals>.Orders.check", 1, **{KIND: "CHAIN"}),
            llama(3, "RetrieverQueryEngine.query", 2, **{KIND: "CHAIN"}),
        )
        assert found == ["workflow_run Orders", "  workflow_step check"]

    def test_a_pipeline_is_no_workflow(self) -> None:
        found = become(
            llama(1, "IngestionPipeline.run", **{KIND: "CHAIN"}),
            llama(2, "OpenAIEmbedding._get_text_embeddings", 1, **{KIND: "EMBEDDING"}),
        )
        assert found == ["embedding OpenAIEmbedding._get_text_embeddings"]

    def test_a_streamed_call_wrapped_in_itself_is_one(self) -> None:
        model = {KIND: "LLM", "llm.model_name": "m"}
        spans = [
            llama(1, "OpenAI.astream_chat_with_tools", **model),
            llama(2, "OpenAI._prepare_chat_with_tools", 1, **model),
            llama(3, "OpenAI.astream_chat", 1, **model, **{"llm.token_count.prompt": 4}),
            llama(4, "OpenAI.get_tool_calls_from_response", None, **model),
        ]
        (found,) = assemble(spans, READ)
        assert found.model_calls == 1
        assert become(*spans) == ["model_generation m"]

    def test_what_the_tool_returned_is_the_result(self) -> None:
        output = {"blocks": [], "raw_input": {}, "raw_output": {"n": 1}, "is_error": False}
        (call,) = tools(self.call(output))
        assert (call.tool_result, call.success) == ({"n": 1}, True)

    def test_an_error_told_in_the_tool_output(self) -> None:
        output = {"raw_input": {}, "raw_output": "no such order", "is_error": True, "content": "no"}
        (call,) = tools(self.call(output))
        assert (call.tool_result, call.success) == ("no such order", False)

    def call(self, output: Json) -> Span:
        more = {KIND: "TOOL", "tool.name": "get", "output.value": json.dumps(output)}
        return llama(1, "FunctionTool.acall", **more)

    def test_an_injected_context_is_no_argument_of_the_models(self) -> None:
        calls = tools(*self.parallel({"ctx": "<Context object at 0x1>"}))
        assert [c.tool_args for c in calls] == [{"city": "Rome"}, {"city": "Oslo"}]
        assert [c.tool_call_id for c in calls] == ["c2", "c1"]

    def test_arguments_that_differ_from_the_request_stay_as_they_ran(self) -> None:
        calls = tools(*self.parallel({"city": "Bergen"}))
        assert [c.tool_args for c in calls] == [{"city": "Bergen"}, {"city": "Bergen"}]

    def parallel(self, injected: dict[str, Json]) -> list[Span]:
        """A model asks for Oslo and Rome; Rome runs first, with something put in."""
        asked: dict[str, Any] = {}
        for i, city in enumerate(["Oslo", "Rome"]):
            at = f"llm.output_messages.0.message.tool_calls.{i}.tool_call."
            arguments = json.dumps({"city": city})
            asked |= {at + "id": f"c{i + 1}", at + "function.name": "get"}
            asked |= {at + "function.arguments": arguments}

        def call(id: int, city: str) -> Span:
            value = json.dumps({"kwargs": {"city": city, **injected}})
            more = {KIND: "TOOL", "tool.name": "get", "input.value": value}
            return llama(id, "FunctionTool.acall", 1, **more)

        model = llama(2, "OpenAI.achat", 1, **{KIND: "LLM", "llm.model_name": "m"}, **asked)
        run = llama(1, "FunctionAgent.run", end_ns=99, **{KIND: "CHAIN"})
        return [run, model, call(13, "Rome"), call(14, "Oslo")]

    def test_agents_of_one_workflow_are_named_by_the_steps_around_their_calls(self) -> None:
        step = "AgentWorkflow.run_agent_step"
        event = json.dumps({"ev": "AgentSetup(input=[], current_agent_name='clerk')"})
        spans = [
            llama(1, "AgentWorkflow.run", end_ns=99, **{KIND: "CHAIN"}),
            llama(2, step, 1, **{KIND: "CHAIN", "input.value": event}),
            llama(3, "OpenAI.achat", 2, **{KIND: "LLM", "llm.model_name": "m"}),
        ]
        assert become(*spans) == ["workflow_run AgentWorkflow", "  model_generation m"]
        assert agents_of(*spans) == ["clerk"]


class TestDspy:
    def asks(self, id: int, parent: int, text: str) -> Span:
        content = {"llm.output_messages.0.message.content": text, "llm.model_name": "m"}
        return dspy(id, "LM.acall", parent, **{KIND: "LLM"}, **content)

    @pytest.mark.parametrize(
        "text",
        [
            "[[ ## next_tool_name ## ]]\nfind\n\n[[ ## next_tool_args ## ]]\n{}",
            '{"next_thought": "t", "next_tool_name": "find", "next_tool_args": {}}',
        ],
    )
    def test_a_call_a_model_wrote_is_a_request(self, text: str) -> None:
        (call,) = tools(dspy(1, "ReAct.aforward", **{KIND: "CHAIN"}), self.asks(2, 1, text))
        assert (call.name, call.tool_args, call.success) == ("find", {}, None)
        assert not call.executed

    def test_a_call_that_was_written_and_ran_is_one(self) -> None:
        text = '[[ ## next_tool_name ## ]]\nfind\n\n[[ ## next_tool_args ## ]]\n{"q": 1}\n'
        value = json.dumps({"kwargs": {"q": 1}})
        found = become(
            dspy(1, "ReAct.forward", end_ns=99, **{KIND: "CHAIN"}),
            self.asks(2, 1, text),
            dspy(13, "find.acall", 1, **{KIND: "TOOL", "input.value": value}),
        )
        assert found == ["agent_run ReAct", "  model_generation m", "  tool_call find ok"]

    def test_a_module_of_the_users_that_returns_a_trajectory_is_an_agent(self) -> None:
        output = json.dumps({"trajectory": {"tool_name_0": "finish"}, "answer": "x"})
        assert become(dspy(1, "Clerk.forward", **{KIND: "CHAIN", "output.value": output})) == [
            "agent_run Clerk"
        ]

    def test_other_modules_are_glue(self) -> None:
        output = json.dumps({"trajectory": "a walk in the hills"})
        assert become(dspy(1, "Guide.forward", **{KIND: "CHAIN", "output.value": output})) == []

    @pytest.mark.parametrize("text", ["", "[[ ## next_tool_name ## ]]", "[[ ## ## ]]", "{" * 9])
    def test_other_texts_ask_for_nothing(self, text: str) -> None:
        assert tools(self.asks(1, 1, text)) == []


class TestCrewAi:
    SCHEMA = '{"properties": {"q": {"type": "string"}}, "type": "object"}'

    def test_the_schema_of_a_tool_is_not_its_arguments(self) -> None:
        more = {KIND: "TOOL", "tool.name": "find", "tool.parameters": self.SCHEMA}
        assert [c.tool_args for c in tools(crew(1, "find.run", **more))] == [None]
        hidden = crew(1, "find.run", **more, **{"input.value": "__REDACTED__"})
        assert [c.tool_args for c in tools(hidden)] == [None]

    def test_older_versions_name_classes(self) -> None:
        found = become(
            crew(1, "Crew.kickoff", **{KIND: "CHAIN"}),
            crew(2, "Task._execute_core", 1, **{KIND: "AGENT"}),
            crew(3, "ToolUsage._use", 2, **{KIND: "TOOL", "tool.name": "find"}),
        )
        assert found == [
            "workflow_run Crew",
            "  agent_run Task._execute_core",
            "    tool_call find ok",
        ]

    def test_the_id_of_this_run_is_no_part_of_a_name(self) -> None:
        name = "Crew_1506b870-ec16-45f6-998d-b51cabd56d73.kickoff_async"
        assert become(crew(1, name, **{KIND: "CHAIN"})) == ["workflow_run Crew"]

    def test_a_tool_that_asks_another_agent_holds_its_run(self) -> None:
        role = "graph.node.id"
        found = become(
            crew(1, "boss.t._execute_core", **{KIND: "AGENT", role: "boss"}),
            crew(2, "Ask.run", 1, **{KIND: "TOOL", "tool.name": "Ask question to coworker"}),
            crew(3, "clerk.t._execute_core", 2, **{KIND: "AGENT", role: "clerk"}),
        )
        assert found == [
            "agent_run boss",
            "  tool_call Ask question to coworker ok",
            "    agent_run clerk",
        ]


class TestCrewAiThroughOpenLlmetry:
    record = staticmethod(recorder("opentelemetry.instrumentation.crewai.instrumentation"))

    def crew(self, outputs: str, *more: Span) -> list[Span]:
        attributes = {"crewai.crew.name": "crew", "crewai.crew.tasks_output": outputs}
        return [self.record(1, "crewai.workflow", end_ns=99, **attributes), *more]

    def output(self, agent: str, *messages: Json) -> str:
        said = ", ".join(repr(m) for m in messages)
        return f"TaskOutput(raw='x', agent='{agent}', fmt=<F.RAW: 'raw'>, messages=[{said}])"

    def asked(self, call_id: str, name: str, arguments: str) -> Json:
        function = {"name": name, "arguments": arguments}
        return {
            "role": "assistant",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        }

    def told(self, call_id: str, content: str) -> Json:
        return {"role": "tool", "tool_call_id": call_id, "content": content}

    def test_the_transcripts_of_all_tasks_are_read(self) -> None:
        first = self.output("a", self.asked("c1", "find", '{"q": "it\'s"}'), self.told("c1", "1"))
        text = {"role": "user", "content": "messages=[{'role': 'tool'}] ]"}
        second = self.output(
            "b", text, self.asked("c2", "send", "{}"), self.told("c2", "Error: no such address")
        )
        calls = tools(*self.crew(f"[{first}, {second}]"))
        assert [(c.name, c.tool_args, c.success) for c in calls] == [
            ("find", {"q": "it's"}, True),
            ("send", {}, False),
        ]

    def test_the_calls_belong_to_the_only_agent(self) -> None:
        agent = {"crewai.agent.id": "1", "crewai.agent.role": "a", "traceloop.span.kind": "agent"}
        found = become(
            *self.crew(
                "[" + self.output("a", self.asked("c1", "find", "{}"), self.told("c1", "1")) + "]",
                self.record(2, "a.agent", 1, **agent),
            )
        )
        assert found == ["workflow_run crew", "  agent_run a", "    tool_call find ok"]

    @pytest.mark.parametrize("outputs", ["", "[TaskOutput(messages=[", "messages=[", "messages=[]"])
    def test_a_transcript_that_was_cut_tells_nothing(self, outputs: str) -> None:
        assert become(*self.crew(outputs)) == ["workflow_run crew"]

    def test_the_sums_of_a_crew_are_its_tokens_and_calls(self) -> None:
        said = "total_tokens=156 prompt_tokens=120 completion_tokens=36 successful_requests=3"
        more = {"crewai.crew.token_usage": said}
        (found,) = assemble([self.record(1, "crewai.workflow", **more)], READ)
        assert found.model_calls == 3
        assert found.tokens is not None
        assert (found.tokens.input, found.tokens.output) == (120, 36)


class TestAgno:
    def test_arguments_stand_in_the_parameters_when_the_input_is_gone(self) -> None:
        more = {KIND: "TOOL", "tool.name": "get", "tool.parameters": '{"city": "Faro"}'}
        assert [c.tool_args for c in tools(agno(1, "get", **more))] == [{"city": "Faro"}]

    def test_a_parallel_section_holds_its_steps(self) -> None:
        section = agno(2, "fan.execute", 1, **{KIND: "CHAIN", "agno.parallel.step_count": 2})
        spans = [
            agno(1, "flow.run", **{KIND: "CHAIN", "agno.workflow.id": "flow"}),
            section,
            agno(3, "left.execute", 2, **{KIND: "CHAIN", "graph.node.name": "left"}),
        ]
        assert become(*spans) == [
            "workflow_run flow",
            "  workflow_parallel fan",
            "    workflow_step left",
        ]
        reading = READ(section)
        assert reading.step_type is StepType.WORKFLOW_PARALLEL
        assert reading.fields == {"branch_count": 2}
