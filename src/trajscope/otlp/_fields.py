"""Single OTLP fields, the same for JSON and protobuf: ids, times, numbers, enums.

One thing a newcomer would get wrong: sixteen hex digits are valid base64 text too, so a span id
is base64 only when it is *not* hex and has exactly the padded length of eight bytes in base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from trajscope.errors import Location, SpanError
from trajscope.model.span import SpanKind, StatusCode

KINDS: tuple[SpanKind, ...] = (
    "UNSPECIFIED",
    "INTERNAL",
    "SERVER",
    "CLIENT",
    "PRODUCER",
    "CONSUMER",
)
"""Span kinds by their number."""
STATUS_CODES: tuple[StatusCode, ...] = ("UNSET", "OK", "ERROR")
"""Status codes by their number."""
_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""Severities of the logs data model, four numbers each: `INFO` is 9, `INFO2` 10."""

_SEVERITY_NUMBER = "SEVERITY_NUMBER_"
_HEX = re.compile(r"[0-9a-fA-F]+").fullmatch
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}").fullmatch
_MAX_TIME_NS = 2**64 - 1
_URL_SAFE = str.maketrans("-_", "+/")


def shown(value: object, length: int = 60) -> str:
    """Return `value` for a message: escaped, so hostile text is harmless, and cut to `length`.

    >>> shown("a" * 100, 8)
    "'aaaaaaa…"
    """
    text = repr(value[: length + 1]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= length else text[:length] + "…"


def refused(key: str, value: object, expected: str) -> SpanError:
    """Return the error for a field whose value cannot be used."""
    return SpanError(
        f"{key} cannot be read (got {shown(value)}); expected {expected}", at=Location(key=key)
    )


def to_id(value: Any, size: int, key: str) -> str:
    """Return an id of `size` bytes as lower-case hex; "" when the record names none.

    None: absent, null, "", all zeros. Hex of any case, base64 (standard or URL-safe alphabet,
    padded, as every protobuf JSON printer writes it), or the raw bytes of a protobuf message.

    >>> to_id("1I/C0xP/uAM=", 8, "spanId")
    'd48fc2d313ffb803'
    >>> to_id("D48FC2D313FFB803", 8, "spanId")
    'd48fc2d313ffb803'
    >>> to_id("0000000000000000", 8, "parentSpanId")
    ''

    Raises:
        SpanError: it is neither.
    """
    if value is None or value in ("", b""):
        return ""
    raw: bytes | None = None
    if isinstance(value, bytes):
        raw = value
    elif isinstance(value, str) and len(value) == 2 * size and _HEX(value):
        raw = bytes.fromhex(value)
    elif isinstance(value, str) and len(value) == 4 * -(-size // 3):
        raw = _from_base64(value)
    if raw is None or len(raw) != size:
        raise refused(key, value, f"{2 * size} hex digits, or base64 of {size} bytes")
    return raw.hex() if any(raw) else ""


def _from_base64(text: str) -> bytes | None:
    try:
        raw = base64.b64decode(text.translate(_URL_SAFE), validate=True)
    except (binascii.Error, ValueError):
        return None
    # Text whose last digit has stray bits is no encoder's output but a word that looks like one.
    canonical = base64.b64encode(raw).decode() == text.translate(_URL_SAFE)
    return raw if canonical else None


def required_id(value: Any, size: int, key: str) -> str:
    """Return an id that must be there.

    Raises:
        SpanError: it is absent, all zeros or unreadable.
    """
    found = to_id(value, size, key)
    if not found:
        raise refused(key, value, f"{2 * size} hex digits that are not all zeros")
    return found


def to_whole(value: Any) -> int | None:
    """Return a whole number given as a number or as decimal text, exactly; None if it is none.

    >>> to_whole("-7"), to_whole(2.0), to_whole(True), to_whole("0x10")
    (-7, 2, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _WHOLE(value):
        return int(value)
    return None


def to_time_ns(value: Any, key: str) -> int | None:
    """Return nanoseconds since the Unix epoch; None for absent, null, "" and 0 (proto3's absent).

    Raises:
        SpanError: not a whole number of 64 bits without sign.
    """
    if value is None or value == "":
        return None
    whole = to_whole(value)
    if whole is None or not 0 <= whole <= _MAX_TIME_NS:
        raise refused(key, value, "nanoseconds since 1970 as a whole number of 64 bits")
    return whole or None


def to_kind(value: Any) -> SpanKind:
    """Return the kind of a span, given by number or name; numbers yet unknown are UNSPECIFIED.

    >>> to_kind("SPAN_KIND_CLIENT"), to_kind(3), to_kind("3"), to_kind(None)
    ('CLIENT', 'CLIENT', 'CLIENT', 'UNSPECIFIED')

    Raises:
        SpanError: neither a number nor a known name.
    """
    return KINDS[_ordinal(value, KINDS, "SPAN_KIND_", "kind")]


def to_status_code(value: Any) -> StatusCode:
    """Return the code of a status, given by number or name; numbers yet unknown are UNSET.

    >>> to_status_code("STATUS_CODE_ERROR"), to_status_code(1)
    ('ERROR', 'OK')

    Raises:
        SpanError: neither a number nor a known name.
    """
    return STATUS_CODES[_ordinal(value, STATUS_CODES, "STATUS_CODE_", "status.code")]


def _ordinal(value: Any, names: tuple[str, ...], prefix: str, key: str) -> int:
    if value is None or value == "":
        return 0
    if isinstance(value, str) and (name := value.upper().removeprefix(prefix)) in names:
        return names.index(name)
    number = to_whole(value)
    if number is None:
        raise refused(key, value, f"a number, or {prefix}{names[1]} and the like")
    return number if 0 <= number < len(names) else 0


def to_severity(text: str, number: Any) -> str:
    """Return the severity of a log record: its text, else the short name of its number.

    The names are those of the logs data model; many exporters send the number alone.

    >>> to_severity("notice", 10), to_severity("", 17), to_severity("", "SEVERITY_NUMBER_WARN2")
    ('notice', 'ERROR', 'WARN2')
    >>> to_severity("", 0), to_severity("", None), to_severity("", 99)
    ('', '', '')
    """
    if text:
        return text
    if isinstance(number, str) and number.startswith(_SEVERITY_NUMBER):
        name = number.removeprefix(_SEVERITY_NUMBER)
        return name if name.rstrip("234") in _LEVELS else ""
    whole = to_whole(number)
    if whole is None or not 1 <= whole <= 4 * len(_LEVELS):
        return ""
    level, step = divmod(whole - 1, 4)
    return _LEVELS[level] + (str(step + 1) if step else "")
