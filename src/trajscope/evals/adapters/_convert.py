"""`to_messages`: turns of any library joined into messages of the reference's form.

One thing a newcomer would get wrong: an answer belongs to the last open call of its id before it.
Ids repeat, within one conversation too, when a model or a test double counts from one each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from trajscope.errors import UsageError
from trajscope.evals.adapters._parts import Answer, Part, call_part, fill
from trajscope.evals.adapters._plain import plain
from trajscope.evals.adapters._shapes import read_message
from trajscope.evals.adapters._turn import Turn
from trajscope.model.span import Json
from trajscope.values import equal_json

_HINT = (
    "messages of OpenAI (chat, Responses), Anthropic, LangChain, pydantic-ai, the AI SDK, Gemini, "
    "Bedrock and the reference are known, as objects or as JSON"
)


_NOT_ANSWERED: Any = object()


@dataclass(frozen=True, slots=True)
class Converted:
    """A message of the reference's form, and the index of the one it was made from."""

    index: int
    message: dict[str, Json]


def to_messages(messages: Any) -> list[dict[str, Json]]:
    """Return messages of any known library in the reference's form.

    Takes a list of messages, one message, or an object that holds them under `messages`. A
    message of the reference's form is handed on as it is. What answers a call is put beside the
    call: a message that says nothing else vanishes. Times are kept where a message records one.

    Raises:
        UsageError: this is no list of messages, or one of them is of no known shape.

    >>> found = to_messages([{"role": "user", "content": "hi"}])
    >>> found[0]["content"]
    {'format': 2, 'parts': [{'type': 'text', 'text': 'hi'}]}
    """
    return [converted.message for converted in convert(messages)]


def convert(messages: Any) -> list[Converted]:
    """Return messages in the reference's form, each with the index of its original.

    Raises:
        UsageError: as `to_messages` does.
    """
    joiner = _Joiner()
    standing: list[Part | Answer] | None = None
    for index, message in enumerate(_listed(messages)):
        for turn in _turns(index, message):
            if turn.is_standing:
                if turn.parts == standing:
                    continue
                standing = turn.parts
            joiner.add(index, turn)
    return joiner.found


def _listed(messages: Any) -> Iterable[Any]:
    messages = plain(messages)
    if isinstance(messages, Mapping):
        inner = messages.get("messages")
        return inner if isinstance(inner, list) and "role" not in messages else [messages]
    if not isinstance(messages, list):
        raise UsageError(
            f"messages: is no list (got {messages!r:.80}); messages were expected", hint=_HINT
        )
    return messages


def _turns(index: int, message: Json) -> list[Turn]:
    if message is None:
        return []
    turns = read_message(message) if isinstance(message, dict) else None
    if turns is None:
        shown = f"an object of {sorted(message)}" if isinstance(message, dict) else repr(message)
        raise UsageError(
            f"message {index}: is of no known shape (got {shown:.120}); a message was expected",
            hint=_HINT,
        )
    return turns


class _Joiner:
    """Collects messages and puts answers into the calls they belong to."""

    def __init__(self) -> None:
        self.found: list[Converted] = []
        self._open: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._answered: dict[str, Json] = {}

    def add(self, index: int, turn: Turn) -> None:
        """Take one turn."""
        if turn.whole is not None:
            self.found.append(Converted(index, turn.whole))
            return
        parts: list[Part] = []
        for part in turn.parts:
            if not isinstance(part, Answer):
                parts.append(part)
                self._ask(part.get("toolInvocation"))
            elif (own := self._answer(part)) is not None:
                parts.append(own)
        if parts or not turn.parts:
            self.found.append(Converted(index, _message(turn, parts)))

    def _ask(self, invocation: Json) -> None:
        if not isinstance(invocation, dict) or invocation.get("state") != "call":
            return
        name, call_id = invocation.get("toolName"), invocation.get("toolCallId")
        key = ("id", call_id) if isinstance(call_id, str) else ("name", str(name))
        self._open.setdefault(key, []).append(invocation)

    def _answer(self, answer: Answer) -> Part | None:
        """Put an answer where it belongs; return a part of its own when its call is unknown."""
        invocation = self._take(answer)
        if invocation is not None:
            fill(invocation, answer)
            if answer.call_id is not None:
                self._answered[answer.call_id] = answer.result
            return None
        known = self._answered.get(answer.call_id or "", _NOT_ANSWERED)
        if known is not _NOT_ANSWERED and equal_json(known, answer.result):
            return None  # the conversation repeats itself
        part = call_part(answer.call_id, answer.name or "", UNSET)
        fill(part["toolInvocation"], answer)
        return part

    def _take(self, answer: Answer) -> dict[str, Any] | None:
        """Return the call an answer belongs to: the last open of its id, else the first by name."""
        if answer.call_id is not None and (waiting := self._open.get(("id", answer.call_id))):
            return waiting.pop()
        waiting = self._open.get(("name", answer.name)) if answer.name else None
        return waiting.pop(0) if waiting else None


def _message(turn: Turn, parts: list[Part]) -> dict[str, Json]:
    message: dict[str, Json] = {"id": turn.id} if turn.id else {}
    message |= {"role": turn.role, "content": {"format": 2, "parts": parts}}
    if turn.created_at:
        message["createdAt"] = turn.created_at
    return message
