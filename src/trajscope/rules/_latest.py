"""The nearest earlier step that fits: a sweep over ranks, in time linear in the line.

One thing a newcomer would get wrong: candidates are released at the rank from which they are over,
not at their own; of those released, the one of highest rank is the nearest.
"""

from __future__ import annotations

from typing import NamedTuple

from trajscope.rules._join import Key
from trajscope.rules._lines import LineStep
from trajscope.rules._match import Missing


class Entry(NamedTuple):
    """A candidate with what it is joined by.

    rank: how near it is, the highest being the nearest (negative ranks look the other way). chain:
    the steps before it.
    """

    item: LineStep
    key: Key
    rank: int
    chain: tuple[LineStep, ...] = ()


class Latest:
    """The released candidates, by what they are joined by.

    `find` gives the highest rank that fits a key. certain: values that are unknown fit nothing;
    otherwise they fit everything.
    """

    def __init__(self, *, certain: bool) -> None:
        self._certain = certain
        self._by_key: dict[object, tuple[Entry, Entry | None]] = {}
        self._all: tuple[Entry, Entry | None] | None = None

    def add(self, entry: Entry) -> None:
        """Release a candidate."""
        same, differ = entry.key
        if same is None or (self._certain and Missing.UNKNOWN in (same, differ)):
            return
        self._by_key[same] = _put(self._by_key.get(same), entry)
        if not self._certain:
            self._all = _put(self._all, entry)

    def find(self, key: Key) -> Entry | None:
        """Return the nearest candidate that fits, or None."""
        same, differ = key
        if same is None or (self._certain and Missing.UNKNOWN in (same, differ)):
            return None
        if self._certain:
            return _take(self._by_key.get(same), differ)
        if same is Missing.UNKNOWN:
            return _take(self._all, differ)
        found = [
            entry
            for place in (same, Missing.UNKNOWN)
            if (entry := _take(self._by_key.get(place), differ)) is not None
        ]
        return max(found, key=lambda entry: entry.rank, default=None)


def _put(known: tuple[Entry, Entry | None] | None, entry: Entry) -> tuple[Entry, Entry | None]:
    """Keep the nearest entry, and the nearest whose value differs from that one's."""
    if known is None:
        return entry, None
    best, other = known
    if entry.rank > best.rank:
        best, entry = entry, best
    if _differs(best, entry) and (other is None or entry.rank > other.rank):
        return best, entry
    return best, other if other is not None and _differs(best, other) else None


def _differs(one: Entry, other: Entry) -> bool:
    return one.key.differ != other.key.differ


def _take(known: tuple[Entry, Entry | None] | None, differ: object) -> Entry | None:
    """Return the nearest of two whose value differs; None and UNKNOWN differ from everything."""
    if known is None:
        return None
    best, other = known
    free = differ is None or Missing.UNKNOWN in (differ, best.key.differ)
    return best if free or best.key.differ != differ else other
