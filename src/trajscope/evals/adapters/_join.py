"""Turns joined into messages of the reference's form: every answer beside the call it belongs to.

One thing a newcomer would get wrong: an answer belongs to the last open call of its id before it.
Ids repeat, within one conversation too, when a model or a test double counts from one each turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from trajscope.evals.adapters._parts import Answer, Part, call_part, fill
from trajscope.evals.adapters._turn import Turn
from trajscope.model.span import Json
from trajscope.values import equal_json

_NOT_ANSWERED: Any = object()
Invocation = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Converted:
    """A message of the reference's form, and the index of the one it was made from."""

    index: int
    message: dict[str, Json]


def join_turns(turns: Sequence[tuple[int, Turn]]) -> list[Converted]:
    """Return the messages of a conversation's turns, each with the index of its original."""
    joiner = _Joiner(turns)
    standing: list[Part | Answer] | None = None
    for index, turn in turns:
        if turn.is_standing:
            if turn.parts == standing:
                continue
            standing = turn.parts
        joiner.add(index, turn)
    return joiner.found


class _Joiner:
    """Collects messages and puts answers into the calls they belong to."""

    def __init__(self, turns: Sequence[tuple[int, Turn]]) -> None:
        self.found: list[Converted] = []
        parts = [part for _, turn in turns for part in turn.parts]
        self._answer_ids = {part.call_id for part in parts if isinstance(part, Answer)}
        self._open: dict[tuple[str, str], list[Invocation]] = {}
        self._adrift: list[Invocation] = []
        self._has_answers = False
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
        if self._has_answers:
            self._adrift, self._has_answers = [], False
        call_id = invocation.get("toolCallId")
        if isinstance(call_id, str):
            self._open.setdefault(("id", call_id), []).append(invocation)
            if call_id not in self._answer_ids:
                self._adrift.append(invocation)
        else:
            name = str(invocation.get("toolName"))
            self._open.setdefault(("name", name), []).append(invocation)

    def _answer(self, answer: Answer) -> Part | None:
        """Put an answer where it belongs; return a part of its own when its call is unknown."""
        invocation = self._take(answer)
        self._has_answers = True
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

    def _take(self, answer: Answer) -> Invocation | None:
        """Return the call an answer belongs to.

        The last open one of its id; else the first open one of its tool that has no id; else, for
        libraries that write two ids for one call, the first call just made whose id no answer has.
        """
        if answer.call_id is not None and (waiting := self._open.get(("id", answer.call_id))):
            return waiting.pop()
        if answer.name and (waiting := self._open.get(("name", answer.name))):
            return waiting.pop(0)
        if self._adrift and answer.name in (None, self._adrift[0].get("toolName")):
            return self._adrift.pop(0)
        return None


def _message(turn: Turn, parts: list[Part]) -> dict[str, Json]:
    message: dict[str, Json] = {"id": turn.id} if turn.id else {}
    message |= {"role": turn.role, "content": {"format": 2, "parts": parts}}
    if turn.created_at:
        message["createdAt"] = turn.created_at
    return message
