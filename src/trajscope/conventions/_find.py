"""Looks attributes up by the names of a vocabulary, and remembers which one gave which field.

One thing a newcomer would get wrong: a name counts as found only when its value is of use; an empty
text or a figure that is none leads on to the next name.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trajscope.conventions._vocabulary import Names
from trajscope.model.span import Json
from trajscope.values import count_of, decode_json, text_of


class Finder:
    """Looks attributes up by their names and remembers which one gave which field."""

    __slots__ = ("attributes", "sources")

    def __init__(self, attributes: dict[str, Json]) -> None:
        self.attributes = attributes
        self.sources: dict[str, str] = {}

    def value(self, field: str, names: Names) -> Json | UnsetType:
        """Return the first value there is."""
        for name in names:
            if name in self.attributes:
                self.sources[field] = name
                return self.attributes[name]
        return UNSET

    def text(self, field: str, names: Names) -> str | None:
        """Return the first text that is not empty."""
        for name in names:
            value = self.attributes.get(name)
            if type(value) is not str or not value:
                continue
            if value[0] == '"' and not (value := _unquoted(value)):
                continue
            if value != "null":
                self.sources[field] = name
                return value
        return None

    def count(self, field: str, names: Names) -> int | None:
        """Return the first value that is a count."""
        for name in names:
            found = count_of(self.attributes.get(name))
            if found is not None:
                self.sources[field] = name
                return found
        return None


def _unquoted(text: str) -> str | None:
    """Text without the quotes of a JSON text inside the text."""
    return text_of(decode_json(text))
