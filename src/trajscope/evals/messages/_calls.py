"""The tool calls of a conversation, each once, and what became of them.

One thing a newcomer would get wrong: a call may be recorded twice on its way, as requested and as
answered. An invocation that is still open is one with the next of its id, tool and arguments; two
answered ones are two calls, since ids repeat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import UNSET

from trajscope.evals._mastra.tools import merge
from trajscope.evals.adapters import convert, invocation_of_part
from trajscope.evidence import failure_in_result, is_refusal
from trajscope.model.span import Json
from trajscope.values import decode_json, equal_json, text_of

_OPEN = ("call", "partial-call")


class Outcome(NamedTuple):
    """What became of a call: `failed` is None for one that nothing answered."""

    failed: bool | None = None
    failure: str | None = None

    @property
    def executed(self) -> bool:
        """Whether the call ran; False for an open one, and for one the framework refused."""
        return self.failed is not None and not (self.failed and is_refusal(self.failure))


@dataclass(slots=True)
class Call:
    """A call: the invocation that tells most of it, and where the conversation first has it."""

    message_index: int
    invocation_index: int
    invocation: Mapping[str, Json]

    @property
    def name(self) -> str:
        """The tool's name; "" when it is not recorded."""
        return text_of(self.invocation.get("toolName")) or ""

    @property
    def call_id(self) -> str | None:
        """The call's own id."""
        return text_of(self.invocation.get("toolCallId"))

    @property
    def args(self) -> Json:
        """The arguments; UNSET when they are not recorded, or still arriving."""
        partial = self.invocation.get("state") == "partial-call"
        args = None if partial else self.invocation.get("args")
        return UNSET if args is None else args

    @property
    def result(self) -> Json:
        """The result; UNSET when there is none. What stands beside an open call is none."""
        return UNSET if self.is_open else self.invocation.get("result", UNSET)

    @property
    def is_open(self) -> bool:
        """Whether nothing has answered the call yet."""
        state = self.invocation.get("state")
        return state in _OPEN or (
            state not in ("result", "output-error")
            and "result" not in self.invocation
            and self.invocation.get("isError") is not True
        )

    @property
    def outcome(self) -> Outcome:
        """What became of it, by its state and the fields of its result."""
        if self.is_open:
            return Outcome()
        result = decode_json(self.result)
        found = failure_in_result(result)
        flagged = self.invocation.get("isError") is True
        if flagged or self.invocation.get("state") == "output-error" or found.failed:
            text = text_of(self.invocation.get("errorText")) or found.message or text_of(result)
            return Outcome(True, text)
        return Outcome(False)


def invocations_in(message: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Return the invocations of a message of the reference's form, each once.

    Parts win over the older `toolInvocations`, which adds only what no part names.
    """
    content = message.get("content")
    if not isinstance(content, Mapping):
        return []
    parts, older = content.get("parts"), content.get("toolInvocations")
    ours = [invocation_of_part(part) for part in parts] if isinstance(parts, list) else []
    rest = [item for item in older if isinstance(item, dict)] if isinstance(older, list) else []
    return merge([found for found in ours if found is not None], rest)


def calls_in(messages: Any) -> list[Call]:
    """Return the calls of a conversation, in the order they first stand there.

    Raises:
        UsageError: these are no messages.
    """
    calls: list[Call] = []
    still_open: dict[tuple[str, str], Call] = {}
    for converted in convert(messages):
        for rank, invocation in enumerate(invocations_in(converted.message)):
            call = Call(converted.index, rank, invocation)
            key = (call.call_id or "", call.name)
            earlier = still_open.pop(key, None) if call.call_id else None
            if earlier is not None and _may_be_one(earlier, call):
                earlier.invocation = {**earlier.invocation, **invocation}
                call = earlier
            else:
                calls.append(call)
            if call.call_id and call.is_open:
                still_open[key] = call
    return calls


def _may_be_one(earlier: Call, later: Call) -> bool:
    return earlier.args is UNSET or later.args is UNSET or equal_json(earlier.args, later.args)
