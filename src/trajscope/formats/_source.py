"""Where the bytes of captures come from: files, directories, standard input; decompressed.

One thing a newcomer would get wrong: gzip and zstd are recognised by their first bytes, whatever
the file is called. A stream that ends early gives what it had, and says so in `fault`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from trajscope.errors import InputError, Location, Problems, UsageError, reason_of, shortened
from trajscope.formats._expand import DEFAULT_MAX_EXPANDED, expanding

HEAD_BYTES = 64 * 1024
_SPOOL_IN_MEMORY = 64 * 1024**2
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)(i?)b?(?<! )", re.IGNORECASE)
_MOST_BYTES = 1000 * 1000**4


def parse_size(text: str, option: str = "size") -> int:
    """Return the number of bytes a size stands for; option: what it is called in messages.

    >>> parse_size("4GiB"), parse_size("500MB"), parse_size("1024")
    (4294967296, 500000000, 1024)

    Raises:
        UsageError: the text is no size, or one that no file has.
    """
    match = _SIZE.fullmatch(text)
    power = " kmgt".index(match[2].lower() or " ") if match else 0
    size = float(match[1]) * (1024 if match[3] else 1000) ** power if match else 0.0
    if not 1 <= size <= _MOST_BYTES:
        raise UsageError(
            f"{shortened(text)!r} is no size; expected a number of bytes from 1 to 1000TB",
            at=Location(option),
            hint="for example 500MB or 4GiB",
        )
    return int(size)


class State(NamedTuple):
    """What tells a file from what it becomes: inode, bytes, nanoseconds of its last change."""

    inode: int
    size: int
    changed_ns: int


class FileSource:
    """The bytes of one capture file.

    fault: what ended the stream early (a cut gzip member), None while nothing did. head_fault: the
    same, where it ended within `head`.
    """

    def __init__(
        self, name: str, raw: Path | BinaryIO, max_expanded: int = DEFAULT_MAX_EXPANDED
    ) -> None:
        self.name = name
        self.fault: str | None = None
        self.head_fault: str | None = None
        self._raw = raw
        self._max_expanded = max_expanded
        self._opened: io.BufferedReader | None = None

    @property
    def share(self) -> float | None:
        """How much of the stored bytes is read, from 0 to 1; None where that is not known."""
        if not isinstance(self._raw, Path) or self._opened is None or self._opened.closed:
            return None
        size = os.fstat(self._opened.fileno()).st_size
        return self._opened.tell() / size if size else None

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, decompressed; white space that fills them all is passed over.

        Raises:
            InputError: the file cannot be read.
        """
        with self.open() as stream:
            try:
                head = stream.read(HEAD_BYTES)
                while head.isspace() and (more := stream.read(HEAD_BYTES)):
                    head = more
            except OSError as error:
                raise unreadable_capture(self.name, error) from error
        self.head_fault, self.fault = self.fault, None  # whoever reads it all will be told again
        return head

    def open(self) -> BinaryIO:
        """Return the whole decompressed stream, from its start.

        Raises:
            InputError: the file cannot be read, or expands beyond the limits (while reading).
        """
        raw = self._opened = self.open_raw()
        try:
            return expanding(raw, self.name, self._max_expanded, self._note_fault)
        except OSError as error:
            raw.close()
            raise unreadable_capture(self.name, error) from error

    def open_raw(self) -> io.BufferedReader:
        """Return the stored bytes, still compressed; for hashing.

        Raises:
            InputError: the file cannot be opened.
        """
        if not isinstance(self._raw, Path):
            self._raw.seek(0)
            return io.BufferedReader(_Kept(self._raw))
        try:
            return io.BufferedReader(open_file(self._raw), buffer_size=1 << 18)
        except OSError as error:
            raise unreadable_capture(self.name, error) from error

    def plain_file(self) -> Path | None:
        """Return the path of an uncompressed file, whose bytes can be read from anywhere.

        Raises:
            InputError: the file cannot be read.
        """
        if not isinstance(self._raw, Path):
            return None
        try:
            with self.open_raw() as raw:
                plain = expanding(raw, self.name, self._max_expanded, self._note_fault) is raw
        except OSError as error:
            raise unreadable_capture(self.name, error) from error
        return self._raw if plain else None

    def state(self) -> State | None:
        """What tells whether the file is the one it was; None if it is gone.

        A copied stream cannot change and has always the same.
        """
        if not isinstance(self._raw, Path):
            return State(0, 0, 0)
        try:
            found = self._raw.stat()
        except OSError:
            return None
        return State(found.st_ino, found.st_size, found.st_mtime_ns)

    def refuse_change(self, before: State | None) -> None:
        """Refuse a file that is not what it was; before: its `state` then.

        Raises:
            InputError: it is gone, or somebody wrote to it or put another in its place.
        """
        now = self.state()
        if now == before:
            return
        what = "changed while it was read" if now else "is gone since it was found"
        raise InputError(
            f"{what}; expected a file that nobody writes or moves any more",
            at=Location(self.name),
            hint="ingest it when it is complete (collectors rotate files), or a copy",
        )

    def _note_fault(self, fault: str) -> None:
        self.fault = fault


def open_file(path: Path) -> io.FileIO:
    """Open a file for reading its bytes."""
    return io.FileIO(path)


class _Kept(io.RawIOBase):
    """A view of a stream that may be closed without closing the stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def unreadable_capture(name: str, error: OSError | ValueError) -> InputError:
    """Return that a capture, or the folder it is looked for in, cannot be read."""
    return InputError(
        f"cannot be read ({reason_of(error)}); expected a readable file", at=Location(name)
    )


def find_sources(
    paths: Sequence[str],
    problems: Problems,
    *,
    max_expanded: int = DEFAULT_MAX_EXPANDED,
    besides: Sequence[Path] = (),
) -> Iterator[tuple[FileSource, str | None]]:
    """Yield the sources of `paths`, each with the folder it was met in; None if it was named.

    Folders are searched recursively, in order of names; hidden files and what is no regular
    file are passed over. `-` is standard input; it and pipes are first copied, since a source is
    opened more than once. Every path is looked at before anything is read. besides: files that are
    not even opened: closing one that this process has locked would drop its lock.

    Raises:
        InputError: a path does not exist, cannot be read, or is one of `besides`.
    """
    modes = [None if path == "-" else _mode(path) for path in paths]
    closed = {identity for path in besides if (identity := _identity(path)) is not None}
    for path in paths:
        if closed and path != "-" and _identity(Path(path)) in closed:
            raise InputError("is the store itself; a capture was expected", at=Location(path))
    for path, mode in zip(paths, modes, strict=True):
        if mode is not None and stat.S_ISDIR(mode):
            for file in _files_below(path, problems):
                if closed and _identity(file) in closed:
                    problems.skip("files that are no capture")
                    continue
                yield FileSource(str(file), file, max_expanded), path
        elif mode is not None and stat.S_ISREG(mode):
            yield FileSource(path, Path(path), max_expanded), None
        else:
            with _spooled(path) as spool:
                yield FileSource(path, spool, max_expanded), None


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - Path drops a trailing slash
    except (OSError, ValueError) as error:
        raise unreadable_capture(path, error) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from all others, whatever it is called; None if it is not there."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _files_below(folder: str, problems: Problems) -> Iterator[Path]:
    def note(error: OSError) -> None:
        problems.add(f"cannot be read ({error.strerror})", at=Location(str(error.filename)))

    for where, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(where, name)
            if not name.startswith(".") and file.is_file():
                yield file


@contextmanager
def _spooled(path: str) -> Iterator[BinaryIO]:
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY) as spool:
        if path == "-":
            shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
        else:
            try:
                with Path(path).open("rb") as pipe:
                    shutil.copyfileobj(pipe, spool, 1 << 20)
            except OSError as error:
                raise unreadable_capture(path, error) from error
        yield cast("BinaryIO", spool)
