"""Reads one part of a policy file: the values of a rule, with their mistakes and places.

One thing a newcomer would get wrong: nothing here raises. A mistake is noted and a stand-in
returned, so that one reading of the file finds all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Self, cast

from trajscope.documents import Document
from trajscope.errors import UsageError
from trajscope.match import compile_pattern
from trajscope.model.rule import Join, ValuePath
from trajscope.model.span import Json
from trajscope.rules._units import PARTS, read_count, read_duration, read_path, shown

KeyPath = tuple[str | int, ...]


@dataclass(slots=True)
class Reading:
    """One reading of a policy file: its lists, and all mistakes found so far."""

    document: Document
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mistakes: list[UsageError] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def fail(self, message: str, keys: KeyPath, hint: str | None = None) -> None:
        """Note a mistake at a path of the file."""
        self.mistakes.append(UsageError(message, at=self.document.locate(keys), hint=hint))

    def unasked(self) -> None:
        """Note every key that no reader asked for, with the one that was probably meant."""
        for part in self.parts:
            part.check_keys()


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return a hint with the known word that is nearest, or with all of them."""
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    return f"one of {', '.join(known)} was expected" if known else None


class Part:
    """A value of a policy file, without steps; see `Body`. beside: the rule a kind stands in."""

    def __init__(
        self, value: Json, keys: KeyPath, reading: Reading, beside: Part | None = None
    ) -> None:
        self.value = value
        self.keys = keys
        self.reading = reading
        self.beside = beside
        self.asked: set[str] = set()

    def fail(self, message: str, hint: str | None = None) -> None:
        """Note a mistake here."""
        self.reading.fail(message, self.keys, hint)

    def wrong(self, wanted: str) -> None:
        """Note that the value is of a wrong kind."""
        self.fail(f"is wrong (got {shown(self.value)}); {wanted} was expected")

    def check_keys(self) -> None:
        """Note the keys nobody asked for."""
        for key in self.value if isinstance(self.value, dict) else ():
            if key not in self.asked:
                hint = nearest(str(key), sorted(self.asked))
                self.reading.fail(f"the key {shown(key)} is unknown", (*self.keys, key), hint)

    def _ask(self, key: str) -> None:
        if not self.asked and isinstance(self.value, dict):
            self.reading.parts.append(self)
        self.asked.add(key)

    def has(self, key: str) -> bool:
        """Whether a key stands in this mapping, or beside the kind."""
        self._ask(key)
        if isinstance(self.value, dict) and key in self.value:
            return True
        return self.beside is not None and self.beside.has(key)

    def part(self, key: str) -> Self:
        """Return what stands at a key; a mistake if there is none."""
        self._ask(key)
        if isinstance(self.value, dict) and key in self.value:
            return type(self)(self.value[key], (*self.keys, key), self.reading)
        if self.beside is not None and self.beside.has(key):
            return cast("Self", self.beside.part(key))
        if isinstance(self.value, dict):
            self.fail(f"{key} is missing")
        else:
            self.wrong(f"a mapping with {key}")
        return type(self)(None, self.keys, Reading(self.reading.document))

    def items(self) -> list[Self]:
        """Return the elements of a list, `$list` names expanded; of another value, itself."""
        if not isinstance(self.value, list):
            return self._expanded()
        found: list[Self] = []
        for index, value in enumerate(self.value):
            found += type(self)(value, (*self.keys, index), self.reading)._expanded()
        if not self.value:
            self.fail("is empty; at least one was expected")
        return found

    def elements(self) -> list[Self]:
        """Return the elements of a list as they stand; of another value, itself."""
        if not isinstance(self.value, list):
            return [self]
        return [
            type(self)(value, (*self.keys, index), self.reading)
            for index, value in enumerate(self.value)
        ]

    def _expanded(self) -> list[Self]:
        text = self.value
        if not isinstance(text, str) or not text.startswith("$") or not text[1:].isidentifier():
            return [self]
        known = self.reading.lists.get(text[1:])
        if known is None:
            names = [f"${name}" for name in self.reading.lists]
            self.fail(
                f"names a list that does not exist (got {shown(text)})",
                nearest(text, names) or "declare it under lists:",
            )
            return []
        return [type(self)(name, self.keys, self.reading) for name in known]

    def entries(self) -> list[tuple[str, Self]]:
        """Return the keys and parts of a mapping."""
        if not isinstance(self.value, dict):
            self.wrong("a mapping")
            return []
        self.asked |= set(self.value)
        return [
            (str(key), type(self)(value, (*self.keys, key), self.reading))
            for key, value in self.value.items()
        ]

    def patterns(self) -> tuple[str, ...]:
        """Return one or many names, globs or `re:` patterns."""
        names = []
        for item in self.items():
            if not isinstance(item.value, str) or not item.value:
                item.wrong("a name")
                continue
            try:
                compile_pattern(item.value)
            except UsageError as error:
                item.fail(error.message, error.hint)
                continue
            names.append(item.value)
        return tuple(dict.fromkeys(names))

    def integer(self, minimum: int = 0) -> int:
        """Return a whole number; `50k` and `2M` are numbers too."""
        number = read_count(self.value)
        if number is None or number < minimum:
            self.wrong(f"a whole number of at least {minimum}")
        return minimum if number is None else number

    def duration_ns(self) -> int:
        """Return a duration in nanoseconds."""
        found = read_duration(self.value)
        if found is None:
            self.wrong("a duration with a unit, like 90s, 5m or 1h30m,")
        return found or 0

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value is True

    def text(self) -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.wrong("a text")
        return str(self.value)

    def choice(self, known: Sequence[str]) -> str:
        """Return one of several words; the first where it is none of them."""
        if self.value in known:
            return str(self.value)
        self.fail(
            f"is wrong (got {shown(self.value)}); {' or '.join(known)} was expected",
            nearest(str(self.value), known),
        )
        return known[0]

    def path(self) -> ValuePath:
        """Return where a value of a step lies."""
        found = read_path(self.value) if isinstance(self.value, str) else None
        if found is None:
            self.fail(
                f"is no value of a step (got {shown(self.value)}); args, args.x, result.x, "
                "attr.x, tool, agent or server was expected",
                nearest(str(self.value).split(".")[0], PARTS),
            )
        return found or ValuePath("tool")

    def joins(self, count: int) -> tuple[Join, ...]:
        """Return what `count` steps are joined by."""
        if isinstance(self.value, dict):
            if count != 2:
                self.fail(f"pairs of values join two steps (got {count} steps)")
            return tuple(
                Join((type(self)(key, part.keys, self.reading).path(), part.path()))
                for key, part in self.entries()
            )
        return tuple(Join((item.path(),) * count) for item in self.items())

    def file(self, name: str) -> str:
        """Return the absolute path of a file named relative to the policy file."""
        base = Path(self.reading.document.path).parent
        return str((base / Path(name).expanduser()).resolve())
