"""OTLP protobuf: a bare export request, or requests each with its length in front.

One thing a newcomer would get wrong: a bare request is read one resource at a time, never whole;
protobuf allows that, since concatenated messages are one message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from trajscope.errors import Location, Problems
from trajscope.model.span import LogRecord, Span
from trajscope.otlp import Report, records_from_protobuf, wire
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
        """Return 3 when a span or a log record lies where one must, 1 for a metric."""
        found = framing_of(source.head)
        return 0 if found is None else 1 if found[1] == "metric" else 3

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield the records of every message."""
        found = framing_of(source.head)
        framing = found[0] if found else "bare"
        with source.open() as stream:
            number = 0
            try:
                for number, message in enumerate(_messages(stream, framing), start=1):
                    report = Report(problems, Location(source.name, record=number))
                    yield from records_from_protobuf(message, report, is_part=framing == "bare")
            except wire.WireError as error:
                problems.add(
                    f"the message is cut or damaged ({error}); it and what follows are left out",
                    at=Location(source.name, record=number + 1),
                )


def framing_of(head: bytes) -> tuple[Framing, wire.Signal] | None:
    """Return how the messages of a capture are framed and what is in them; None if it is no OTLP.

    >>> framing_of(b"plain text") is None
    True
    """
    bodies: list[tuple[Framing, bytes]] = [("bare", head)]
    bodies.append(("length", head[4 : 4 + int.from_bytes(head[:4], "big")]))
    try:
        size, start = wire.read_varint(head, 0)
    except wire.WireError:
        pass
    else:
        bodies.append(("varint", head[start : start + size]))
    found = [(f, signal) for f, body in bodies if (signal := wire.first_signal(body)) is not None]
    # A metric is the weakest evidence: any nested message whose first field is text looks like one.
    return min(found, key=lambda pair: pair[1] == "metric", default=None)


def _messages(stream: BinaryIO, framing: Framing) -> Iterator[bytes]:
    """Yield messages; of a bare request its resources, each a message of its own.

    Raises:
        WireError: the stream ends inside a message, or is damaged.
    """
    while True:
        if framing == "length":
            prefix = stream.read(4)
            if prefix and len(prefix) < 4:
                raise wire.WireError("its length is cut")
            size = int.from_bytes(prefix, "big") if prefix else None
            wanted = True
        elif framing == "varint":
            size, wanted = wire.take_varint(stream), True
        else:
            size, wanted = _next_part(stream)
        if size is None:
            return
        message = _read(stream, size)
        if wanted:
            yield message


def _next_part(stream: BinaryIO) -> tuple[int | None, bool]:
    """Return the size of the next field of a bare request, and whether it is a resource."""
    tag = wire.take_varint(stream)
    if tag is None:
        return None, False
    if tag & 7 != wire.BYTES or tag >> 3 == 0:
        raise wire.WireError(f"no field of a request (tag {tag})")
    size = wire.take_varint(stream)
    if size is None:
        raise wire.WireError("a length is missing")
    return size, tag >> 3 == 1


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read exactly `size` bytes, piece by piece: a wrong length must not claim the memory."""
    if size > MAX_MESSAGE_BYTES:
        raise wire.WireError(f"it claims {size:,} bytes, more than {MAX_MESSAGE_BYTES:,}")
    pieces, left = [], size
    while left and (piece := stream.read(min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    if left:
        raise wire.WireError(f"the capture ends {left:,} bytes before it does")
    return b"".join(pieces)


FORMAT = OtlpProtobuf()
