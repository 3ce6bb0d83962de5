"""Opens the DuckDB file of a store, made if it is not there, with the settings all have.

One thing a newcomer would get wrong: external access is off for every connection, also ours. Rows
come in and go out as Arrow; no statement of any user or file name can reach the file system.
"""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import duckdb

from trajscope.errors import Location, StoreError, UsageError
from trajscope.store import holding
from trajscope.store.faults import StoreHeld, interruptible, store_error
from trajscope.store.holding import Patience
from trajscope.store.place import check_place
from trajscope.store.shape import SCHEMA_VERSION, is_filled, program_version
from trajscope.store.sqltext import ddl_order, sql_text
from trajscope.store.statements import run

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B\s*", re.IGNORECASE | re.ASCII).fullmatch
_THOUSANDS = {"K": 1, "M": 2, "G": 3, "T": 4}
_LEAST_MB, _MOST_MB = 5, 1_000_000_000
"""With less than this DuckDB opens no store; many times more it takes for no size."""


@interruptible()
def connect(
    path: Path | None,
    *,
    read_only: bool,
    memory_limit: str,
    threads: int | None,
    create: bool = True,
    patience: Patience | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return a connection to the store at `path`, created if it is not there; in memory if None.

    patience: what to do while another process holds it; default what `holding.patient` says.

    Raises:
        StoreError: it cannot be opened, or holds something else.
        SchemaVersionError: another version of trajscope wrote it.
    """
    if path is None:
        settings = settings_of(None, memory_limit, threads)
        return _ready(":memory:", settings, None, read_only=False)
    patience = patience or holding.current_patience()
    check_place(path, create=create and not read_only)
    settings = settings_of(path, memory_limit, threads)
    # Resolved, so that a name like "md:x" or "s3://…" is a file name and never an address.
    file = path.resolve()
    if not file.exists():
        holding.create(file, lambda fresh: _fill(fresh, settings, path))
    try:
        connection = holding.retried(
            lambda: _ready(str(file), settings, path, read_only=read_only), patience.wait_seconds
        )
    except StoreHeld as held:
        if not read_only or holding.is_open_here(file):
            raise
        if not patience.snapshot:
            raise held.for_readers() from held
        return _copied(file, settings, path)
    holding.remember(connection, file)
    return connection


def _copied(file: Path, settings: Mapping[str, str], path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to a copy of the store; the copy has no name any more."""
    copy = holding.snapshot(file)
    try:
        return _ready(
            str(copy), {**settings, "temp_directory": f"{copy}.tmp"}, path, read_only=True
        )
    finally:
        holding.discard(copy)  # the open handle keeps the bytes until it is closed


def _ready(
    target: str, settings: Mapping[str, str], path: Path | None, *, read_only: bool
) -> duckdb.DuckDBPyConnection:
    """Return a connection to a file that was found to be a store of this version."""
    try:
        connection = duckdb.connect(target, read_only=read_only, config={**settings})
    except duckdb.Error as error:
        raise store_error(error, path) from error
    try:
        _prepare(connection, path, read_only=read_only)
        _lock(connection)
    except duckdb.Error as error:
        _close(connection)
        raise store_error(error, path) from error
    except BaseException:
        _close(connection)
        raise
    return connection


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Let nobody change a setting; of a store this process has open already that is done."""
    found = connection.execute("SELECT current_setting('lock_configuration')").fetchall()
    if not found[0][0]:
        connection.execute("SET lock_configuration = true")


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):
        connection.close()


def settings_of(path: Path | None, memory_limit: str, threads: int | None) -> dict[str, str]:
    """Return how DuckDB is set up for the store at `path`.

    Raises:
        UsageError: the limit is no size (DuckDB takes a negative one for no limit at all).
    """
    _check_size(memory_limit)
    spill = (
        Path(tempfile.gettempdir()) / f"trajscope-{uuid.uuid4().hex}"
        if path is None
        else path.with_name(path.name + ".tmp")
    )
    settings = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        # Otherwise `FROM name` in a user's query finds Python variables of our own frames.
        "python_enable_replacements": "false",
        "memory_limit": memory_limit,
        "temp_directory": str(spill),
    }
    return settings if threads is None else {**settings, "threads": str(threads)}


def _check_size(memory_limit: str) -> None:
    size = _SIZE(memory_limit)
    if size is None:
        wrong, expected = "not a size", "expected a number with a unit"
    elif _LEAST_MB <= float(size[1]) * 1000 ** (_THOUSANDS[size[2].upper()] - 2) <= _MOST_MB:
        return
    else:
        wrong, expected = "out of range", f"expected {_LEAST_MB}MB to {_MOST_MB // 1000**2}TB"
    raise UsageError(
        f"memory limit: {wrong} ({memory_limit!r:.40}); {expected}",
        hint="--memory-limit or TRAJSCOPE_MEMORY_LIMIT, for example 350MB or 2GB",
    )


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path | None, *, read_only: bool) -> None:
    if not is_filled(connection, path):
        if read_only:
            raise StoreError(
                "is an empty DuckDB file; expected a store",
                at=Location(str(path)),
                hint=f"fill it with: trajscope ingest CAPTURE --db {path}",
            )
        _create(connection)
    if not read_only:
        for name in ddl_order("work"):
            connection.execute(sql_text(name))


def _fill(fresh: Path, settings: Mapping[str, str], path: Path) -> None:
    """Write the empty store that becomes the one at `path`."""
    try:
        with duckdb.connect(str(fresh), config={**settings}) as connection:
            _create(connection)
    except duckdb.Error as error:
        raise store_error(type(error)(str(error).replace(str(fresh), str(path))), path) from error


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN")
    for name in ddl_order("store"):
        connection.execute(sql_text(name))
    run(
        connection,
        "save_schema_version",
        {"version": SCHEMA_VERSION, "created_by": program_version()},
    )
    connection.execute("COMMIT")
