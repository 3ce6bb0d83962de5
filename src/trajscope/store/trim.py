"""Makes a store smaller: old traces go, and the space they took is given back.

One thing a newcomer would get wrong: pruning does not shrink the file. DuckDB keeps the space for
what comes next; `vacuum` writes what is left into a new file, which takes the place of the old one.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import duckdb
import msgspec

from trajscope.errors import Location, StoreError
from trajscope.store import holding
from trajscope.store.connection import connect, settings_of
from trajscope.store.derive import derive
from trajscope.store.faults import interruptible, store_error
from trajscope.store.joining import Read, expect_pruning, join_rest
from trajscope.store.place import check_place
from trajscope.store.statements import Connection, clear, rows, run, transaction


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """What went, and what did not.

    captures: forgotten because nothing of them is left. log_records: those of the traces, and older
    ones that belong to no trace. oldest_ns, newest_ns: when the first
    and the last span that went started. derived: traces that stay and were derived afresh, since a
    trace went that told what became of their calls. undated: traces that tell no time and stay.
    """

    traces: int
    spans: int
    steps: int
    repairs: int
    scores: int
    findings: int
    captures: int
    derived: int
    undated: int
    log_records: int
    oldest_ns: int | None
    newest_ns: int | None


class Vacuumed(msgspec.Struct, frozen=True):
    """The size of the store's file before and after, in bytes, with its write-ahead log."""

    before_bytes: int
    after_bytes: int


def prune(
    connection: Connection,
    before_ns: int,
    *,
    keep_scores: bool = False,
    dry_run: bool = False,
    read: Read | None = None,
) -> Pruned:
    """Remove the traces whose last span started before a time, with everything derived from them.

    What is left is what a store would hold that never saw them. All in one transaction; a dry run
    does the same and takes it back, so its figures are those of the real one. read: see `ingest`.
    """
    if not dry_run:
        with transaction(connection):
            return _prune(connection, before_ns, read, keep_scores=keep_scores)
    connection.execute("BEGIN")
    try:
        return _prune(connection, before_ns, read, keep_scores=keep_scores)
    finally:
        connection.execute("ROLLBACK")


def _prune(
    connection: Connection, before_ns: int, read: Read | None, *, keep_scores: bool
) -> Pruned:
    clear(connection, "touched")
    run(connection, "touch_before", {"before_ns": before_ns})
    [(undated,)] = rows(connection, "prune_undated")
    [(oldest_ns, newest_ns)] = rows(connection, "prune_range")
    affected = [row[0] for row in rows(connection, "prune_affected")]
    emptied = [row[0] for row in rows(connection, "prune_captures")]
    [before] = rows(connection, "prune_count")
    expect_pruning(connection)
    for query in ("prune_spans", "forget_steps", "forget_trajectories", "prune_repairs"):
        run(connection, query)
    for query in () if keep_scores else ("forget_scores", "forget_findings"):
        run(connection, query)
    run(connection, "prune_logs", {"before_ns": before_ns})
    joined = join_rest(connection, read)
    run(connection, "prune_emptied", {"captures": emptied})
    [after] = rows(connection, "prune_count")
    names = [*("traces", "spans", "steps", "repairs"), *("scores", "findings", "captures")]
    names.append("log_records")
    gone = dict(zip(names, (b - a for b, a in zip(before, after, strict=True)), strict=True))
    derived = derive(connection, "touch_listed", {"trace_ids": affected}, joined=joined)
    return Pruned(
        **gone,
        derived=derived.traces,
        undated=undated,
        oldest_ns=oldest_ns,
        newest_ns=newest_ns,
    )


@interruptible()
def vacuum(path: Path, *, memory_limit: str) -> Vacuumed:
    """Write the store at `path` into a new file without gaps, and put it in the old one's place.

    The store is locked all the while. The new file is whole and on the disk before it takes the
    name of the old one, so whatever happens, one of the two is there.

    Raises:
        StoreError: it is not there, is held by another process, or there is no room for the copy;
            the store is as it was.
    """
    check_place(path, create=False)
    file = path.resolve()
    before = _size(file)
    connect(path, read_only=False, memory_limit=memory_limit, threads=None, create=False).close()
    fresh = holding.beside(file, "vacuum")
    try:
        _rewrite(file, fresh, memory_limit)
    except duckdb.Error as error:
        raise _no_copy(store_error(error, path), path) from error
    except OSError as error:
        raise StoreError(
            f"cannot be replaced ({error.strerror}); it is as it was",
            at=Location(str(path)),
            hint=f"a vacuum needs the right to write in {path.parent}",
        ) from error
    finally:
        holding.discard(fresh)
    return Vacuumed(before, _size(file))


def _no_copy(error: StoreError, path: Path) -> StoreError:
    if not error.message.startswith("no room"):
        return error
    return StoreError(
        error.message,
        at=error.at,
        hint=f"a vacuum needs room for a second copy in {path.parent}; the store is as it was",
    )


def _rewrite(file: Path, fresh: Path, memory_limit: str) -> None:
    # Other than every connection a user's SQL runs on, this one may open a second file.
    settings = {**settings_of(file, memory_limit, None), "enable_external_access": "true"}
    attempt = holding.retried(
        lambda: _open(file, settings), holding.current_patience().wait_seconds
    )
    with attempt as connection:
        # While the old file is open under a name that is the new file's, closing it must write
        # nothing: it would remove the log of whoever writes the new one by then.
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("CHECKPOINT")
        holding.sweep(file)
        [[name]] = connection.execute("SELECT current_database()").fetchall()
        connection.execute(f"ATTACH {_text(str(fresh))} AS fresh (TYPE duckdb)")
        connection.execute(f"COPY FROM DATABASE {_name(name)} TO fresh")
        connection.execute("CHECKPOINT fresh")
        connection.execute("DETACH fresh")
        _dress(fresh, file)
        fresh.replace(file)
        holding.sync_folder(file.parent)


def _open(file: Path, settings: dict[str, str]) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(str(file), config={**settings})
    except duckdb.Error as error:
        raise store_error(error, file) from error


def _dress(fresh: Path, file: Path) -> None:
    """Give the new file the owner and mode of the old one, and see it onto the disk."""
    shutil.copymode(file, fresh)
    found = file.stat()
    with suppress(OSError, AttributeError):  # not ours to give away, or no such system
        os.chown(fresh, found.st_uid, found.st_gid)
    with fresh.open("rb+") as handle:
        os.fsync(handle.fileno())


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _size(file: Path) -> int:
    return sum(f.stat().st_size for f in (file, holding.wal_of(file)) if f.exists())
