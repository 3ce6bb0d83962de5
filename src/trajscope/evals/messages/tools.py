"""Tool calls and tool results in the output of a run, and where they stand.

One thing a newcomer would get wrong: a call counts when it was asked for, whether or not it ran; a
result counts when the call was answered, with an error too.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from msgspec import UNSET

from trajscope.evals._mastra import tools as mastra
from trajscope.evals.adapters import convert
from trajscope.evals.messages._calls import Call, calls_in, invocations_in
from trajscope.evals.scorer import Compat, check_compat
from trajscope.model.span import Json
from trajscope.model.value import Value


class ToolCallInfo(Value):
    """Where a call stands.

    tool_call_id: the call's own, or "<message>-<invocation>" where none is recorded.
    message_index: of the message in the output as it was given. invocation_index: of the call
    among the message's.
    """

    tool_name: str
    tool_call_id: str
    message_index: int
    invocation_index: int


class ToolCalls(Value):
    """The calls of a run in order: the names of their tools, and where they stand."""

    tools: tuple[str, ...] = ()
    tool_call_infos: tuple[ToolCallInfo, ...] = ()


class ToolResult(Value):
    """What a call was answered. Arguments and result stay unset where they are not recorded."""

    tool_name: str
    tool_call_id: str
    args: Json = None
    result: Json = None
    failed: bool
    failure: str | None = None


@overload
def extract_tool_calls(output: Any, *, compat: None = None) -> ToolCalls: ...
@overload
def extract_tool_calls(output: Any, *, compat: Literal["mastra"]) -> dict[str, Json]: ...
@overload
def extract_tool_calls(output: Any, *, compat: Compat | None) -> Any: ...


def extract_tool_calls(output: Any, *, compat: Compat | None = None) -> Any:
    """Return every tool call in an output, once, in order.

    Raises:
        UsageError: the output holds no messages.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    >>> extract_tool_calls([{"role": "assistant", "tool_calls": [call]}]).tools
    ('add',)
    """
    check_compat(compat)
    if compat is not None:
        return mastra.tool_calls(output)
    infos = tuple(
        ToolCallInfo(
            tool_name=call.name,
            tool_call_id=_id_of(call),
            message_index=call.message_index,
            invocation_index=call.invocation_index,
        )
        for call in calls_in(output)
    )
    return ToolCalls(tools=tuple(info.tool_name for info in infos), tool_call_infos=infos)


def _id_of(call: Call) -> str:
    return call.call_id or f"{call.message_index}-{call.invocation_index}"


@overload
def extract_tool_results(output: Any, *, compat: None = None) -> list[ToolResult]: ...
@overload
def extract_tool_results(output: Any, *, compat: Literal["mastra"]) -> list[dict[str, Json]]: ...
@overload
def extract_tool_results(output: Any, *, compat: Compat | None) -> Any: ...


def extract_tool_results(output: Any, *, compat: Compat | None = None) -> Any:
    """Return what every answered call was answered, errors too (`failed`).

    Raises:
        UsageError: the output holds no messages.
    """
    check_compat(compat)
    if compat is not None:
        return mastra.tool_results(output)
    return [_result_of(call) for call in calls_in(output) if not call.is_open]


def _result_of(call: Call) -> ToolResult:
    outcome = call.outcome
    values = {"args": call.args, "result": call.result, "failure": outcome.failure or UNSET}
    return ToolResult(
        tool_name=call.name,
        tool_call_id=_id_of(call),
        failed=bool(outcome.failed),
        **{key: value for key, value in values.items() if value is not UNSET},
    )


def merge_tool_invocations(message: Any, *, compat: Compat | None = None) -> list[Json]:
    """Return the tool invocations of one message, each once, as the reference writes them.

    A message may hold them as parts and in the older `toolInvocations`; parts win. Messages of
    other libraries are taken too, and a call whose answer stands in a later message is open here.

    Raises:
        UsageError: this is no message; under compat, its parts are no list.
    """
    check_compat(compat)
    if compat is not None:
        return mastra.merged_invocations(message)
    return [item for found in convert([message]) for item in invocations_in(found.message)]
