"""What two readings of one step know together.

One thing a newcomer would get wrong: nothing that the first one knows is ever overruled. The other
fills gaps only, and adds the calls and results that stand in further messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType, ToolRequest, ToolResponse

_EMPTY = Reading()
_OF_TOOLS = ("args", "args_value", "result")
_MESSAGES = ("requests", "responses")
_EVIDENCE = ("failed", "failure", "not_failure")
_ADDED = (
    *(*_OF_TOOLS, *_EVIDENCE, "tool_call_id", "mcp_server"),
    *("model", "provider", "finish_reason", "response_id", "usage", *_MESSAGES),
)
"""What a reading may learn from another of the same step."""

EVENTS = "events"
"""The source of what was read from events: each of them may add a call or a result."""

_Item = TypeVar("_Item", ToolRequest, ToolResponse)


def completed(reading: Reading, other: Reading) -> Reading:
    """Return a reading with what another of the same step knows beyond it.

    One without a convention is that of an event alone (`Reader.of_event`), and says something of
    any tool or model call.

    >>> completed(Reading(convention="c", name="n"), Reading(convention="c", model="m")).model
    'm'
    """
    if not other.convention:
        names = _told_by_an_event(reading, other)
    elif (other.convention, other.step_type) == (reading.convention, reading.step_type):
        names = _ADDED
    else:
        return reading
    found = dict(_found(reading, other, names))
    if reading.args is not UNSET:
        found.pop("args_value", None)
    if reading.failed is not None:
        found.pop("failure", None)
        found.pop("not_failure", None)
    if not found:
        return reading
    sources = {name: other.sources[name] for name in found if name in other.sources}
    return msgspec.structs.replace(reading, **found, sources={**reading.sources, **sources})


def _told_by_an_event(reading: Reading, other: Reading) -> tuple[str, ...]:
    """The fields an event can tell of a step: failure in a result is that of a call."""
    if reading.step_type in TOOL_STEP_TYPES:
        return (*_OF_TOOLS, *_EVIDENCE)
    names = _EVIDENCE if other.result is UNSET else ()
    is_model = reading.is_model_call or reading.step_type is StepType.MODEL_GENERATION
    return (*names, *_MESSAGES) if is_model else names


def _found(reading: Reading, other: Reading, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        mine, theirs = getattr(reading, name), getattr(other, name)
        if theirs == getattr(_EMPTY, name):
            continue
        if mine == getattr(_EMPTY, name):
            yield name, theirs
        elif name in _MESSAGES and reading.sources.get(name) == EVENTS:
            both = _both(mine, theirs)
            if len(both) > len(mine):
                yield name, both


def _both(mine: tuple[_Item, ...], theirs: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """Return the calls or results of two readings; one with an id that is there is a repeat."""
    known = {item.call_id for item in mine if item.call_id is not None}
    return mine + tuple(item for item in theirs if item.call_id not in known and item not in mine)
