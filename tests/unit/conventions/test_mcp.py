"""MCP spans: the tool's name, the nest of one call, and outcomes that nobody recorded."""

import pytest

from tests.support.steps import become, recorder, tools
from trajscope.model.span import Span
from trajscope.model.step import McpToolCallStep

sdk = recorder("mcp-python-sdk")
agent = recorder("my-agent")
CALL = {"mcp.method.name": "tools/call"}
TOOL = {"gen_ai.operation.name": "execute_tool"}


def server(id: int, name: str, parent: int | None = None, **more: str) -> Span:
    error = more.get("error.type")
    status = {"status_code": "ERROR"} if error else {}
    known = {"gen_ai.tool.name": name, **CALL, **TOOL}
    return sdk(id, f"tools/call {name}", parent, **known, **more, **status)


@pytest.mark.parametrize("name", ["add", "files.read", "a tools/call b", "lösch"])
def test_the_name_stands_in_the_span_name(name: str) -> None:
    (call,) = tools(sdk(1, f"MCP send tools/call {name}", **CALL))
    assert isinstance(call, McpToolCallStep)
    assert call.name == name


def test_a_client_that_never_records_an_error_leaves_the_outcome_open() -> None:
    (call,) = tools(sdk(1, "MCP send tools/call add", **CALL))
    assert call.success is None


def test_the_servers_span_tells_what_the_clients_does_not() -> None:
    (well,) = tools(sdk(1, "MCP send tools/call add", **CALL), server(2, "add", 1))
    (badly,) = tools(
        sdk(1, "MCP send tools/call add", **CALL),
        server(2, "add", 1, **{"error.type": "tool_error"}),
    )
    assert (well.success, badly.success, badly.failure) == (True, False, "tool_error")


def test_a_client_span_that_does_carry_an_error_says_so() -> None:
    (call,) = tools(sdk(1, "MCP send tools/call add", status_code="ERROR", **CALL))
    assert call.success is False


@pytest.mark.parametrize("name", ["add", "calc_add", "calc.add", "mcp__calc__add"])
def test_the_outermost_span_of_a_call_is_the_call(name: str) -> None:
    spans = [
        agent(1, f"execute_tool {name}", **TOOL, **{"gen_ai.tool.name": name}),
        sdk(2, "tools/call add", 1, **{"gen_ai.tool.name": "add", **CALL, **TOOL}),
        sdk(3, "MCP send tools/call add", 2, **CALL),
        server(4, "add", 3, **{"fastmcp.server.name": "calc"}),
    ]
    (call,) = tools(*spans)
    assert isinstance(call, McpToolCallStep)
    assert (call.name, call.mcp_server, call.success) == (name, "calc", True)


def test_a_tool_that_calls_another_tool_of_a_server_is_two_calls() -> None:
    found = become(
        agent(1, "execute_tool plan", **TOOL, **{"gen_ai.tool.name": "plan"}),
        server(2, "add", 1),
    )
    assert found == ["tool_call plan ok", "  mcp_tool_call add ok"]


@pytest.mark.parametrize(
    "method", ["initialize", "tools/list", "resources/read", "prompts/get", "server/discover"]
)
def test_the_rest_of_the_protocol_is_noise(method: str) -> None:
    assert become(sdk(1, f"MCP send {method}", **{"mcp.method.name": method})) == []
