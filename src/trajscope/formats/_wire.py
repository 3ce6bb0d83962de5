"""Protobuf on the wire, as far as recognising and splitting OTLP messages needs it.

One thing a newcomer would get wrong: export requests of traces, logs and metrics have the same
outer shape; only the fields of the innermost message tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_varint(data: bytes, at: int) -> tuple[int, int] | None:
    """Return a varint and the offset behind it; None if it is cut or too long."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return None


def fields(data: bytes, *, cut: bool = False) -> Iterator[tuple[int, int, bytes]]:
    """Yield field number, wire type and content; ends at the first thing that is no field.

    With `cut` a last field longer than the data is given as far as it goes.
    """
    at = 0
    while at < len(data):
        tag = read_varint(data, at)
        if tag is None or tag[0] >> 3 == 0:
            return
        number, kind, at = tag[0] >> 3, tag[0] & 7, tag[1]
        if kind == _BYTES:
            size = read_varint(data, at)
            if size is None:
                return
            start, at = size[1], size[1] + size[0]
            if at > len(data) and not cut:
                return
            yield number, kind, data[start:at]
        elif kind in (_FIXED64, _FIXED32):
            width = 8 if kind == _FIXED64 else 4
            yield number, kind, data[at : at + width]
            at += width
        elif kind == _VARINT:
            value = read_varint(data, at)
            if value is None:
                return
            yield number, kind, data[at : value[1]]
            at = value[1]
        else:
            return


def looks_like_traces(data: bytes) -> bool:
    """Whether data starts an export request of traces: a span inside a scope inside a resource.

    A span begins with a trace id of 16 bytes and a span id of 8; a log record never does.
    """
    return any(_is_span(span) for span in _innermost(data))


def looks_like_logs(data: bytes) -> bool:
    """Whether data starts an export request of log records: they begin with a fixed 64-bit time."""
    return any(record[:1] in (b"\x09", b"\x59") for record in _innermost(data))


def _innermost(data: bytes) -> Iterator[bytes]:
    for number, kind, resource_part in fields(data, cut=True):
        if (number, kind) != (1, _BYTES):
            return
        for below, kind_below, scope_part in fields(resource_part, cut=True):
            if (below, kind_below) == (2, _BYTES):
                for inner, kind_inner, record in fields(scope_part, cut=True):
                    if (inner, kind_inner) == (2, _BYTES):
                        yield record


def _is_span(data: bytes) -> bool:
    seen = [(n, len(c)) for n, k, c in fields(data[:200], cut=True) if k == _BYTES]
    return (1, 16) in seen and (2, 8) in seen


def take_varint(stream: BinaryIO) -> int | None:
    """Read a varint from a stream; None at its end.

    Raises:
        EOFError: the stream ends inside.
        ValueError: it is longer than a varint can be.
    """
    value = shift = 0
    while True:
        byte = stream.read(1)
        if not byte:
            if shift:
                raise EOFError
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
        if shift >= 64:
            raise ValueError("a length longer than 64 bits")
