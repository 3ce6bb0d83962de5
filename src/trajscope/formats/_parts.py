"""Large captures cut into parts that can be read side by side, each as if it were the whole.

One thing a newcomer would get wrong: not every part can stand alone. A line that is no whole
document may go on in the next part, so a reader that meets anything but whole documents sets `odd`;
what that part gave is then thrown away, and from there on the capture is read in one stream.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, cast, runtime_checkable

from trajscope.errors import Problems, TrajscopeError
from trajscope.formats._choose import crashed
from trajscope.formats._source import unreadable_capture
from trajscope.model.span import LogRecord, Span
from trajscope.ports import Format

PART_BYTES = 4 * 1024**2
"""Bytes of one part: some 4,000 spans, so about one Arrow batch, and little to hold at a time."""
_BOM = b"\xef\xbb\xbf"


class FilePart:
    """A stretch of an uncompressed capture file; a `Source` for the format that reads it.

    start, stop: bytes, both where a record begins; stop None is the end of the file. before: the
    lines or records in front of it; given: those in it, once it is read. odd: it cannot be read by
    itself, set by the format.
    """

    def __init__(self, name: str, path: Path, head: bytes, start: int, stop: int | None) -> None:
        self.name = name
        self.path = path
        self.head = head
        self.start = start
        self.stop = stop
        self.before = 0
        self.given = 0
        self.odd = False
        self.fault: str | None = None

    def open(self) -> BinaryIO:
        """Return the bytes of the stretch."""
        file = self.path.open("rb")
        file.seek(self.start)
        if self.stop is None:
            return file
        with file:
            data = file.read(self.stop - self.start)
        self.odd |= self.start > 0 and data.startswith(_BOM)  # only the file's own is passed over
        return io.BytesIO(data)

    def onward(self) -> FilePart:
        """Return the part from the start of this one to the end of the file."""
        part = FilePart(self.name, self.path, self.head, self.start, None)
        part.before = self.before
        return part


@runtime_checkable
class Divisible(Protocol):
    """A format whose records are independent of each other, so that a capture can be cut."""

    def cuts(self, file: BinaryIO, head: bytes, size: int) -> Iterator[int]:
        """Yield where to cut: the starts of records, each `size` bytes or more after the last."""


def parts_of(format_: Format, name: str, path: Path, head: bytes) -> Iterator[FilePart]:
    """Yield the parts of a capture, in order; the last one goes on to the end of the file.

    Raises:
        InputError: the file cannot be read.
    """
    start = 0
    try:
        with path.open("rb") as file:
            for cut in cast("Divisible", format_).cuts(file, head, PART_BYTES):
                yield FilePart(name, path, head, start, cut)
                start = cut
    except OSError as error:
        raise unreadable_capture(name, error) from error
    yield FilePart(name, path, head, start, None)


def read_part(format_: Format, part: FilePart, problems: Problems) -> Iterator[Span | LogRecord]:
    """Yield the records of one part, with faults told as for a whole capture."""
    try:
        yield from format_.read(part, problems)
    except OSError as error:
        raise unreadable_capture(part.name, error) from error
    except (TrajscopeError, MemoryError):
        raise
    except Exception as error:
        raise crashed(format_, part, error) from error


def line_cuts(file: BinaryIO, size: int) -> Iterator[int]:
    """Yield offsets of line starts, about `size` bytes from each other."""
    end = file.seek(0, io.SEEK_END)
    at = size
    while at < end:
        file.seek(at - 1)
        while (piece := file.readline(size)) and not piece.endswith(b"\n"):
            pass
        at = file.tell()
        if at < end:
            yield at
        at += size
