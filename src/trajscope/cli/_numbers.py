"""Numbers as options take them: plain digits, within bounds, and finite.

One thing a newcomer would get wrong: click asks Python, to which "nan", " ٣" and "1_0" are numbers;
a limit that is no number is one that nothing ever misses.
"""

from __future__ import annotations

import re
from typing import Any

import click

MOST_WORKERS = 1024
"""Processes one may ask for; no machine that runs this has more cores."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)


class PlainFloat(click.FloatRange):
    """A number, in its range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; refuse a text that Python alone takes for one."""
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            self.fail(f"{value!r:.80} is no number.", param, ctx)
        found: float = super().convert(value, param, ctx)
        return found


class PlainInt(click.IntRange):
    """A whole number, in its range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; refuse a text that Python alone takes for one."""
        if isinstance(value, str) and not _WHOLE.fullmatch(value):
            self.fail(f"{value!r:.80} is no whole number.", param, ctx)
        found: int = super().convert(value, param, ctx)
        return found
