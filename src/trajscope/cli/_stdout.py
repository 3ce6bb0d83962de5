"""Both outputs as they may be: a pipe whose reader leaves, a full disk, no output, no UTF-8.

One thing a newcomer would get wrong: click and rich end a program with 1 when the reader of a pipe
leaves, which is our code for findings. Here it is no failure: what an audit came to stands.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select
from typing import Any

_PATIENCE_SECONDS = 1.0
"""How long a pipe that takes nothing now is waited for; then what is left is left out."""
_LOST = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def prepare() -> None:
    """Open what the caller has closed (`>&-`), so that no file gets its number; escape the rest.

    What the encoding of a terminal or pipe has no sign for is shown as `\\u2717`.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _unread(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Unread(io.RawIOBase):
    """A file that is told things whether or not it takes them."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        """Write what can be written, and say that it was."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        with suppress(OSError):
            while rest:
                taken = self._file.write(rest)
                if taken is None and not select([], [self._file], [], _PATIENCE_SECONDS)[1]:
                    break
                rest = rest[taken or 0 :]
        return size

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the number of the file."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Return whether somebody is looking."""
        return self._file.isatty()


def _unread(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream in place of stderr that nothing ever fails on.

    What is narrated there is for whoever looks; if nobody can, the result and the exit code stand.
    """
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)
    return io.TextIOWrapper(
        io.BufferedWriter(_Unread(raw)), encoding=stream.encoding, write_through=True
    )


def silence() -> None:
    """Let all that is still to be printed go nowhere, at the end of the program too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print to a pipe whose reader may leave; what comes after, the exit code above all, holds."""
    try:
        yield
    except BrokenPipeError:
        silence()


def is_lost(error: OSError) -> bool:
    """Return whether an error can only be that of an output: it is of no file we opened."""
    return error.filename is None and error.errno in _LOST
