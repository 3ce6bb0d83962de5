"""Span vocabularies, one file each. The convention that claims a span highest reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trajscope.conventions._choose import Reader, conventions

if TYPE_CHECKING:
    from trajscope.conventions._mapping import MappingConvention

__all__ = ["Reader", "conventions", "load_mapping"]


def load_mapping(path: str | Path) -> MappingConvention:
    """Return the convention a user's mapping file describes, to be given to `Reader`.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong; with file, line and key,
            and what was probably meant.
    """
    # Late: its models and the YAML reader cost a tenth of a second that most commands do not need.
    from trajscope.conventions._mapping import MappingConvention

    return MappingConvention.from_file(path)
