"""Messages for tests: short factories for one by hand, strategies for arbitrary ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = Any


def invocation(name: str = "add", call_id: str | None = "1", **fields: Json) -> dict[str, Json]:
    """Return a tool invocation of the reference's form, answered unless a state says otherwise."""
    found = {"toolCallId": call_id, "toolName": name, "state": "result", **fields}
    return {key: value for key, value in found.items() if value is not None}


def message(
    *parts: Json, role: str = "assistant", older: list[Json] | None = None, **content: Json
) -> dict[str, Json]:
    """Return a message of the reference's form; a text or an invocation becomes a part."""
    body: dict[str, Json] = {"format": 2, "parts": [_part(part) for part in parts], **content}
    if older is not None:
        body["toolInvocations"] = older
    return {"role": role, "content": body}


def _part(part: Json) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and "toolName" in part:
        return {"type": "tool-invocation", "toolInvocation": part}
    return part


words = st.sampled_from(["a", "b", "", "Error: x", '{"isError": true}', "{'a': 1}", "\ud83d"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | words

_KEYS = sorted(
    {"role", "content", "parts", "type", "text", "toolInvocations", "toolInvocation"}
    | {"toolCallId", "toolName", "state", "result", "args", "isError", "id", "tool_calls"}
    | {"function", "name", "arguments", "tool_call_id", "call_id", "output", "kind"}
    | {"part_kind", "tool_name", "reasoning", "details", "metadata", "signal", "inputMessages"}
    | {"input_messages", "systemMessages", "taggedSystemMessages", "rememberedMessages"}
    | {"messages", "prompt", "data", "lc", "kwargs", "choices", "input", "functionCall"}
    | {"toolResult", "status", "startedAt", "endedAt", "error", "json"}
)
_WORDS = sorted(
    {"user", "assistant", "system", "tool", "signal", "ai", "human", "text"}
    | {"tool-invocation", "tool_use", "tool_result", "result", "call", "output-error"}
    | {"function_call", "function_call_output", "tool-add", "dynamic-tool", "request"}
    | {"response", "tool-call", "tool-return", "retry-prompt", "system-prompt", "reasoning"}
    | {"thinking", "web_search_call", "failed"}
)
keys = st.sampled_from(_KEYS)
values = scalars | st.sampled_from(_WORDS)

json_values = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=10,
)
"""Any JSON, made of the words messages are made of."""

blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(_WORDS)},
    optional=dict.fromkeys(("text", "id", "name", "input", "content", "output", "state"), values)
    | dict.fromkeys(("toolInvocation", "reasoning", "details", "functionCall"), json_values),
)
_BODY = {
    "content": st.lists(blocks, max_size=3) | json_values,
    "parts": st.lists(blocks, max_size=3) | json_values,
    **dict.fromkeys(("tool_calls", "toolInvocations", "tool_call_id", "name"), json_values),
    **dict.fromkeys(("status", "reasoning", "function_call"), json_values),
}
_pydantic_ai_parts = st.fixed_dictionaries(
    {"part_kind": st.sampled_from(_WORDS)},
    optional=dict.fromkeys(
        ("content", "args", "tool_name", "tool_call_id", "outcome"), json_values
    ),
)
message_likes = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(_WORDS)}, optional=_BODY),
    st.fixed_dictionaries({"type": st.sampled_from(_WORDS)}, optional=_BODY),
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["request", "response"]), "parts": st.lists(_pydantic_ai_parts)},
        optional={"instructions": values, "timestamp": values},
    ),
    blocks,
)
"""Objects with the outer shape of a library's messages and anything inside."""

invocations = st.builds(
    invocation,
    name=st.sampled_from(["a", "b"]),
    call_id=st.sampled_from(["1", "2", "3", None]),
    state=st.sampled_from(["result", "call", "partial-call", "output-error", "approval"]),
    args=st.sampled_from([{}, {"q": 1}, {"q": 2}, None]),
    result=st.sampled_from([None, 1, {"error": "x"}, "text"]),
)
texts = st.sampled_from(["one", "two", " ", ""])
reference_messages = st.builds(
    lambda parts, older, role: message(*parts, older=older, role=role),
    st.lists(texts | invocations, max_size=4),
    st.none() | st.lists(invocations, max_size=4),
    st.sampled_from(["assistant", "user", "system"]),
)
conversations = st.lists(reference_messages, max_size=5)
