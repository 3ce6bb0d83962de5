"""`to_messages`: messages of any library in the reference's form.

One thing a newcomer would get wrong: which library wrote a message is seen message by message, so a
conversation may mix them; what no library writes is an error and not an empty conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as shown
from typing import Any

from trajscope.errors import UsageError
from trajscope.evals.adapters._join import Converted, join_turns
from trajscope.evals.adapters._plain import plain
from trajscope.evals.adapters._shapes import read_message
from trajscope.evals.adapters._turn import Turn
from trajscope.model.span import Json

_HINT = (
    "messages of OpenAI (chat, Responses), Anthropic, LangChain, pydantic-ai, the AI SDK, Gemini, "
    "Bedrock and the reference are known, as objects or as JSON"
)


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
    turns = [
        (index, turn)
        for index, message in enumerate(_listed(messages))
        for part in _opened(message)
        for turn in _turns(index, part)
    ]
    return join_turns(turns)


def _listed(messages: Any) -> Sequence[Any]:
    messages = plain(messages)
    if isinstance(messages, Mapping):
        inner = messages.get("messages")
        return inner if isinstance(inner, list) and "role" not in messages else [messages]
    if not isinstance(messages, list):
        raise UsageError(
            f"messages: is no list (got {shown(messages)}); messages were expected", hint=_HINT
        )
    return messages


def _opened(message: Json) -> Sequence[Json]:
    """Return the messages inside a whole response of OpenAI's APIs; any other message as it is."""
    match message:
        case {"object": "response", "output": [*items]}:
            return items
        case {"choices": [{"message": dict() as first}, *_]}:
            return [first]
    return [message]


def _turns(index: int, message: Json) -> list[Turn]:
    if message is None:
        return []
    turns = read_message(message) if isinstance(message, dict) else None
    if turns is None:
        what = (
            f"an object of {shown(sorted(message))}"
            if isinstance(message, dict)
            else shown(message)
        )
        raise UsageError(
            f"message {index}: is of no known shape (got {what}); a message was expected",
            hint=_HINT,
        )
    return turns
