"""How captures are encoded, one file per format; and where their bytes come from.

One thing a newcomer would get wrong: a format is recognised by content, never by its name, and
compression is undone before a format sees the bytes.
"""

from trajscope.formats._choose import (
    choose_format,
    format_named,
    formats,
    read_capture,
    read_captures,
    recognised_sources,
)
from trajscope.formats._expand import DEFAULT_MAX_EXPANDED
from trajscope.formats._parts import Divisible, FilePart, parts_of, read_part
from trajscope.formats._source import FileSource, find_sources, parse_size, unreadable_capture

__all__ = [
    "DEFAULT_MAX_EXPANDED",
    "Divisible",
    "FilePart",
    "FileSource",
    "choose_format",
    "find_sources",
    "format_named",
    "formats",
    "parse_size",
    "parts_of",
    "read_capture",
    "read_captures",
    "read_part",
    "recognised_sources",
    "unreadable_capture",
]
