"""What steps are joined by: values that must be the same, or must differ.

One thing a newcomer would get wrong: an absent value equals nothing, not even another absent one.
"""

from __future__ import annotations

from typing import NamedTuple

from trajscope.match import json_key
from trajscope.model.rule import Join
from trajscope.rules._lines import LineStep
from trajscope.rules._match import Missing, Values


class Key(NamedTuple):
    """What a step is joined by: comparable texts, or UNKNOWN for any of them.

    same: None if a value is absent, so that nothing equals it. differ: None without such a join.
    """

    same: object
    differ: object


class Joins:
    """The joins of one check; `key` gives what the step at place `place` of it is joined by."""

    def __init__(self, same: tuple[Join, ...], differ: tuple[Join, ...], values: Values) -> None:
        self._same, self._differ = same, differ
        self._values = values

    def key(self, item: LineStep, place: int) -> Key:
        """Return the key of a step that stands at a place of the check, counted from 0."""
        same: object = ()
        if self._same:
            texts = [self._text(join, item, place) for join in self._same]
            same = tuple(texts)
            if Missing.ABSENT in texts:
                same = None
            elif Missing.UNKNOWN in texts:
                same = Missing.UNKNOWN
        differ: object = None
        if self._differ:
            differ = self._text(self._differ[0], item, place)
            differ = Missing.UNKNOWN if isinstance(differ, Missing) else differ
        return Key(same, differ)

    def _text(self, join: Join, item: LineStep, place: int) -> object:
        path = join.paths[min(place, len(join.paths) - 1)]
        found = self._values.at(path, item)
        return found if isinstance(found, Missing) else json_key(found)
