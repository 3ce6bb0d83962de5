"""Claude Code, Codex CLI, Gemini CLI and GitHub Copilot: spans, log records, and both together."""

import json
from typing import Any

import pytest

from tests.support.spans import TRACE_ID, span_id
from tests.support.steps import become, recorder, tools
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import LogRecord, Span, SpanEvent
from trajscope.model.step import McpToolCallStep
from trajscope.model.trajectory import Trajectory

READ = Reader()
MS = 1_000_000
claude = recorder("com.anthropic.claude_code.tracing", **{"service.name": "claude-code"})
codex = recorder("codex_exec")


def log(scope: str, event: str, at_ms: int = 0, /, **more: Any) -> LogRecord:
    """A log record; `span` names the span it was written in."""
    inside = more.pop("span", None)
    return LogRecord(
        trace_id=None if inside is None else TRACE_ID,
        span_id=None if inside is None else span_id(inside),
        time_ns=at_ms * MS,
        scope_name=scope,
        attributes={"event.name": event, **more},
    )


def only(*spans: Span, logs: tuple[LogRecord, ...] = ()) -> Trajectory:
    (found,) = assemble(spans, READ, logs)
    return found


class TestClaudeCode:
    SCOPE = "com.anthropic.claude_code.events"

    def event(self, name: str, at_ms: int = 0, /, **more: Any) -> LogRecord:
        known = {"session.id": "s", "prompt.id": "p"}
        return log(self.SCOPE, name, at_ms, **{**known, **more})

    def tool(self, id: int, name: str, parent: int | None = None, **more: Any) -> Span:
        known = {"span.type": "tool", "tool_name": name, "tool_use_id": f"t{id}"}
        return claude(id, "claude_code.tool", parent, **{**known, **more})

    def execution(self, id: int, parent: int, **more: Any) -> Span:
        return claude(
            id, "claude_code.tool.execution", parent, **{"span.type": "tool.execution", **more}
        )

    def test_success_stands_on_the_execution(self) -> None:
        calls = tools(
            self.tool(1, "Read"),
            self.execution(2, 1, success=True),
            self.tool(3, "Read"),
            self.execution(4, 3, success=False, error="no such file", status_code="ERROR"),
        )
        assert [(c.success, c.failure) for c in calls] == [(True, None), (False, "no such file")]

    def test_a_call_the_user_rejected_failed(self) -> None:
        wait = {"span.type": "tool.blocked_on_user", "decision": "reject"}
        (call,) = tools(
            self.tool(1, "Bash"), claude(2, "claude_code.tool.blocked_on_user", 1, **wait)
        )
        assert (call.success, call.failure) == (False, "rejected by the user")

    def test_details_on_the_span_are_not_all_arguments(self) -> None:
        (call,) = tools(self.tool(1, "Read", file_path="/a", full_command="ls"))
        assert call.tool_args is None

    def test_a_call_that_was_running_when_the_program_died_is_unknown(self) -> None:
        (call,) = tools(self.tool(1, "Bash", end_ns=None))
        assert call.success is None

    def test_the_type_of_a_span_is_in_its_name_too(self) -> None:
        found = become(
            claude(1, "claude_code.interaction"),
            claude(2, "claude_code.tool", 1, tool_name="Glob"),
            claude(3, "claude_code.hook", 1),
        )
        assert found == ["agent_run claude-code", "  tool_call Glob ok"]

    def test_cached_input_is_a_part_of_input(self) -> None:
        counts = {"input_tokens": 3, "output_tokens": 5, "cache_read_tokens": 100}
        more = {"span.type": "llm_request", "model": "m", "cache_creation_tokens": 20, **counts}
        tokens = only(claude(1, "claude_code.llm_request", **more)).tokens
        assert tokens is not None
        assert (tokens.input, tokens.output, tokens.cached_input) == (123, 5, 100)

    def test_a_sub_agent_works_inside_the_call_that_opens_it(self) -> None:
        spans = [
            claude(1, "claude_code.interaction"),
            self.tool(2, "Task", 1, subagent_type="Explore"),
            self.execution(3, 2, success=True),
            self.tool(4, "Task", 3, agent_id="a1", subagent_type="Explore"),
            self.execution(5, 4, success=False, error="too deep"),
            self.tool(6, "Grep", 5, agent_id="a2"),
        ]
        assert become(*spans) == [
            "agent_run claude-code",
            "  tool_call Task ok",
            "    agent_run Explore",
            "      tool_call Task failed",
            "        agent_run Explore",
            "          tool_call Grep ok",
        ]

    def test_a_sub_agent_is_named_by_the_log_record_where_details_are_off(self) -> None:
        spans = [self.tool(2, "Agent"), self.execution(3, 2), self.tool(4, "Grep", 3)]
        args = {"tool_input": '{"subagent_type": "Plan"}', "tool_name": "Agent"}
        record = self.event("tool_result", tool_use_id="t2", success="true", span=2, **args)
        assert become(*spans)[1] == "  agent_run Agent"
        assert become(*spans, logs=[record])[1] == "  agent_run Plan"

    def test_a_record_is_no_second_call(self) -> None:
        record = self.event(
            "tool_result",
            tool_name="Read",
            tool_use_id="t2",
            success="false",
            error="no such file",
            tool_input='{"file_path": "/a"}',
            span=1,
        )
        spans = [claude(1, "claude_code.interaction"), self.tool(2, "Read", 1)]
        (call,) = tools(*spans, logs=[record])
        assert (call.tool_args, call.success) == ({"file_path": "/a"}, False)
        assert call.span_id == span_id(2)

    def test_a_call_without_a_span_is_a_call(self) -> None:
        record = self.event(
            "tool_result", tool_name="Read", tool_use_id="gone", success="true", span=1
        )
        spans = [claude(1, "claude_code.interaction"), self.tool(2, "Read", 1)]
        assert [c.tool_call_id for c in tools(*spans, logs=[record])] == ["gone", "t2"]

    def test_spans_of_model_calls_outweigh_their_records(self) -> None:
        more = {"span.type": "llm_request", "model": "m", "input_tokens": 1, "output_tokens": 1}
        found = only(
            claude(1, "claude_code.interaction"),
            claude(2, "claude_code.llm_request", 1, **more),
            logs=(self.event("api_request", 5, model="m", input_tokens=1, span=1),),
        )
        assert found.model_calls == 1

    def test_log_records_alone_are_a_trajectory(self) -> None:
        counts = {"model": "m", "input_tokens": "3", "output_tokens": "2"}
        result = {"tool_name": "mcp__calc__add", "success": "true", "duration_ms": "40"}
        found = only(
            logs=(
                self.event("user_prompt", 10, prompt="hi"),
                self.event("api_request", 30, duration_ms="10", **counts),
                self.event("tool_decision", 40, tool_name="mcp__calc__add"),
                self.event("tool_result", 90, tool_use_id="t", tool_input="{}", **result),
                self.event("api_error", 99, model="m", error="overloaded"),
            )
        )
        assert found.root is not None
        assert (found.root.name, found.agents) == ("claude-code", ("claude-code",))
        assert (found.session_id, found.model_calls, found.trace_id) == ("s", 2, "p")
        first, call, last = found.steps
        assert isinstance(call, McpToolCallStep)
        assert (call.mcp_server, call.tool_args, call.success) == ("calc", {}, True)
        assert (call.start_ns, call.end_ns) == (50 * MS, 90 * MS)
        assert (first.failed, last.failed, last.failure) == (None, True, "overloaded")

    def test_records_of_two_prompts_are_two_traces_of_one_session(self) -> None:
        found = assemble(
            [],
            READ,
            [self.event("user_prompt", i, **{"prompt.id": f"p{i}"}) for i in (1, 2)],
        )
        assert [(t.trace_id, t.session_id) for t in found] == [("p1", "s"), ("p2", "s")]

    def test_records_of_older_versions_have_only_a_session(self) -> None:
        record = log(
            self.SCOPE, "tool_result", tool_name="Read", success="true", **{"session.id": "s"}
        )
        found = only(logs=(record,))
        assert (found.trace_id, [s.name for s in found.steps]) == ("s", ["Read"])

    def test_a_record_that_belongs_to_nothing_is_no_step(self) -> None:
        assert assemble([], READ, [log(self.SCOPE, "tool_result", tool_name="Read")]) == []


class TestCodexCli:
    def tool(self, id: int, parent: int | None = None, **more: Any) -> Span:
        return codex(id, "shell", parent, tool_name="shell", call_id="c1", **more)

    def result(self, output: str | None, **more: Any) -> LogRecord:
        known: dict[str, Any] = {"conversation.id": "s", "tool_name": "shell", "call_id": "c1"}
        if output is not None:
            known["output"] = output
        return log(
            "codex_otel.log_only", "codex.tool_result", 9, **{**known, "success": "true", **more}
        )

    @pytest.mark.parametrize(
        ("output", "success", "failure"),
        [
            ("Wall time: 0.1\nProcess exited with code 0\nOutput:\nok\n", True, None),
            ("Wall time: 0.1\nProcess exited with code 2\nOutput:\nbad\n", False, "bad"),
            ("Exit code: 127\nWall time: 0.1\nOutput:\n", False, "command exited 127"),
            ("Process exited with code 0\nOutput:\nProcess exited with code 1\n", True, None),
            ('{"output": "x", "metadata": {"exit_code": 1}}', False, "command exited 1"),
            ('{"output": "x", "metadata": {"exit_code": 0}}', True, None),
            ("Process exited with code -9\nOutput:\n", False, "command exited -9"),
            ("plan updated", True, None),
        ],
    )
    def test_the_exit_code_decides(self, output: str, success: bool, failure: str | None) -> None:
        for spans in ([], [self.tool(1)]):
            (call,) = tools(*spans, logs=[self.result(output)])
            assert (call.success, call.failure) == (success, failure)

    def test_success_without_output_says_nothing_of_a_command(self) -> None:
        event = SpanEvent(
            "event otel/src/tool_result.rs:54",
            5,
            {
                "event.name": "codex.tool_result",
                "tool_name": "shell",
                "call_id": "c1",
                "success": "true",
            },
        )
        dispatch = codex(2, "dispatch_tool_call_with_state", 1, events=(event,))
        (call,) = tools(self.tool(1), dispatch)
        assert (call.success, call.tool_args) == (None, None)

    def test_an_unsupported_call_is_refused(self) -> None:
        record = self.result("unsupported call: frobnicate", success="false")
        (call,) = tools(logs=[record])
        assert (call.success, call.failure) == (False, "unsupported call: frobnicate")

    def test_the_record_of_a_call_gives_its_span_arguments_and_result(self) -> None:
        record = self.result("done", arguments='{"cmd": "ls"}', mcp_server="", agent_name="/root")
        (call,) = tools(self.tool(1), logs=[record])
        assert (call.tool_args, call.tool_result) == ({"cmd": "ls"}, "done")
        assert call.span_id == span_id(1)

    def test_a_tool_of_a_server(self) -> None:
        (call,) = tools(logs=[self.result("3", tool_name="add", mcp_server="calc")])
        assert isinstance(call, McpToolCallStep)
        assert (call.name, call.mcp_server) == ("add", "calc")

    def test_log_records_alone_count_model_calls_by_their_end(self) -> None:
        def answer(at: int, **more: Any) -> LogRecord:
            known = {"event.kind": "response.completed", "conversation.id": "s", "model": "m"}
            return log("codex_otel.log_only", "codex.sse_event", at, **{**known, **more})

        found = only(
            logs=(
                answer(1),
                answer(2, input_token_count="40", output_token_count="12"),
                answer(3, **{"event.kind": "response.created"}),
                self.result("ok", agent_name="/root" + "/helper"),
            )
        )
        assert (found.model_calls, found.trace_id, found.session_id) == (1, "s", "s")
        assert found.tokens is not None
        assert found.tokens.total == 52
        assert found.agents == ("codex", "helper")

    def test_machinery_is_noise(self) -> None:
        spans = [
            codex(1, "session_task.turn", model="m", **{"thread.id": "s"}),
            codex(2, "run_turn", 1, **{"conversation.id": "s", "thread.id": 4}),
            codex(3, "stream_request", 2),
            codex(4, "model_client.stream_responses_api", 3, model="m"),
            codex(5, "fs.get_metadata", 4),
        ]
        assert become(*spans) == ["agent_run codex", "  model_generation m"]
        assert only(*spans).session_id == "s"

    def test_spans_of_another_program_are_not_codex(self) -> None:
        other = recorder("shop")
        assert become(other(1, "stream_request"), other(2, "x", tool_name="a", call_id="b")) == []


class TestGeminiCli:
    def event(self, name: str, at_ms: int = 0, /, **more: Any) -> LogRecord:
        return log(
            "gemini-cli",
            f"gemini_cli.{name}",
            at_ms,
            **{"session.id": "s", "prompt_id": "s#1", **more},
        )

    def test_log_records_alone_are_a_trajectory(self) -> None:
        counts = {"input_token_count": 9, "output_token_count": 2, "cached_content_token_count": 4}
        call = {"function_name": "read_file", "function_args": '{"path": "a"}', "duration_ms": 5}
        found = only(
            logs=(
                self.event("user_prompt", 1),
                self.event("api_request", 2, model="m"),
                self.event("api_response", 3, model="m", finish_reasons=["STOP"], **counts),
                self.event("tool_call", 20, success=True, tool_type="native", **call),
                self.event("tool_call", 30, success=False, error="denied", **call),
                self.event("tool_call", 40, success=False, decision="reject", **call),
                self.event("config", 0),
            )
        )
        assert found.root is not None
        assert found.root.name == "gemini-cli"
        assert (found.session_id, found.model_calls) == ("s", 1)
        assert found.tokens is not None
        assert (found.tokens.input, found.tokens.cached_input) == (9, 4)
        calls = [s for s in found.steps if s.is_tool]
        assert [(s.failed, s.failure) for s in calls] == [
            (False, None),
            (True, "denied"),
            (True, "rejected by the user"),
        ]
        assert calls[0].start_ns == 15 * MS

    def test_a_tool_of_a_server(self) -> None:
        more = {"function_name": "add", "tool_type": "mcp", "mcp_server_name": "calc"}
        (call,) = tools(logs=[self.event("tool_call", success=True, **more)])
        assert isinstance(call, McpToolCallStep)
        assert (call.name, call.mcp_server, call.success) == ("add", "calc", True)

    @pytest.mark.parametrize(
        ("status", "success"), [("success", True), ("error", False), ("cancelled", True)]
    )
    def test_a_span_holds_the_request_and_the_completed_call(
        self, status: str, success: bool
    ) -> None:
        record = recorder("gemini-cli", **{"service.name": "gemini-cli"})
        asked = {"callId": "c1", "name": "read_file", "args": {"path": "a"}}
        done = {"status": status, "response": {"resultDisplay": "text", "error": None}}
        (call,) = tools(
            record(
                1,
                "tool_call",
                **{
                    "gen_ai.operation.name": "tool_call",
                    "gen_ai.tool.name": "read_file",
                    "gen_ai.tool.call_id": "c1",
                    "gen_ai.input.messages": json.dumps(asked),
                    "gen_ai.output.messages": json.dumps(done),
                },
            )
        )
        assert (call.name, call.tool_args, call.tool_call_id) == ("read_file", {"path": "a"}, "c1")
        assert (call.tool_result, call.success) == ("text", success)

    def test_spans_of_tools_outweigh_records_without_an_id(self) -> None:
        record = recorder("gemini-cli", **{"service.name": "gemini-cli"})
        more = {"gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "ls"}
        spans = [record(1, "tool_call", None, **more, **{"gen_ai.conversation.id": "s"})]
        assert len(tools(*spans, logs=[self.event("tool_call", 5, function_name="ls")])) == 1


def test_qwen_code_writes_the_records_of_gemini_cli_under_its_own_name() -> None:
    def record(name: str, at_ms: int, /, **more: Any) -> LogRecord:
        known = {"session.id": "s", "prompt_id": "p", "event.name": f"qwen-code.{name}"}
        return log("qwen-code", f"qwen-code.{name}", at_ms, **known, **more)

    call = {"function_name": "read_file", "function_args": '{"path": "a"}', "duration_ms": 5}
    counts = {"input_token_count": 9, "output_token_count": 2}
    found = only(
        logs=(
            record("user_prompt", 1),
            record("api_response", 3, model="m", **counts),
            record("subagent_execution", 4, subagent_name="explore", status="started"),
            record("tool_call", 20, success=False, status="error", error="not there", **call),
            record("subagent_execution", 30, subagent_name="explore", status="completed"),
            record("chat_compression", 40),
        )
    )
    assert found.root is not None
    assert (found.root.name, found.model_calls, found.agents) == (
        "qwen-code",
        1,
        ("qwen-code", "explore"),
    )
    assert [(s.name, s.failed, s.failure) for s in found.steps if s.is_tool] == [
        ("read_file", True, "not there")
    ]


class TestGitHubCopilot:
    record = staticmethod(recorder("copilot-chat", **{"service.name": "copilot-chat"}))

    def test_a_sub_agent_runs_inside_the_call_that_opens_it(self) -> None:
        def op(id: int, name: str, parent: int | None = None, **more: Any) -> Span:
            operation = {"gen_ai.operation.name": name.partition(" ")[0]}
            return self.record(id, name, parent, **operation, **more)

        tool, agent = "gen_ai.tool.name", "gen_ai.agent.name"
        found = become(
            op(1, "invoke_agent copilot", None, **{agent: "GitHub Copilot Chat"}),
            op(2, "chat m", 1, **{"gen_ai.request.model": "m"}),
            op(3, "execute_hook pre", 1),
            op(4, "execute_tool runSubagent", 1, **{tool: "runSubagent"}),
            op(5, "invoke_agent plan", 4, **{agent: "Plan"}),
            op(6, "execute_tool readFile", 5, **{tool: "readFile", "gen_ai.tool.type": "function"}),
        )
        assert found == [
            "agent_run GitHub Copilot Chat",
            "  model_generation m",
            "  tool_call runSubagent ok",
            "    agent_run Plan",
            "      tool_call readFile ok",
        ]

    def test_calls_of_one_tool_inside_another_of_its_name_are_two(self) -> None:
        """A Claude agent shown by Copilot: `Agent` inside `Agent`, without a run between."""
        more = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Agent"}
        outer = self.record(1, "execute_tool Agent", **more, **{"gen_ai.tool.call.id": "a"})
        inner = self.record(2, "execute_tool Agent", 1, **more, **{"gen_ai.tool.call.id": "b"})
        assert [c.tool_call_id for c in tools(outer, inner)] == ["a", "b"]

    def test_a_tool_of_a_server_is_an_extension(self) -> None:
        parameters = "github.copilot.tool.parameters."
        (call,) = tools(
            self.record(
                1,
                "execute_tool mcp_github_search",
                **{
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "mcp_github_search",
                    "gen_ai.tool.type": "extension",
                    parameters + "mcp_server_name": "github",
                },
            )
        )
        assert isinstance(call, McpToolCallStep)
        assert (call.name, call.mcp_server) == ("mcp_github_search", "github")
