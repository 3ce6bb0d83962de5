"""Protobuf on the wire, as far as splitting and recognising OTLP messages needs it.

One thing a newcomer would get wrong: export requests of traces, logs and metrics have the same
outer shape, and all of them decode as one another. Only the fields of the innermost messages tell
them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Literal

Bytes = bytes | memoryview
Signal = Literal["span", "log record", "metric"]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
SCOPES = (2, 1000)
"""Field numbers of the scopes of a resource: today's, and that of OTLP before 0.19."""
RECORDS = 2
"""Field number of the spans, log records or metrics of a scope."""

_DECISIVE: dict[tuple[int, int], Signal] = {
    (7, FIXED64): "span",  # start_time_unix_nano
    (8, FIXED64): "span",  # end_time_unix_nano
    (6, VARINT): "span",  # kind
    (16, FIXED32): "span",  # flags
    (1, FIXED64): "log record",  # time_unix_nano
    (11, FIXED64): "log record",  # observed_time_unix_nano
    (2, VARINT): "log record",  # severity_number
    (8, FIXED32): "log record",  # flags
    (7, BYTES): "metric",  # sum
}

_PRINTABLE = re.compile(rb"[ -~]+").fullmatch


class WireError(ValueError):
    """The bytes are no protobuf message, or end inside a field."""


def read_varint(data: Bytes, at: int) -> tuple[int, int]:
    """Return a varint and the offset behind it.

    >>> read_varint(b"\\x96\\x01", 0)
    (150, 2)

    Raises:
        WireError: it is cut or longer than 64 bits.
    """
    value = 0
    for index, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise WireError(f"a number is cut or too long at byte {at}")


def fields(data: memoryview, *, cut: bool = False) -> Iterator[tuple[int, int, memoryview]]:
    """Yield field number, wire type and content.

    With `cut` a last field longer than the data is given as far as it goes.

    Raises:
        WireError: the rest is no field.
    """
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == BYTES:
            size, at = read_varint(data, at)
        elif kind == VARINT:
            size = read_varint(data, at)[1] - at
        else:
            size = _WIDTHS.get(kind, -1)
        if number == 0 or size < 0:
            raise WireError(f"no field at byte {at}")
        if at + size > len(data) and not cut:
            raise WireError(f"field {number} ends behind the message, at byte {at + size}")
        yield number, kind, data[at : at + size]
        at += size


def parts(data: memoryview, *numbers: int) -> Iterator[memoryview]:
    """Yield the contents of the fields with these numbers that hold bytes.

    Raises:
        WireError: the data is no message.
    """
    for number, kind, content in fields(data):
        if number in numbers and kind == BYTES:
            yield content


def signal_of(record: memoryview) -> Signal | None:
    """Return what a record inside a scope is, by fields that only one signal has; else None."""
    start = bytes(record[:28])
    has_ids = start[:2] == b"\x0a\x10" and start[18:20] == b"\x12\x08"
    if has_ids and not _PRINTABLE(start[2:18] + start[20:28]):
        return "span"  # a trace id of 16 bytes, then a span id of 8: no name and description
    names_itself = has_ids
    try:
        for number, kind, content in fields(record, cut=True):
            if (number, kind) in _DECISIVE:
                return _DECISIVE[number, kind]
            names_itself |= number == 1 and kind == BYTES and len(content) != 16
    except WireError:
        return None
    return "metric" if names_itself else None


def first_signal(head: bytes) -> Signal | None:
    """Return the signal of the first record of an export request whose first bytes are given."""
    try:
        for number, kind, resource_part in fields(memoryview(head), cut=True):
            if (number, kind) != (1, BYTES):
                return None
            for below, kind_below, scope_part in fields(resource_part, cut=True):
                if below not in SCOPES or kind_below != BYTES:
                    continue
                for inner, kind_inner, record in fields(scope_part, cut=True):
                    if (inner, kind_inner) == (RECORDS, BYTES):
                        return signal_of(record)
    except WireError:
        pass
    return None


def take_varint(stream: BinaryIO) -> int | None:
    """Read a varint from a stream; None at its end.

    Raises:
        WireError: the stream ends inside, or it is longer than 64 bits.
    """
    taken = b""
    while byte := stream.read(1):
        taken += byte
        if byte < b"\x80":
            return read_varint(taken, 0)[0]
        if len(taken) == 10:
            break
    if taken:
        read_varint(taken, 0)
    return None
