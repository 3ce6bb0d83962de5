"""Messages and runs to try scorers on, and what tells that a value is one.

One thing a newcomer would get wrong: members go in by keyword. Under `compat="mastra"` they are
the one mapping the reference takes, and come back to the letter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from reprlib import repr as shown
from typing import Any
from uuid import uuid4

from trajscope.errors import TrajscopeError, UsageError
from trajscope.evals._mastra import builders as mastra
from trajscope.evals.adapters import convert
from trajscope.evals.messages._content import member
from trajscope.evals.runs import reference_run
from trajscope.evals.scorer import Compat, check_compat
from trajscope.model.span import Json

_ROLES = ("user", "assistant", "system", "tool", "signal")
_STATES = ("result", "call", "partial-call", "output-error")
_LISTS = ("inputMessages", "rememberedMessages", "systemMessages")


def create_tool_invocation(
    members: Any = None,
    /,
    *,
    tool_name: str = "",
    tool_call_id: str | None = None,
    args: Any = None,
    result: Any = None,
    state: str | None = None,
    is_error: bool | None = None,
    error_text: str | None = None,
    compat: Compat | None = None,
) -> dict[str, Json]:
    """Return a tool invocation of the reference's form.

    The state is `result`, or `output-error` with an error text, when it is not given. No
    arguments are {}.

    Raises:
        UsageError: there is no tool name, or the state is unknown.

    >>> create_tool_invocation(tool_name="add", tool_call_id="1", result=3)["state"]
    'result'
    """
    check_compat(compat)
    if compat is not None:
        return mastra.tool_invocation(members)
    _by_keyword("create_tool_invocation", members)
    if not isinstance(tool_name, str) or not tool_name:
        raise UsageError(
            f"tool_name: is empty or no text (got {shown(tool_name)}); a name was expected"
        )
    state = state or ("result" if error_text is None else "output-error")
    if state not in _STATES:
        raise UsageError(f"state: is unknown (got {shown(state)}); one of {_STATES} was expected")
    found = {
        "toolCallId": tool_call_id or f"call-{uuid4()}",
        "toolName": tool_name,
        "args": {} if args is None else args,
        "state": state,
    }
    if state == "result":
        found["result"] = result
    more = {"isError": is_error, "errorText": error_text}
    return found | {key: value for key, value in more.items() if value is not None}


def create_test_message(
    members: Any = None,
    /,
    *,
    content: str = "",
    role: str = "user",
    id: str = "test-message",
    parts: Sequence[Mapping[str, Json]] | None = None,
    tool_invocations: Sequence[Mapping[str, Json]] = (),
    compat: Compat | None = None,
) -> dict[str, Json]:
    """Return a message of the reference's form; its parts are the content as text by default.

    Raises:
        UsageError: the content is no text, the role is unknown, or an invocation is no mapping.

    >>> create_test_message(content="Hi", role="assistant")["content"]["parts"]
    [{'type': 'text', 'text': 'Hi'}]
    """
    check_compat(compat)
    if compat is not None:
        return mastra.message(members)
    _by_keyword("create_test_message", members)
    if not isinstance(content, str):
        raise UsageError(f"content: is no text (got {shown(content)}); a text was expected")
    if role not in _ROLES:
        raise UsageError(f"role: is unknown (got {shown(role)}); one of {_ROLES} was expected")
    for index, item in enumerate(tool_invocations):
        if not isinstance(item, Mapping):
            raise UsageError(f"tool_invocations[{index}]: is no mapping (got {shown(item)})")
    text: list[Mapping[str, Json]] = [{"type": "text", "text": content}]
    body: dict[str, Json] = {
        "format": 2,
        "parts": [dict(part) for part in (text if parts is None else parts)],
        "content": content,
    }
    if tool_invocations:
        body["toolInvocations"] = [dict(item) for item in tool_invocations]
    return {"id": id, "role": role, "content": body, "createdAt": mastra.now()}


def create_agent_test_run(
    members: Any = None,
    /,
    *,
    output: Any = (),
    input_messages: Sequence[Any] = (),
    remembered_messages: Sequence[Any] = (),
    system_messages: Sequence[Any] = (),
    tagged_system_messages: Mapping[str, Any] | None = None,
    request_context: Mapping[str, Any] | None = None,
    run_id: str | None = None,
    compat: Compat | None = None,
) -> dict[str, Any]:
    """Return a run of an agent, ready for a scorer's `run`.

    Raises:
        UsageError: under compat, the members are no mapping.

    >>> run = create_agent_test_run(output=[create_test_message(content="Hi", role="assistant")])
    >>> sorted(run)
    ['input', 'output', 'request_context', 'run_id']
    """
    check_compat(compat)
    if compat is not None:
        return reference_run(members, {"output": "output"})
    _by_keyword("create_agent_test_run", members)
    return {
        "input": {
            "input_messages": list(input_messages),
            "remembered_messages": list(remembered_messages),
            "system_messages": list(system_messages),
            "tagged_system_messages": dict(tagged_system_messages or {}),
        },
        "output": list(output) if isinstance(output, tuple) else output,
        "request_context": dict(request_context or {}),
        "run_id": run_id or str(uuid4()),
    }


def _by_keyword(function: str, members: Any) -> None:
    if members is not None:
        raise UsageError(
            f"{function}: takes its members by keyword (got {shown(members)})",
            hint='only compat="mastra" takes them as one mapping',
        )


def is_scorer_run_input_for_agent(value: Any, *, compat: Compat | None = None) -> bool:
    """Return whether a value is the input of an agent's run: a mapping with input messages.

    >>> is_scorer_run_input_for_agent({"input_messages": [{"role": "user", "content": "Hi"}]})
    True
    """
    check_compat(compat)
    if compat is not None:
        return mastra.is_run_input(value)
    if not isinstance(value, Mapping):
        return False
    found, *others = (member(value, name) for name in _LISTS)
    tagged = member(value, "taggedSystemMessages")
    return (
        _is_conversation(found)
        and all(other is None or isinstance(other, list) for other in others)
        and (tagged is None or isinstance(tagged, Mapping))
    )


def is_scorer_run_output_for_agent(value: Any, *, compat: Compat | None = None) -> bool:
    """Return whether a value is the output of an agent's run: a list of messages.

    >>> is_scorer_run_output_for_agent([{"role": "assistant", "content": "Hi"}])
    True
    """
    check_compat(compat)
    if compat is not None:
        return mastra.is_run_output(value)
    return _is_conversation(value)


def _is_conversation(value: Any) -> bool:
    if not isinstance(value, list | tuple) or any(item is None for item in value):
        return False
    try:
        convert(value)
    except TrajscopeError:
        return False
    return True


def round_to_two_decimals(number: float, *, compat: Compat | None = None) -> int | float:
    """Return a number to two decimals as it is read, halves away from zero.

    Binary fractions decide nothing: 1.005 is 1.01. Under compat halves go up, nearly.

    Raises:
        UsageError: it is no finite number; under compat, it is no number.

    >>> round_to_two_decimals(1.005), round_to_two_decimals(-0.015)
    (1.01, -0.02)
    """
    check_compat(compat)
    if compat is not None:
        return mastra.rounded(number)
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise UsageError(f"is no finite number (got {shown(number)}); a number was expected")
    digits = Decimal(repr(number))
    if abs(digits) >= 2**53:  # no fraction left to round
        return number
    return float(digits.quantize(Decimal("0.01"), ROUND_HALF_UP))
