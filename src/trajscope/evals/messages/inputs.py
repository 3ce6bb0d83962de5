"""What an agent was given: the user's message, system prompts and history from the input of a run.

One thing a newcomer would get wrong: an input is a mapping with lists of messages in it
(`input_messages`, `system_messages`, …, either spelling), but a bare text or a list will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as shown
from typing import Any

from trajscope.errors import UsageError
from trajscope.evals._mastra import system as mastra_system
from trajscope.evals._mastra import text as mastra
from trajscope.evals.adapters import convert, plain
from trajscope.evals.messages._content import member, role_of, text_in, texts_of
from trajscope.evals.scorer import Compat, check_compat
from trajscope.model.span import Json
from trajscope.values import text_of

_MAX_NESTING = 20


def get_user_message_from_run_input(run_input: Any, *, compat: Compat | None = None) -> str | None:
    """Return the text of the first user message that has one; None when none has.

    Without messages: the input's prompt, text, content, input or user, the first that has text.

    Raises:
        UsageError: the input is neither mapping, list nor text, or holds a message of no known
            shape.

    >>> get_user_message_from_run_input({"input_messages": [{"role": "user", "content": "Hi"}]})
    'Hi'
    """
    check_compat(compat)
    if compat is not None:
        return mastra.user_message(run_input)
    value = plain(run_input)
    for _ in range(_MAX_NESTING):
        if value is None or isinstance(value, str):
            return value or None
        found = next((text for text in _messages(value, "user") if text), None)
        if found is not None or not isinstance(value, Mapping):
            return found
        values = [text_of(value.get(key)) for key in ("prompt", "text")]
        values.append(text_in(value) or None)
        if text := next((v for v in values if v), None):
            return text
        value = value.get("input") or value.get("user")
    return None


def _messages(run_input: Json, role: str | None = None) -> Iterator[str]:
    """Yield the texts of the input's messages; of a mapping, of both lists it may have."""
    for messages in _lists(run_input, "inputMessages", "messages"):
        yield from texts_of(messages, role)


def _lists(run_input: Json, *names: str) -> Iterator[Json]:
    """Yield the lists of messages an input holds under `names`; a list is itself the messages.

    Raises:
        UsageError: the input is neither mapping nor list, or what it holds is no list.
    """
    if isinstance(run_input, list):
        yield run_input
        return
    if not isinstance(run_input, Mapping):
        raise UsageError(
            f"input: is no run input (got {shown(run_input)}); a mapping was expected",
            hint='give {"input_messages": [...]}, a list of messages or a text',
        )
    if isinstance(run_input.get("role"), str):
        yield [run_input]
        return
    for name in names:
        yield _listed(member(run_input, name), name)


def _listed(messages: Json, name: str) -> list[Json]:
    if messages is None:
        return []
    if not isinstance(messages, list):
        raise UsageError(f"{name}: is no list (got {shown(messages)}); messages were expected")
    return messages


def extract_input_messages(run_input: Any, *, compat: Compat | None = None) -> list[str]:
    """Return the text of every input message, whoever speaks; "" for one without text.

    Raises:
        UsageError: the input is neither mapping, list nor text, or its messages are no list.
    """
    check_compat(compat)
    if compat is not None:
        return mastra.input_messages(run_input)
    value = plain(run_input)
    if value is None or isinstance(value, str):
        return [value] if value else []
    return list(_messages(value))


def get_system_messages_from_run_input(
    run_input: Any, *, compat: Compat | None = None
) -> list[str]:
    """Return the texts of all system messages: the input's own, those among its messages, tagged.

    Raises:
        UsageError: the input is neither mapping, list nor text, or what it holds is no list.

    >>> get_system_messages_from_run_input({"system_messages": ["Be brief."]})
    ['Be brief.']
    """
    check_compat(compat)
    if compat is not None:
        return mastra_system.system_messages(run_input)
    value = plain(run_input)
    if value is None or isinstance(value, str):
        return []
    texts: list[str] = []
    if isinstance(value, Mapping):
        texts += _standing_texts(member(value, "systemMessages"), "systemMessages")
    texts += _messages(value, "system")
    if isinstance(value, Mapping):
        tagged = member(value, "taggedSystemMessages")
        for tag, messages in tagged.items() if isinstance(tagged, Mapping) else ():
            texts += _standing_texts(messages, f"taggedSystemMessages.{tag}")
    return [text for text in texts if text]


def _standing_texts(messages: Json, name: str) -> list[str]:
    """Return the texts of messages that are the system's whatever role they have."""
    found = [
        {"role": "system", "content": message} if isinstance(message, str) else message
        for message in _listed(messages, name)
    ]
    return list(texts_of([{**m, "role": "system"} if isinstance(m, Mapping) else m for m in found]))


def get_combined_system_prompt(run_input: Any, *, compat: Compat | None = None) -> str:
    """Return all system messages as one text, an empty line between them; "" for none.

    Raises:
        UsageError: as `get_system_messages_from_run_input` does.
    """
    return "\n\n".join(get_system_messages_from_run_input(run_input, compat=compat))


def get_conversation_history_from_run_input(
    run_input: Any, *, max_messages: Any = None, compat: Compat | None = None
) -> str | None:
    """Return the remembered messages that have text, one per line with its role; None for none.

    max_messages: how many of the last ones; all by default (ten under compat).

    Raises:
        UsageError: the input is neither mapping nor list, its messages are no list, or
            `max_messages` is no whole number from 0.
    """
    check_compat(compat)
    if compat is not None:
        return mastra_system.conversation_history(run_input, max_messages)
    if max_messages is not None and (
        isinstance(max_messages, bool) or not isinstance(max_messages, int) or max_messages < 0
    ):
        raise UsageError(
            f"max_messages: is no count (got {shown(max_messages)}); a whole number was expected"
        )
    value = plain(run_input)
    if not isinstance(value, Mapping):
        return None
    remembered = _listed(member(value, "rememberedMessages"), "rememberedMessages")
    said = (converted.message for converted in convert(remembered))
    lines = [f"{role_of(m)}: {text}" for m in said if (text := text_in(m).strip())]
    kept = lines if max_messages is None else lines[max(0, len(lines) - max_messages) :]
    return "\n".join(kept) or None
