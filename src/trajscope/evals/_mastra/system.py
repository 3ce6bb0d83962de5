"""System messages and the remembered conversation of a run's input, as the reference finds them.

One thing a newcomer would get wrong: the order is fixed by where a message stands (system messages,
input messages, messages, tagged ones), not by time, and tags come in JavaScript's order of keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trajscope.evals._mastra.builders import is_run_input
from trajscope.evals._mastra.text import effective_role, text_content, text_value
from trajscope.match.js import UNDEFINED, member, ordered_keys, to_number

Json = Any
_BLANK = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What `String.prototype.trim` takes off."""


def system_messages(run_input: Json) -> list[str]:
    """Return the texts of all system messages.

    Raises:
        MalformedValue: one of `systemMessages`, or a part of it, is null.
    """
    if not isinstance(run_input, Mapping):
        return []
    texts: list[Json] = [_joined(m) for m in _list(run_input.get("systemMessages"))]
    for key in ("inputMessages", "messages"):
        found = [m for m in _list(run_input.get(key)) if _role(m) == "system"]
        texts += [text_value(message) for message in found]
    for messages in _members(run_input.get("taggedSystemMessages")):
        texts += [text_value(message) for message in _list(messages)]
    return [text for text in texts if text]


def _role(message: Json) -> Json:
    return message.get("role") if isinstance(message, Mapping) else None


def _joined(message: Json) -> str | None:
    """Return a content that is a text, or its text parts joined by blanks; else nothing."""
    content = member(message, "content")
    if isinstance(content, str):
        return content
    texts = [member(p, "text") for p in _list(content) if member(p, "type") == "text"]
    return " ".join(text if isinstance(text, str) else "" for text in texts)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _members(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return [value[key] for key in ordered_keys(value)]
    return _list(value)


def conversation_history(run_input: Json, max_messages: Json = UNDEFINED) -> str | None:
    """Return the last remembered messages with a text, one per line with its role.

    Ten when `max_messages` is not given or null.

    Raises:
        MalformedValue: a part of a message is null.
    """
    if not is_run_input(run_input):
        return None
    count = 10.0 if max_messages is UNDEFINED or max_messages is None else to_number(max_messages)
    if count <= 0:
        return None
    lines = []
    # Blank messages count among the last ones: they are left out afterwards.
    for message in _last(run_input["rememberedMessages"], count):
        role = effective_role(message)
        if isinstance(role, str) and (text := _trimmed(text_content(message))):
            lines.append(f"{role}: {text}")
    return "\n".join(lines) or None


def _last(messages: list[Json], count: float) -> list[Json]:
    """Return `messages.slice(-count)`: all of them for a fraction below one, and for NaN."""
    whole = 0 if math.isnan(count) else int(min(count, len(messages)))
    return messages[-whole:]


def _trimmed(text: Json) -> str:
    return text.strip(_BLANK) if isinstance(text, str) else ""
