"""Durations, counts and value paths as people write them in a policy.

One thing a newcomer would get wrong: each of these returns None for what it cannot read, and the
caller says where that stands.
"""

from __future__ import annotations

import re
from typing import Any, cast

from trajscope.model.rule import Part, ValuePath
from trajscope.model.span import Json

_NS = {
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "w": 604_800_000_000_000,
}
_PIECE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?(ms|[smhdw])", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(rf"(?:{_PIECE.pattern} ?)*{_PIECE.pattern}", _PIECE.flags)
_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kKM]?)", re.ASCII)
_SEGMENT = re.compile(r'\."([^"]+)"|\.([^.\["]+)|\[([0-9]+)\]')
_MAX_NS = 2**63 - 1

PARTS = ("args", "result", "attr", "tool", "agent", "server")


def duration_ns(text: str) -> int | None:
    """Return a duration with its units in nanoseconds, however long.

    >>> duration_ns("1h30m") == 5400 * 10**9, duration_ns("2 W") == duration_ns("14d")
    (True, True)
    >>> duration_ns("500ms"), duration_ns("500"), duration_ns(" 5m"), duration_ns("٥m")
    (500000000, None, None, None)
    """
    if len(text) > 60 or not _DURATION.fullmatch(text):
        return None
    return sum(round(float(number) * _NS[unit.lower()]) for number, unit in _PIECE.findall(text))


def read_duration(value: Json) -> int | None:
    """Return a duration as a number that a column can hold."""
    found = duration_ns(value) if isinstance(value, str) else None
    return found if found is None or found <= _MAX_NS else None


def read_count(value: Json) -> int | None:
    """Return a whole number, `50k` and `2M` included.

    >>> read_count("50k"), read_count(3), read_count("1.5k"), read_count(1.5), read_count(True)
    (50000, 3, 1500, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value <= _MAX_NS else None
    match = _COUNT.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 20 else None
    if match is None or not match[2]:
        return None
    number = float(match[1]) * {"k": 1000, "K": 1000, "M": 1_000_000}[match[2]]
    return int(number) if number == int(number) else None


def read_path(text: str) -> ValuePath | None:
    """Return where a value lies; None if the text names no part of a step, or is malformed.

    >>> read_path('args.items[0]."a.b"').keys, read_path("attr.gen_ai.system").keys
    (('items', 0, 'a.b'), ('gen_ai.system',))
    >>> read_path("arg.id") is None
    True
    """
    part = re.match(r"\w*", text)
    name = part[0] if part else ""
    rest = text[len(name) :]
    if name not in PARTS:
        return None
    if name == "attr":
        return ValuePath("attr", (rest[1:],)) if rest[:1] == "." and rest[1:] else None
    if rest and name not in ("args", "result"):
        return None
    keys: list[str | int] = []
    at = 0
    while at < len(rest):
        match = _SEGMENT.match(rest, at)
        if match is None:
            return None
        keys.append(int(match[3]) if match[3] is not None else match[1] or match[2])
        at = match.end()
    return ValuePath(cast("Part", name), tuple(keys))


def shown(value: Any) -> str:
    """Return a value for a message, cut."""
    return f"{value!r:.80}"
