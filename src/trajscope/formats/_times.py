"""Times and ids as other tools write them, to nanoseconds since the Unix epoch and to hex.

One thing a newcomer would get wrong: a time without a zone is UTC, and a zero time (1970 by the
second, year 1 of Go) is how exporters write that there is none; it is unknown, not early.
"""

from __future__ import annotations

import re
from datetime import date
from math import isfinite
from typing import Literal

from trajscope.model.span import Json

Unit = Literal["s", "ms", "us", "ns"]
"""What a number stands for where a time is given as one."""

_SCALE: dict[Unit, int] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MAX_TIME_NS = 2**64 - 1
_TOO_LARGE = 1e20
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?)?"
    r"\s*(?:Z|UTC|([+-])(\d\d):?(\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,12})?", re.ASCII)
_HEX = re.compile(r"[0-9a-f]+", re.ASCII)


def to_time_ns(value: Json, unit: Unit = "ns") -> int | None:
    """Return nanoseconds since the Unix epoch; None for absent, null, "" and zero times.

    Text is ISO 8601 (to the nanosecond, `T` or a space) or a number; `unit` is that of numbers.

    >>> to_time_ns("2026-03-03 09:00:00.000000001")
    1772528400000000001
    >>> to_time_ns("2026-03-03T10:00:00+01:00") == to_time_ns(1772528400, "s")
    True
    >>> to_time_ns("0001-01-01T00:00:00Z") is None
    True

    Raises:
        ValueError: it is no time between 1970 and 2554.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        text = value.strip()
        if match := _ISO.fullmatch(text):
            found = _from_iso(match)
        elif _NUMBER.fullmatch(text):
            found = _scaled(text, unit)
        else:
            raise ValueError("no time")
    else:
        found = _from_number(value, unit)
    if not 0 <= found <= _MAX_TIME_NS:
        raise ValueError("no time between 1970 and 2554")
    return found or None


def to_duration_ns(value: Json, unit: Unit) -> int:
    """Return a duration in nanoseconds, given as a number of units or as its decimal text.

    >>> to_duration_ns("1500", "us"), to_duration_ns(0.25, "ms")
    (1500000, 250000)

    Raises:
        ValueError: it is no number, or negative, or longer than 292 years.
    """
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            raise ValueError("no number")
        found = _scaled(value.strip(), unit)
    else:
        found = _from_number(value, unit)
    if not 0 <= found < 2**63:
        raise ValueError("no duration")
    return found


def _from_number(value: Json, unit: Unit) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")  # noqa: TRY004 - bad input, no programming error
    if isinstance(value, int):
        return value * _SCALE[unit]
    if not isfinite(value) or abs(value) >= _TOO_LARGE:
        raise ValueError("no number")
    return _scaled(f"{value:.9f}", unit)


def _from_iso(match: re.Match[str]) -> int:
    year, month, day, hour, minute, second = (int(g or 0) for g in match.groups()[:6])
    if year <= 1:
        return 0
    fraction, sign = match[7] or "", match[8]
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError("no time of day")
    days = date(year, month, day).toordinal() - _EPOCH_DAY
    offset = (int(match[9]) * 60 + int(match[10] or 0)) * 60 if sign else 0
    seconds = (days * 24 + hour) * 3600 + minute * 60 + second
    seconds += offset if sign == "-" else -offset
    return seconds * 10**9 + int((fraction + "0" * 9)[:9])


def _scaled(text: str, unit: Unit) -> int:
    """A decimal number of units in nanoseconds, without the rounding of a float."""
    whole, _, fraction = text.partition(".")
    scale = _SCALE[unit]
    part = int((fraction + "0" * 9)[:9]) * scale // 10**9
    return int(whole) * scale + (-part if whole.startswith("-") else part)


def to_hex(text: str, digits: int) -> str:
    """Return an id as lower-case hex, left-padded to `digits`; "" for all zeros.

    Jaeger and Zipkin leave leading zeros away, the OTel SDK writes `0x` in front. Text that is no
    hex is an id of another kind and stays as it is.

    >>> to_hex("0xABC", 16)
    '0000000000000abc'
    >>> to_hex("span_1", 16)
    'span_1'
    """
    if len(text) == digits and _HEX.fullmatch(text) and text.strip("0"):
        return text
    bare = text.strip().lower().removeprefix("0x")
    if not _HEX.fullmatch(bare):
        return text.strip()
    return bare.zfill(digits) if bare.strip("0") else ""
