"""One record of a capture: its members, read tolerantly, with the place for what is wrong.

One thing a newcomer would get wrong: a member of a wrong type costs that member alone and is
reported; only a record without ids is left out, since nothing could refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, get_args

import msgspec

from trajscope.formats._times import Unit, to_duration_ns, to_time_ns
from trajscope.model.span import Json, SpanKind, StatusCode
from trajscope.otlp import Report, refused, shown

_KINDS: frozenset[str] = frozenset(get_args(SpanKind))
_STATUS_CODES: frozenset[str] = frozenset(get_args(StatusCode))


def decode_text(text: str) -> Json:
    """Return the JSON value of a text, or the text itself if it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return text


class Row:
    """The members of one record, and where in the capture it stands.

    The place is only put together when something is wrong, for nearly every record is good.
    """

    __slots__ = ("_keys", "_report", "members")

    def __init__(
        self, members: dict[str, Json], report: Report, keys: tuple[str | int, ...] = ()
    ) -> None:
        self.members = members
        self._report = report
        self._keys = keys

    @property
    def report(self) -> Report:
        """The report of this record."""
        return self._report.below(*self._keys)

    def below(self, members: dict[str, Json], *keys: str | int) -> Row:
        """Return a part of this record as a row."""
        return Row(members, self._report, (*self._keys, *keys))

    def get(self, *names: str) -> Json:
        """Return the first of `names` that is there and not null, else None."""
        for name in names:
            if (value := self.members.get(name)) is not None:
                return value
        return None

    def text(self, *names: str) -> str:
        """Return text, "" if absent; anything else is reported and counts as absent."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str):
                if value:
                    return value
            elif value is not None:
                self.fault(name, value, "text")
        return ""

    def id(self, *names: str) -> str:
        """Return an id as text, "" if absent; some stores write numbers."""
        value = self.get(*names)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(*names).strip()

    def required_id(self, *names: str) -> str:
        """Return an id that must be there.

        Raises:
            SpanError: it is absent, or is no text.
        """
        found = self.id(*names)
        if not found:
            self.refuse(names[0], self.get(*names), "an id")
        return found

    def time(self, *names: str, unit: Unit = "ns") -> int | None:
        """Return nanoseconds since the Unix epoch; what cannot be read is reported and unknown."""
        for name in names:
            value = self.members.get(name)
            try:
                found = to_time_ns(value, unit)
            except (ValueError, OverflowError):
                self.fault(name, value, "a time (ISO 8601, or a number)")
                continue
            if found is not None:
                return found
        return None

    def end(self, start_ns: int | None, name: str, unit: Unit) -> int | None:
        """Return the start plus the duration under `name`; None if either is unknown."""
        value = self.members.get(name)
        if start_ns is None or value is None:
            return None
        try:
            duration = to_duration_ns(value, unit)
        except ValueError:
            self.fault(name, value, "a duration as a number")
            return None
        return start_ns + duration

    def mapping(self, *names: str) -> dict[str, Json]:
        """Return an object, given as one or as JSON text; {} if absent or of another type."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str):
                value = decode_text(value) if value.strip() else None
            if isinstance(value, dict):
                return value
            if value is not None:
                self.fault(name, value, "a JSON object")
        return {}

    def list(self, *names: str) -> list[Json]:
        """Return a list, given as one or as JSON text; [] if absent or of another type."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str):
                value = decode_text(value) if value.strip() else None
            if isinstance(value, list):
                return value
            if value is not None:
                self.fault(name, value, "a list")
        return []

    def rows(self, *names: str) -> Iterator[Row]:
        """Yield the objects of a list, each with its place; what is no object is reported."""
        name = next((n for n in names if self.members.get(n) is not None), names[0])
        for index, item in enumerate(self.list(*names)):
            if isinstance(item, dict):
                yield self.below(item, name, index)
            else:
                self.leave_out(item, name, index)

    def row(self, *names: str) -> Row:
        """Return the object under a name as a row of its own; an empty one if absent."""
        name = next((n for n in names if self.members.get(n) is not None), names[0])
        return self.below(self.mapping(*names), name)

    def kind(self, *names: str) -> SpanKind:
        """Return the span kind by its name in any spelling (`SpanKind.CLIENT`, `client`)."""
        word = self.text(*names).rpartition(".")[2].upper().removeprefix("SPAN_KIND_")
        if word in _KINDS:
            return word  # type: ignore[return-value]
        if word:
            self.fault(names[0], word, "a span kind as CLIENT")
        return "UNSPECIFIED"

    def status(self, *names: str) -> StatusCode:
        """Return the status code by its name in any spelling (`STATUS_CODE_OK`, `Ok`)."""
        word = self.text(*names).rpartition(".")[2].upper().removeprefix("STATUS_CODE_")
        if word in _STATUS_CODES:
            return word  # type: ignore[return-value]
        if word:
            self.fault(names[0], word, "UNSET, OK or ERROR")
        return "UNSET"

    def fault(self, name: str, value: Json, expected: str) -> None:
        """Report a member that cannot be used."""
        self.report.below(name).add(f"cannot be read (got {shown(value)}); expected {expected}")

    def leave_out(self, item: Json, *keys: str | int) -> None:
        """Report an element of a list that is no object."""
        report = self.report.below(*keys)
        report.add(f"left out (got {shown(item)}); expected a JSON object")

    def refuse(self, name: str, value: Json, expected: str) -> NoReturn:
        """Refuse the record for a member it cannot do without.

        Raises:
            SpanError: always.
        """
        raise refused(name, value, expected)


def present(members: dict[str, Json]) -> dict[str, Json]:
    """Return the members that are recorded: neither null nor empty text.

    >>> present({"a": None, "b": "", "c": 0})
    {'c': 0}
    """
    return {k: v for k, v in members.items() if v is not None and v != ""}
