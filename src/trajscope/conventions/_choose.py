"""Chooses the convention of a span. The only caller of `claim` and `read`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from trajscope.model.reading import NOT_UNDERSTOOD, Reading
from trajscope.model.span import Span
from trajscope.ports import Convention
from trajscope.registry import discover


@cache
def conventions() -> dict[str, Convention]:
    """Return every known convention by name: the package's own and those of entry points."""
    return discover("trajscope.conventions", "CONVENTION", Convention)  # type: ignore[type-abstract]


class Reader:
    """Reads spans: asks every convention for its claim and lets the highest one read.

    `extra` are conventions of this call alone (a user's mapping file), asked beside the others.
    """

    def __init__(self, extra: Sequence[Convention] = ()) -> None:
        self._conventions = (*extra, *conventions().values())

    def claims(self, span: Span) -> list[tuple[int, Convention]]:
        """Return the conventions that understand the span, highest claim first."""
        found = [(claim, c) for c in self._conventions if (claim := c.claim(span))]
        return sorted(found, key=lambda pair: (-pair[0], pair[1].name))

    def __call__(self, span: Span) -> Reading:
        """Return the reading of the span, `NOT_UNDERSTOOD` when no convention claims it."""
        best, chosen = 0, None
        for convention in self._conventions:
            claim = convention.claim(span)
            if claim > best:
                best, chosen = claim, convention
        return NOT_UNDERSTOOD if chosen is None else chosen.read(span)
