"""OTLP protobuf: a bare export request, or requests each with its length in front.

One thing a newcomer would get wrong: a bare request is read one resource at a time, never whole;
protobuf allows that, since concatenated messages are one message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from trajscope.errors import Location, Problems
from trajscope.formats import _wire
from trajscope.model.span import LogRecord, Span
from trajscope.otlp import Report, records_from_protobuf
from trajscope.ports import Source

MAX_MESSAGE_BYTES = 512 * 1024**2
"""Longest message that is read; a length beyond it means the capture is damaged."""

Framing = Literal["bare", "length", "varint"]


class OtlpProtobuf:
    """The format."""

    name = "otlp-protobuf"
    description = (
        "OTLP protobuf: one export request, or requests after their length (4 bytes big-endian "
        "as the Collector's file exporter writes, or a varint)."
    )

    def sniff(self, source: Source) -> int:
        """Return 3 when a span or a log record lies where one must."""
        return 3 if framing_of(source.head) else 0

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield the records of every message."""
        framing = framing_of(source.head)
        with source.open() as stream:
            for number, (message, is_part) in enumerate(_messages(stream, framing), start=1):
                at = Location(source.name, record=number)
                if message is None:
                    problems.add("the last message is cut or its length is wrong", at=at)
                    return
                yield from records_from_protobuf(message, Report(problems, at), is_part=is_part)


def framing_of(head: bytes) -> Framing | None:
    """Return how the messages of a capture are framed, or None if it is no OTLP protobuf.

    >>> framing_of(b"plain text") is None
    True
    """
    bodies: tuple[tuple[Framing, bytes], ...] = (
        ("bare", head),
        ("length", head[4 : 4 + int.from_bytes(head[:4], "big")]),
    )
    if (varint := _wire.read_varint(head, 0)) is not None:
        size, start = varint
        bodies += (("varint", head[start : start + size]),)
    for framing, body in bodies:
        if body[:1] == b"\x0a" and (_wire.looks_like_traces(body) or _wire.looks_like_logs(body)):
            return framing
    return None


def _messages(stream: BinaryIO, framing: Framing | None) -> Iterator[tuple[bytes | None, bool]]:
    """Yield messages, and whether each is one resource of a bare request; None when cut."""
    is_part = framing not in ("length", "varint")
    while True:
        try:
            size = _size(stream, framing)
        except (EOFError, ValueError):
            yield None, is_part
            return
        if size is None:
            return
        message = stream.read(size) if size <= MAX_MESSAGE_BYTES else b""
        if len(message) < size:
            yield None, is_part
            return
        yield message, is_part


def _size(stream: BinaryIO, framing: Framing | None) -> int | None:
    """Read what stands in front of a message; None at the end."""
    if framing == "length":
        prefix = stream.read(4)
        if not prefix:
            return None
        if len(prefix) < 4:
            raise EOFError
        return int.from_bytes(prefix, "big")
    if framing == "varint":
        return _wire.take_varint(stream)
    tag = stream.read(1)
    if not tag:
        return None
    if tag != b"\x0a":
        raise ValueError("no resource field")
    size = _wire.take_varint(stream)
    if size is None:
        raise EOFError
    return size


FORMAT = OtlpProtobuf()
