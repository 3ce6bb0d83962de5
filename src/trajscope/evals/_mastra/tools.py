"""Tool invocations in messages as the reference finds them, and the trajectory they make.

One thing a newcomer would get wrong: a message may hold its invocations twice, as parts and in the
older `toolInvocations`. Parts win, and the older list only adds what no part names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as shown
from typing import Any

from trajscope.match.js import UNDEFINED, MalformedValue, member, truthy

Json = Any
_STATES = ("result", "call", "output-error")


def merged_invocations(message: Json) -> list[Json]:
    """Return the invocations of a message, each once.

    Raises:
        MalformedValue: the parts or the older list are no lists, or a part is null.
    """
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, Mapping):
        return []
    parts = _list(content, "parts")
    ours = [p["toolInvocation"] for p in parts if _is_invocation(p)]
    return merge(ours, _list(content, "toolInvocations"))


def _is_invocation(part: Json) -> bool:
    return member(part, "type") == "tool-invocation" and truthy(member(part, "toolInvocation"))


def _list(content: Mapping[str, Json], key: str) -> list[Json]:
    value = content.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedValue(f"{key}: is no list (got {shown(value)}); a list was expected")
    return value


def merge(parts: list[Json], older: list[Json]) -> list[Json]:
    """Return the invocations of both lists; `older` adds those whose id no part has.

    Such a one stands before the next part that the older list has too and has later, so that the
    order of calls survives; what is left stands at the end.
    """
    named = {_key(part) for part in parts} - {None}
    place = {_key(item): index for index, item in enumerate(older)}
    extra = [truthy(item) and _key(item) not in named for item in older]
    out: list[Json] = []
    done = 0
    for part in parts:
        key = _key(part)
        index = place.get(key, -1) if key is not None else -1
        if index >= done:
            out += [older[i] for i in range(done, index) if extra[i]]
            done = index + 1
        out.append(part)
    return out + [older[i] for i in range(done, len(older)) if extra[i]]


def _key(invocation: Json) -> Json:
    """Return what an id is compared by; None for an absent or empty one, which equals nothing."""
    call_id = invocation.get("toolCallId") if isinstance(invocation, Mapping) else None
    if not truthy(call_id):
        return None
    hashable = isinstance(call_id, str | int | float | bool)
    return (isinstance(call_id, bool), call_id) if hashable else id(call_id)


def _invocations(output: Json) -> Iterator[tuple[int, int, Mapping[str, Json]]]:
    """Yield message index, invocation index and invocation of every known call."""
    for index, message in enumerate([] if isinstance(output, str) else output):
        for rank, item in enumerate(merged_invocations(message)):
            if isinstance(item, Mapping) and truthy(item.get("toolName")):
                yield index, rank, item


def tool_calls(output: Json) -> dict[str, Json]:
    """Return the names of the called tools, and where each call stands.

    Raises:
        MalformedValue: the output is null, or a message of it is malformed.
    """
    if output is None or output is UNDEFINED:
        raise MalformedValue("output: is null; a list of messages was expected")
    infos = [
        {
            "toolName": item["toolName"],
            "toolCallId": item["toolCallId"]
            if truthy(item.get("toolCallId"))
            else f"{index}-{rank}",
            "messageIndex": index,
            "invocationIndex": rank,
        }
        for index, rank, item in _invocations(output if isinstance(output, list) else "")
        if item.get("state") in _STATES
    ]
    return {"tools": [info["toolName"] for info in infos], "toolCallInfos": infos}


def tool_results(output: Json) -> list[dict[str, Json]]:
    """Return the results of the calls that have one.

    Raises:
        MalformedValue: the output is no list, or a message of it is malformed.
    """
    return [
        {
            "toolName": item["toolName"],
            "toolCallId": item["toolCallId"] if truthy(item.get("toolCallId")) else "",
            "args": item["args"] if truthy(item.get("args")) else {},
            "result": item["result"],
        }
        for _, _, item in _invocations(_iterable(output))
        if item.get("state") == "result" and "result" in item
    ]


def message_trajectory(output: Json) -> dict[str, Json]:
    """Return the trajectory JSON of an agent's output.

    Raises:
        MalformedValue: the output is no list, or a message of it is malformed.
    """
    steps = []
    for _, _, item in _invocations(_iterable(output)):
        state = item.get("state")
        if state not in _STATES:
            continue
        step = {"stepType": "tool_call", "name": item["toolName"]}
        put_boxed(step, "toolArgs", item.get("args"))
        if state == "result":
            put_boxed(step, "toolResult", item.get("result"))
        step["success"] = state == "result" and item.get("isError") is not True
        steps.append(step)
    return {"steps": steps, "rawOutput": output}


def _iterable(output: Json) -> Json:
    if not isinstance(output, list | str):
        raise MalformedValue(f"output: is no list (got {shown(output)}); messages were expected")
    return output


def put_boxed(step: dict[str, Json], key: str, value: Json) -> None:
    """Set an object as it is, any other value but null as {"value": …}."""
    if value is not None and value is not UNDEFINED:
        step[key] = value if isinstance(value, Mapping) else {"value": value}
