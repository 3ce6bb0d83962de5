"""Who may open a store when: waiting for another process, reading a copy beside it, making it new.

One thing a newcomer would get wrong: the lock of DuckDB is a POSIX lock. It is gone as soon as
*any* handle of the same file is closed in the process that holds it, so a file that this process
has open must not even be peeked at.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from pathlib import Path
from weakref import WeakKeyDictionary

import duckdb
import msgspec

from trajscope.errors import Location, StoreError
from trajscope.store.faults import StoreHeld

_TRY_EVERY_SECONDS = 0.1
_HEADER_BYTES = 3 * 4096
"""The main header of a DuckDB file and its two database headers; a checkpoint rewrites one."""

_COPY_TRIES = 20
_open_here: WeakKeyDictionary[duckdb.DuckDBPyConnection, tuple[int, int]] = WeakKeyDictionary()


class Patience(msgspec.Struct, frozen=True):
    """What to do about a store that another process holds.

    wait_seconds: how long to try. snapshot: read a copy instead, for those who only read.
    """

    wait_seconds: float = 0.0
    snapshot: bool = False


_NONE = Patience()
_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


def current_patience() -> Patience:
    """Return what `patient` set, else no patience at all."""
    return _patience.get() or _NONE


@contextmanager
def patient(*, wait_seconds: float | None = None, snapshot: bool | None = None) -> Iterator[None]:
    """Set how `Store.open` deals with a held store while the block runs, wherever it is called."""
    now = current_patience()
    token = _patience.set(
        Patience(
            now.wait_seconds if wait_seconds is None else wait_seconds,
            now.snapshot if snapshot is None else snapshot,
        )
    )
    try:
        yield
    finally:
        _patience.reset(token)


def retried(
    attempt: Callable[[], duckdb.DuckDBPyConnection], wait_seconds: float
) -> duckdb.DuckDBPyConnection:
    """Return what `attempt` returns, trying again for `wait_seconds` while another holds the store.

    Raises:
        StoreHeld: it is held to the end.
    """
    until = time.monotonic() + wait_seconds
    while True:
        try:
            return attempt()
        except StoreHeld:
            left = until - time.monotonic()
            if left <= 0:
                raise
            time.sleep(min(_TRY_EVERY_SECONDS, left))


def remember(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Note that this process has the file at `path` open through `connection`."""
    with suppress(OSError):
        _open_here[connection] = _identity(path)


def is_open_here(path: Path) -> bool:
    """Whether this process may hold a lock on the file, which a second handle would drop."""
    try:
        return _identity(path) in _open_here.values()
    except OSError:
        return False


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def create(path: Path, fill: Callable[[Path], None]) -> None:
    """Make the store at `path` by `fill`, so that it is there as a whole or not at all.

    DuckDB makes an empty file first and writes its headers later; killed between, it would leave
    a file that nothing can open. If another process makes the store meanwhile, that one stays.
    """
    fresh = beside(path, "new")
    try:
        fill(fresh)
        _link(fresh, path)
    finally:
        discard(fresh)


def _link(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            fresh.rename(path)
    sync_folder(path.parent)


def beside(path: Path, purpose: str) -> Path:
    """Return the name of a hidden file in the folder of `path` that nobody else uses."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.{purpose}")


def discard(path: Path) -> None:
    """Remove a DuckDB file of ours and its write-ahead log, as far as they are there."""
    for file in (path, wal_of(path)):
        with suppress(OSError):
            file.unlink()


def sweep(path: Path) -> None:
    """Remove what killed commands left beside a store; only while this process has it locked."""
    for purpose in ("new", "vacuum"):
        for file in path.parent.glob(f".{escape(path.name)}.????????.{purpose}*"):
            with suppress(OSError):
                file.unlink()


def wal_of(path: Path) -> Path:
    """Return the place of the write-ahead log of a DuckDB file."""
    return path.with_name(path.name + ".wal")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut."""
    with suppress(OSError):  # not every file system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def snapshot(path: Path) -> Path:
    """Return a copy of a store that another process writes, as it was at one commit.

    What the last checkpoint wrote is not overwritten before the next one, and that one rewrites a
    header. So: copy the log, then the file; if no header changed meanwhile, the copy is whole. The
    log comes first because its entries point at blocks that were written before them.

    Raises:
        StoreError: it is written to faster than it can be copied, or there is no room.
    """
    copy = Path(tempfile.gettempdir()) / f"trajscope-{uuid.uuid4().hex}.duckdb"
    try:
        for _ in range(_COPY_TRIES):
            before = _header(path)
            with suppress(FileNotFoundError):
                shutil.copyfile(wal_of(path), wal_of(copy))
            shutil.copyfile(path, copy)
            if _header(path) == before:
                return copy
            discard(copy)
    except OSError as error:
        discard(copy)
        where = copy if error.errno == errno.ENOSPC else path
        raise StoreError(
            f"cannot be copied to {copy.parent} ({error.strerror})",
            at=Location(str(where)),
            hint="set TMPDIR to a folder with more room, or use --wait SECONDS",
        ) from error
    raise StoreError(
        "is written to faster than it can be copied",
        at=Location(str(path)),
        hint="use --wait SECONDS",
    )


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)
