"""Records that stand for calls find their place: a span of that call, or one made of the record.

One thing a newcomer would get wrong: a span made of a record is no authority. It silences no other
record, and it goes as soon as a span of that call is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from trajscope.assemble._calls import Call, Calls
from trajscope.assemble._encoded import encoded
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.tree import version_rank

Key = tuple[str, str]
_MODEL = "model call"

FROM_LOG = "trajscope.from_log"
"""Attribute of a span that was made from a log record; such a span is no authority over records."""


class Standin(NamedTuple):
    """A span that a log record stands for, with its reading.

    number: of the record, for whoever asks. trace_id, span_id: the span the record itself names.
    """

    number: int
    trace_id: str | None
    span_id: str | None
    span: Span
    reading: Reading

    @property
    def key(self) -> Key:
        """The span the record names, as a key."""
        return (self.trace_id or "", self.span_id or "")

    @property
    def places(self) -> tuple[Key, Key]:
        """The spans that may be made of the record, in its own trace or in the one it names."""
        return (
            (self.span.trace_id, self.span.span_id),
            (self.trace_id or "", self.span.span_id),
        )


def place_standins(known: Known, standins: Iterable[Standin]) -> dict[int, Key | Standin]:
    """Return, by number, the span each record is an event of, or what it becomes a span by.

    Records of one call go one way: to one span that records it, or to one that is made of the
    fullest of them. A record that neither says anything of a span nor of an unrecorded call is not
    among them.
    """
    found: dict[int, Key | Standin] = {}
    kept: list[_Records] = []
    for call in _calls(item for item in standins if not known.has(item)):
        target = known.same_call(call[0])
        if target is not None:
            found |= {item.number: target for item in call}
            continue
        news: _Records = []
        for item in call:
            if not known.records_kind(item):
                news.append(item)
            elif item.key in known.recorded:
                found[item.number] = item.key
        if news and not known.was_made(news[0]):
            kept.append(news)
    made = {item.places[0]: call[0].span.span_id for call in kept for item in call}
    made |= {call[0].places[0]: call[0].span.span_id for call in kept}
    becoming: dict[Key, list[tuple[Standin, _Records]]] = defaultdict(list)
    for call in kept:
        span = known.placed(call[0], made)
        becoming[span.trace_id, span.span_id].append((call[0]._replace(span=span), call))
    for versions in becoming.values():
        items = [item for item, _ in versions]
        fullest = items[0] if len(items) == 1 else max(items, key=_fullness)
        found |= {item.number: fullest for _, call in versions for item in call}
    return found


_Records = list[Standin]
"""The records of one call, the fullest first."""


def _calls(standins: Iterable[Standin]) -> Iterator[_Records]:
    """Yield the records of each call, in order of time, then by content: that costs more to ask."""
    by_call: dict[object, _Records] = defaultdict(list)
    for item in standins:
        by_call[_call(item)].append(item)
    calls = [c if len(c) == 1 else sorted(c, key=_fullness)[::-1] for c in by_call.values()]
    for _, alike in groupby(sorted(calls, key=_when), key=_when):
        found = list(alike)
        yield from found if len(found) == 1 else sorted(found, key=lambda call: _content(call[0]))


def _call(item: Standin) -> object:
    """Equal for records of one call: sent twice, with another resource, or masked and unmasked."""
    told = _told(item.span, item.reading)
    if told is None:
        return item.number
    return (item.trace_id, item.span.trace_id, told, None if told.by_id else item.span_id)


class _Told(NamedTuple):
    """What tells a call from the others of its trace or session."""

    by_id: bool
    kind: str
    name: str
    what: str | bytes
    end_ns: int | None


def _told(span: Span, reading: Reading) -> _Told | None:
    """A tool call by its id and when it ended, since ids may begin anew in each turn.

    A model call by the id of its response; what has no id by all it says; without a time not at
    all.
    """
    kind = _kind(reading)
    if kind is None:
        return None
    if reading.step_type in TOOL_STEP_TYPES and reading.tool_call_id:
        return _Told(True, kind, reading.name, reading.tool_call_id, span.end_ns)
    if reading.is_model_call and reading.response_id:
        return _Told(True, kind, "", reading.response_id, None)
    if span.end_ns is None:
        return None
    says = {k: v for k, v in span.attributes.items() if k != FROM_LOG}
    return _Told(False, kind, reading.name, encoded(says), span.end_ns)


def _when(call: _Records) -> tuple[int, str, str, str, str]:
    item = call[0]
    return (item.span.start_ns or 0, item.span.trace_id, item.span.span_id, *item.key)


def _content(item: Standin) -> tuple[bytes, bytes]:
    """What two records say alike is one thing, whichever of them said it."""
    return encoded(item.span), encoded(item.reading)


def _fullness(item: Standin) -> tuple[Any, ...]:
    """Of records of one span the one that is kept, as of its versions (`tree.version_rank`)."""
    return (version_rank(item.span), _content(item))


class Known:
    """What the recorded spans already tell: their calls by id, and the kinds they record.

    call_ids: the only calls that will be asked for; None for all. Nothing else of a span is held.
    keys: of all spans; recorded: of those that were not made of a record.
    """

    def __init__(self, call_ids: Set[str] | None = None) -> None:
        self.keys: set[Key] = set()
        self.recorded: set[Key] = set()
        self._call_ids = call_ids
        self._traces: set[str] = set()
        self._made: set[tuple[str, _Told | None]] = set()
        self._calls: dict[str, Calls] = defaultdict(Calls)
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self._of_session: dict[str, set[str]] = defaultdict(set)

    def add(self, span: Span, reading: Reading) -> None:
        """Take note of a span; `reading` is what it says without log records."""
        self.keys.add((span.trace_id, span.span_id))
        if span.attributes.get(FROM_LOG) is True:
            self._made.add((span.trace_id, _told(span, reading)))
            return
        self.recorded.add((span.trace_id, span.span_id))
        self._traces.add(span.trace_id)
        if kind := _kind(reading):
            self._kinds[span.trace_id].add(kind)
        if reading.session_id:
            self._of_session[reading.session_id].add(span.trace_id)
        call_id = reading.tool_call_id
        if reading.step_type not in TOOL_STEP_TYPES or not call_id:
            return
        if self._call_ids is None or call_id in self._call_ids:
            ids = (span.trace_id, span.span_id, span.parent_span_id)
            self._calls[call_id].add(Call(span.end_ns or 0, *ids, reading.name))

    def has(self, item: Standin) -> bool:
        """Whether a recorded span has the place of the one the record stands for."""
        return not self.recorded.isdisjoint(item.places)

    def was_made(self, item: Standin) -> bool:
        """Whether a span of the same call is here already, made of another record of it."""
        told = _told(item.span, item.reading)
        traces = (item.span.trace_id, item.trace_id or "")
        return told is not None and any((trace, told) in self._made for trace in traces)

    def same_call(self, item: Standin) -> Key | None:
        """The span of the tool call a record is about: by call id, name and place."""
        if item.reading.step_type not in TOOL_STEP_TYPES or not item.reading.tool_call_id:
            return None
        of_id = self._calls.get(item.reading.tool_call_id)
        if of_id is None:
            return None
        end_ns = item.span.end_ns or 0
        call = of_id.take(item.trace_id, item.span_id, item.reading.name, end_ns)
        return None if call is None else (call.trace_id, call.span_id)

    def records_kind(self, item: Standin) -> bool:
        """Whether spans of the same trace or session already record steps of this kind.

        A tool call with an id is judged by its id alone: a call without a span is news.
        """
        kind = _kind(item.reading)
        if kind is None or (
            item.reading.step_type in TOOL_STEP_TYPES and item.reading.tool_call_id
        ):
            return kind is None
        traces = {
            item.trace_id or "",
            *self._of_session.get(item.reading.session_id or "", ()),
        }
        return any(kind in self._kinds.get(trace, ()) for trace in traces)

    def placed(self, item: Standin, made: Mapping[Key, str]) -> Span:
        """The kept span in the trace its record names, if that is here, else in its own.

        made: the id of the span that is made of the call of which a record would be that span.
        """
        attributes = {**item.span.attributes, FROM_LOG: True}
        span = msgspec.structs.replace(item.span, attributes=attributes)
        if item.trace_id in self._traces and item.trace_id is not None:
            parent = item.span_id if item.key in self.recorded else None
            return msgspec.structs.replace(span, trace_id=item.trace_id, parent_span_id=parent)
        above = (span.trace_id, span.parent_span_id or "")
        parent = made.get(above, above[1] if above in self.keys else None)
        return msgspec.structs.replace(span, parent_span_id=parent)


def _kind(reading: Reading) -> str | None:
    """What a span records, as one word: tools and model calls of any type are one kind each."""
    if reading.step_type in TOOL_STEP_TYPES:
        return StepType.TOOL_CALL
    if reading.is_model_call:
        return _MODEL
    return reading.step_type
