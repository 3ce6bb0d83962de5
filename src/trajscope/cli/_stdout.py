"""Standard output as it may be: a pipe whose reader leaves, a full disk, no output, no UTF-8.

One thing a newcomer would get wrong: click and rich end a program with 1 when the reader of a pipe
leaves, which is our code for findings. Here it is no failure: what an audit came to stands.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LOST = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def prepare() -> None:
    """Open what the caller has closed (`>&-`), so that no file gets its number; escape the rest.

    What the encoding of a terminal or pipe has no sign for is shown as `\\u2717`.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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
