"""The lines of a stream with their numbers, and the ways to step back into them.

One thing a newcomer would get wrong: a blank line of any length is never held whole, since a few
kilobytes of gzip can stand for a gigabyte of spaces.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from trajscope.errors import Location, Problems

_BOM = b"\xef\xbb\xbf"
_PIECE = 8 * 1024**2


class Lines:
    """Yields `(number, line)`; a blank line is given as one line end, a line over `max_bytes` too.

    The latter is reported. before: the lines in front of the stream, for one that is a part.
    """

    def __init__(
        self, stream: BinaryIO, max_bytes: int, name: str, problems: Problems, before: int = 0
    ) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._name = name
        self._problems = problems
        self.given = before
        self._waiting: list[bytes] = []
        self._column: int | None = None
        self._stopped = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        while not self._stopped and (line := self._next_line()):
            self.given += 1
            if self._column is None or _opens(line, self._column):
                self._column = None
                return self.given, line
        raise StopIteration

    def push_back(self, text: bytes) -> None:
        """Give the lines of `text`, which were the last given, once more."""
        lines = io.BytesIO(text).readlines()  # only "\n" ends a line here, never a lone "\r"
        self._waiting.extend(reversed(lines))
        self.given -= len(lines)

    def skip_to_opener(self, column: int) -> None:
        """Pass over lines until one opens an object or array no further right than `column`."""
        self._column = column

    def stop(self) -> None:
        """Give no more lines."""
        self._stopped = True

    def _next_line(self) -> bytes:
        if self._waiting:
            return self._waiting.pop()
        line = self._stream.readline(_PIECE)
        if len(line) == _PIECE and not line.endswith(b"\n"):
            line = self._whole_line(line)
        if self.given == 0 and line.startswith(_BOM):
            line = line.removeprefix(_BOM) or b"\n"
        return b"\n" if line.isspace() else line

    def _whole_line(self, piece: bytes) -> bytes:
        pieces, size = [], 0
        while piece:
            if size or not piece.isspace():
                size += len(piece)
                if size <= self._max_bytes:
                    pieces.append(piece)
                else:
                    pieces.clear()
            if piece.endswith(b"\n"):
                break
            piece = self._stream.readline(_PIECE)
        if size > self._max_bytes:
            self._problems.add(
                f"a line of more than {self._max_bytes:,} bytes; it is left out",
                at=Location(self._name, line=self.given + 1),
            )
        return b"".join(pieces) or b"\n"


def _opens(line: bytes, column: int) -> bool:
    bare = line.lstrip(b" \t")
    return bare[:1] in (b"{", b"[") and len(line) - len(bare) <= column
