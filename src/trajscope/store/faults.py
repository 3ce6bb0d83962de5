"""What DuckDB's messages mean for a store, in plain words and with a way out.

One thing a newcomer would get wrong: a damaged file is mostly found late, while a block of it is
read. Every statement can raise it, so this is not only about opening.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from trajscope.errors import Location, StoreError

_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")
_DAMAGED = re.compile(
    r"Corrupt database file|checksum \S+ does not match|[Cc]ould not read enough bytes|"
    r"not a valid DuckDB|[Ff]ailed to deserialize|replaying WAL|Serialization ?(?:Error|Exception)|"
    r"INTERNAL Error"
)
_OF_THE_FILE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
)
_QUOTED = re.compile(r"""\"[^"\n]*\"|(?<!\w)'[^'\n]*'""")
"""Values and paths; an apostrophe within a word begins none."""
INTERRUPTED = "Query interrupted"
"""What DuckDB says, as a RuntimeError, when it hears Ctrl-C before Python does."""
_FULL = ("No space left", "ENOSPC", "File too large", "Disk quota exceeded")
_WAIT = "wait for it with --wait SECONDS"
_COPY = "or read a copy of its last commit, where a command has --snapshot"


class StoreHeld(StoreError):  # noqa: N818 - the word of the message
    """Another process has the store open."""

    def for_readers(self) -> StoreHeld:
        """Return the same for a command that only reads, which need not wait."""
        hint = f"{_WAIT}, {_COPY}" if self.hint == _WAIT else self.hint
        return StoreHeld(self.message, at=self.at, hint=hint)


@contextmanager
def as_store_errors(path: Path | None) -> Iterator[None]:
    """Turn what DuckDB raises into a StoreError with the file and a way out."""
    try:
        with interruptible():
            yield
    except duckdb.Error as error:
        raise store_error(error, path) from error


@contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C the same, whether Python hears it first or DuckDB does as a statement runs."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        raise KeyboardInterrupt from error


def store_error(error: duckdb.Error, path: Path | None) -> StoreError:
    """Return what DuckDB raised as a StoreError: the place, what is wrong, and a hint."""
    text = str(error)
    said = _unquoted(text, path)
    at = Location(None if path is None else str(path))
    first = _first_line(text)
    if "Could not set lock" in said:
        return StoreHeld(
            f"another process holds the store{_holder(text)}; expected it to be free",
            at=at,
            hint=_WAIT,
        )
    if "different configuration" in said:
        return StoreHeld(
            "this process has the store open in another way already",
            at=at,
            hint="close that one first, or open both alike",
        )
    if "No such file" in said and path is not None and not path.parent.is_dir():
        return StoreError(
            f"no folder {path.parent}; expected a store in it", at=at, hint="create the folder"
        )
    if any(word in said for word in _FULL):
        return StoreError(
            f"no room to write ({first})",
            at=at,
            hint="make room on the disk; the store holds what it held before this command, and its "
            "file gives back at the next write what it took now",
        )
    if "Permission denied" in said:
        return StoreError(
            "may not be opened (permission denied); expected the right to write to the file and "
            "its folder",
            at=at,
            hint="what only reads needs no such right (list, show, query, export --dry-run); for "
            "the rest make a copy of the store and use that",
        )
    if _DAMAGED.search(said):
        return StoreError(
            f"the store is damaged ({first})",
            at=at,
            hint="restore a copy, or ingest the captures again into a new file",
        )
    return StoreError(first, at=at, hint=_way_out(said))


def is_damaged(error: duckdb.Error, path: Path | None) -> bool:
    """Return whether an error says that the file is not as it was written.

    Of a bad block DuckDB raises its base class; what a statement itself does wrong has another.
    """
    of_the_file = isinstance(error, _OF_THE_FILE) or type(error) is duckdb.Error
    return of_the_file and _DAMAGED.search(_unquoted(str(error), path)) is not None


def _unquoted(text: str, path: Path | None) -> str:
    """Return what DuckDB itself says, without the names and values it repeats."""
    if path is not None:
        for name in (path.absolute(), path):  # it may hold a quote itself
            text = text.replace(f'"{name}', '"')
    return _QUOTED.sub("", text)


def _way_out(text: str) -> str | None:
    if "read-only" in text:
        return "the store was opened for reading only"
    if "Out of Memory" in text:
        return "give DuckDB more memory (TRAJSCOPE_MEMORY_LIMIT=2GB) or more room to spill"
    return None


def _holder(text: str) -> str:
    held = _HOLDER.search(text)
    if held is None:
        return ""
    return f": {_program(held['pid'], Path(held['program']).name)} (process {held['pid']})"


def _program(pid: str, program: str) -> str:
    """Name a process as people do: the script it runs and its command, never its arguments.

    Arguments may hold a password; the first word after `trajscope` is the command.
    """
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:  # gone, not ours to look at, or no such file system
        return program
    scripts = [i for i, word in enumerate(words[:4]) if Path(word).name.startswith("trajscope")]
    if not scripts:
        return program
    command = next((w for w in words[scripts[0] + 1 :] if w.isalpha()), "")
    return f"trajscope {command}".strip()


def _first_line(text: str) -> str:
    return text.splitlines()[0].strip() if text else text
