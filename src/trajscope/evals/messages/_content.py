"""What one message of the reference's form says: text, reasoning, who speaks.

One thing a newcomer would get wrong: a message has its text up to three times (`content`, `text`,
`parts`), and stores often keep only the last part outside the parts. The fullest one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trajscope.evals.adapters import convert
from trajscope.model.span import Json
from trajscope.values import text_of

_MAX_NESTING = 20


def texts_of(messages: Any, role: str | None = None) -> Iterator[str]:
    """Yield the text of every message, or of those of one role; "" for one without text."""
    for converted in convert(messages):
        if role in (None, role_of(converted.message)):
            yield text_in(converted.message)


def text_in(message: Mapping[str, Json]) -> str:
    """Return all text of a message, its parts joined by line breaks; "" when it has none."""
    content: Json = message.get("content")
    for _ in range(_MAX_NESTING):
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            return _joined(content)
        if not isinstance(content, Mapping):
            return ""
        parts = _joined(content.get("parts"))
        own = _joined(content.get("content")) or text_of(content.get("text"))
        own = own or text_of(content.get("body")) or ""
        if own or parts:
            return parts if own in parts else own
        content = content.get("content")
    return ""


def _joined(value: Json) -> str:
    """Return a text, or the non-empty text parts of a list; "" for anything else."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else ()
    texts = (
        part.get("text")
        for part in parts
        if isinstance(part, Mapping) and part.get("type") == "text"
    )
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def reasoning_in(message: Mapping[str, Json]) -> str:
    """Return all reasoning of a message; "" when it has none."""
    content = message.get("content")
    if not isinstance(content, Mapping):
        return ""
    if own := text_of(content.get("reasoning")):
        return own
    parts = content.get("parts")
    found = [_thought(p) for p in parts if _is_thought(p)] if isinstance(parts, list) else []
    return "\n".join(text for text in found if text)


def _is_thought(part: Json) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "reasoning"


def _thought(part: Mapping[str, Json]) -> str:
    """Return the text of a reasoning part: of its details, which are cut pieces of one text."""
    details = part.get("details")
    pieces = details if isinstance(details, list) else ()
    texts = (d.get("text") for d in pieces if isinstance(d, Mapping) and d.get("type") == "text")
    whole = "".join(text for text in texts if isinstance(text, str))
    return whole or text_of(part.get("reasoning")) or text_of(part.get("text")) or ""


def role_of(message: Mapping[str, Json]) -> str:
    """Return who speaks: the role, or what a signal stands for; "" when it is not recorded."""
    role = message.get("role")
    if role == "signal":
        signal: Json = message
        for key in ("content", "metadata", "signal"):
            signal = signal.get(key) if isinstance(signal, Mapping) else None
        inner: Mapping[str, Json] = signal if isinstance(signal, Mapping) else {}
        role = inner.get("tagName") or inner.get("type") or message.get("type")
    return role if isinstance(role, str) else ""


def member(value: Mapping[str, Json], name: str) -> Json:
    """Return a member by its camelCase name, or its snake_case one; None when absent.

    >>> member({"input_messages": [1]}, "inputMessages")
    [1]
    """
    if name in value:
        return value[name]
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return value.get(snake)
