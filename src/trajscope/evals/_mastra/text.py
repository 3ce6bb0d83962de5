"""Texts of messages as the reference finds them.

One thing a newcomer would get wrong: there are two readings. `text_content` is for a list of texts
(absent is ""), `text_value` for looking one up (absent is None); of several text parts both take
the last, while `output_text` (an output that is an object) mixes the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from trajscope.match.js import MalformedValue, elements, member, truthy

Json = Any


def text_content(message: Json) -> Json:
    """Return the text of a message, "" when it has none.

    Raises:
        MalformedValue: the message, or a part of it, is null.
    """
    content = member(message, "content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return _last_text(content)
    if not isinstance(content, Mapping):
        return ""
    for key in ("content", "text"):
        text = content.get(key)
        if isinstance(text, str) and text:
            return text
    parts = content.get("parts")
    return _last_text(parts) if isinstance(parts, list) else ""


def _last_text(parts: list[Json]) -> Json:
    texts = [part for part in parts if member(part, "type") == "text"]
    text = texts[-1].get("text") if texts else None
    return text if truthy(text) else ""


def text_value(value: Json) -> str | None:
    """Return the text inside a message or a content of any shape, None when there is none.

    Of an object: its content, else its non-empty text, else its non-empty body, else its parts.
    """
    todo = [value]
    seen: set[int] = set()
    while todo:
        item = todo.pop()
        if isinstance(item, str) and item:
            return item
        if isinstance(item, list):
            texts = [text for part in item if isinstance(text := _text_of_part(part), str)]
            if texts:
                return texts[-1]
        elif isinstance(item, Mapping) and id(item) not in seen:
            seen.add(id(item))
            fallbacks = [("parts", list), ("body", str), ("text", str)]
            todo += [item[k] for k, kind in fallbacks if isinstance(item.get(k), kind)]
            todo.append(item.get("content"))
    return None


def _text_of_part(part: Json) -> Json:
    return part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None


def effective_role(message: Json) -> Json:
    """Return the role; of a signal, the tag name or type it stands for."""
    if not isinstance(message, Mapping):
        return None
    role = message.get("role")
    if role != "signal":
        return role
    signal: Json = message
    for key in ("content", "metadata", "signal"):
        signal = signal.get(key) if isinstance(signal, Mapping) else None
    named = [signal.get(k) for k in ("tagName", "type")] if isinstance(signal, Mapping) else []
    return next((n for n in [*named, message.get("type")] if isinstance(n, str)), None)


def user_message(run_input: Json) -> str | None:
    """Return the text of the user's message in a run's input."""
    if isinstance(run_input, str):
        return run_input
    if not isinstance(run_input, Mapping):
        return None
    for key in ("inputMessages", "messages"):
        asked = [m for m in _list(run_input.get(key)) if effective_role(m) == "user"]
        if asked and (text := text_value(asked[0])) is not None:
            return text
    for key in ("prompt", "text"):
        if isinstance(run_input.get(key), str):
            return str(run_input[key])
    values = (text_value(run_input.get(key)) for key in ("content", "input", "user"))
    return next((text for text in values if text is not None), None)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def assistant_message(output: Json) -> Json:
    """Return the text of the assistant's message in a run's output.

    Raises:
        MalformedValue: a part of an output that is an object is null.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, list):
        said = (text_value(m) for m in reversed(output) if effective_role(m) == "assistant")
        return next((text for text in said if text), None)
    return output_text(output)


def output_text(output: Json) -> Json:
    """Return the text of an output that is an object; None when it is another's or has none."""
    while isinstance(output, Mapping) and output.get("role", "assistant") == "assistant":
        for key in ("text", "content"):
            if isinstance(output.get(key), str):
                return output[key]
        text = text_content(output)
        if truthy(text):
            return text
        output = output.get("content")
    if isinstance(output, list):
        return text_value(output) or None
    return None


def reasoning(output: Json) -> Json:
    """Return the reasoning of the first assistant message.

    Raises:
        MalformedValue: the output is no list, or a message, its content or a part is null.
    """
    if not truthy(output):
        return None
    if not isinstance(output, list):
        raise MalformedValue(f"output: is no list (got {shown(output)}); messages were expected")
    message = next((m for m in output if member(m, "role") == "assistant"), None)
    if message is None:
        return None
    content = member(message, "content")
    found = member(content, "reasoning")
    if truthy(found):
        return found
    parts = member(content, "parts")
    if not truthy(parts):
        return None
    if not isinstance(parts, list):
        raise MalformedValue(f"parts: is no list (got {shown(parts)}); a list was expected")
    texts = (_reasoning_of(p) for p in parts if member(p, "type") == "reasoning")
    return "\n".join(str(text) for text in texts if truthy(text)) or None


def _reasoning_of(part: Json) -> Json:
    details = member(part, "details")
    if not isinstance(details, list):
        return member(part, "reasoning")
    texts = [member(d, "text") for d in details if member(d, "type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def input_messages(run_input: Json) -> list[Json]:
    """Return the texts of all input messages.

    Raises:
        MalformedValue: the messages are no list, or one of them is null.
    """
    messages = run_input.get("inputMessages") if isinstance(run_input, Mapping) else None
    if messages is None:
        return []
    if not isinstance(messages, list):
        raise MalformedValue(f"inputMessages: is no list (got {shown(messages)})")
    return [text_content(message) for message in messages]


def agent_response_messages(output: Json) -> list[Json]:
    """Return the texts of the messages whose role is exactly "assistant".

    Raises:
        MalformedValue: the output is no list, or one of the messages is null.
    """
    if isinstance(output, str):
        raise MalformedValue(f"output: is no list (got {shown(output)}); messages were expected")
    said = [m for m in elements(output, "output") if member(m, "role") == "assistant"]
    return [text_content(message) for message in said]
