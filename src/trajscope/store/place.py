"""Looks at the place of a store before DuckDB does, and says plainly what is no store at a glance.

One thing a newcomer would get wrong: a file that this process has open must not be peeked at, since
closing any handle of it drops the lock (see `holding`).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from trajscope.errors import Location, StoreError, reason_of
from trajscope.store import holding

_EXPECTED = "expected a store, one DuckDB file"
_OTHER_NAME = "give --db another file name"
_WAYS_OUT = {
    errno.EACCES: "it needs the right to read the file and to enter every folder above it",
    errno.ELOOP: "its links lead in a circle; give --db the file itself",
    errno.ENOTDIR: f"{_OTHER_NAME}; a part of this one is a file and no folder",
}


def check_place(path: Path, *, create: bool) -> None:
    """Refuse what is no store at a glance.

    create: a place where nothing is will do, if its folder is there.

    Raises:
        StoreError: it cannot be looked at, is not there, or is something else.
    """
    at = Location(str(path))
    found = _look(path)
    if found is None:
        _check_new(path, create=create)
    elif stat.S_ISDIR(found.st_mode):
        raise StoreError(f"is a folder; {_EXPECTED}", at=at, hint="give --db a file name in it")
    elif not stat.S_ISREG(found.st_mode):
        raise StoreError(f"is no regular file; {_EXPECTED}", at=at, hint=_OTHER_NAME)
    elif not holding.is_open_here(path) and not _is_duckdb(path):
        raise StoreError(
            "is no DuckDB file; expected a store written by trajscope",
            at=at,
            hint=f"{_OTHER_NAME}; captures are read with: trajscope ingest CAPTURE",
        )


def _look(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _closed(path, error) from error


def _check_new(path: Path, *, create: bool) -> None:
    at = Location(str(path))
    if not create:
        raise StoreError(
            f"no such store; {_EXPECTED}",
            at=at,
            hint=f"create it with: trajscope ingest CAPTURE --db {path}",
        )
    folder = path.resolve().parent
    if not folder.is_dir():
        shown = folder if path.is_symlink() else path.parent
        raise StoreError(f"no folder {shown}; {_EXPECTED} in it", at=at, hint="create the folder")


def _is_duckdb(path: Path) -> bool:
    """Whether a file is DuckDB's own. DuckDB would open a JSON file too, as a database of views."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError as error:
        raise _closed(path, error) from error


def _closed(path: Path, error: OSError | ValueError) -> StoreError:
    """Return why a path cannot be looked at: too long, in a folder that is closed, a circle."""
    number = error.errno if isinstance(error, OSError) else None
    return StoreError(
        f"cannot be opened ({reason_of(error)}); {_EXPECTED}",
        at=Location(str(path)),
        hint=_OTHER_NAME if number is None else _WAYS_OUT.get(number, _OTHER_NAME),
    )
