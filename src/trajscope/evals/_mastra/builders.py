"""Messages, tool invocations and runs to try scorers on, and what makes a value one of them.

One thing a newcomer would get wrong: the reference fills in for undefined only. A member that is
null stays null, except a message's parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from reprlib import repr as shown
from typing import Any

from trajscope.match.js import UNDEFINED, MalformedValue, coalesce, given, is_number, member, round2

Json = Any
_COPIED = ("toolCallId", "toolName", "args", "result", "state")
_LISTS = ("inputMessages", "rememberedMessages", "systemMessages")


def now() -> str:
    """Return the time as the reference's JSON has it: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tool_invocation(members: Json) -> dict[str, Json]:
    """Return a tool invocation of the known members that are given.

    Raises:
        MalformedValue: `members` is null.
    """
    found = {key: member(members, key) for key in (*_COPIED, "errorText", "isError")}
    found["state"] = given(found["state"], "result")
    return _defined(found)


def message(members: Json) -> dict[str, Json]:
    """Return a message of the reference's form.

    Raises:
        MalformedValue: `members` is null, or `toolInvocations` is no list of objects.
    """
    text = member(members, "content")
    parts = coalesce(member(members, "parts"), [_defined({"type": "text", "text": text})])
    content = _defined({"format": 2, "parts": parts, "content": text})
    invocations = given(member(members, "toolInvocations"), [])
    if not isinstance(invocations, list):
        raise MalformedValue(f"toolInvocations: is no list (got {shown(invocations)})")
    if invocations:
        content["toolInvocations"] = [
            _defined({key: member(item, key) for key in _COPIED}) for item in invocations
        ]
    return _defined(
        {
            "id": given(member(members, "id"), "test-message"),
            "role": member(members, "role"),
            "content": content,
            "createdAt": now(),
        }
    )


def _defined(value: dict[str, Json]) -> dict[str, Json]:
    return {key: item for key, item in value.items() if item is not UNDEFINED}


def is_run_input(value: Json) -> bool:
    """Return whether a value is an agent's run input to the reference."""
    if not isinstance(value, Mapping):
        return False
    tagged = value.get("taggedSystemMessages")
    return isinstance(tagged, Mapping | list) and all(
        isinstance(value.get(key), list) for key in _LISTS
    )


def is_run_output(value: Json) -> bool:
    """Return whether a value is an agent's run output to the reference."""
    return isinstance(value, list) and all(
        isinstance(message, Mapping)
        and isinstance(message.get("id"), str)
        and isinstance(message.get("role"), str)
        and {"content", "createdAt"} <= message.keys()
        for message in value
    )


def rounded(number: Json) -> int | float:
    """Return a number to two decimals.

    Raises:
        MalformedValue: it is no number.
    """
    if not is_number(number):
        raise MalformedValue(f"is no number (got {shown(number)}); a number was expected")
    return round2(number)
