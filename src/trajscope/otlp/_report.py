"""Where in a capture a decoder stands, and how it says what it could not read.

One thing a newcomer would get wrong: keys are given as parts and joined only when something is
wrong, because nearly every span is good.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from trajscope.errors import Location, Problems, SpanError


@dataclass(frozen=True, slots=True)
class Report:
    """Collects the problems of one document or message of a capture.

    at: its path with line or record. keys: the way down to the part being read, as text and
    indices.
    """

    problems: Problems
    at: Location = field(default_factory=Location)
    keys: tuple[str | int, ...] = ()

    def below(self, *keys: str | int) -> Report:
        """Return the report of a part further down."""
        return Report(self.problems, self.at, (*self.keys, *keys))

    def add(self, message: str, *, hint: str | None = None) -> None:
        """Record a problem of this part."""
        self.problems.add(message, at=replace(self.at, key=joined(self.keys) or None), hint=hint)

    def add_error(self, error: SpanError, *, lost: str) -> None:
        """Record what an unreadable field cost: the span, or only the field itself."""
        keys = (*self.keys, error.at.key) if error.at and error.at.key else self.keys
        self.problems.add(
            f"{error.message}; {lost}", at=replace(self.at, key=joined(keys)), hint=error.hint
        )


def joined(keys: Iterable[str | int]) -> str:
    """Return keys as one path.

    >>> joined(("resourceSpans", 0, "spans", 3, "kind"))
    'resourceSpans[0].spans[3].kind'
    """
    path = ""
    for key in keys:
        if isinstance(key, int):
            path += f"[{key}]"
        else:
            path += f".{key}" if path else key
    return path
