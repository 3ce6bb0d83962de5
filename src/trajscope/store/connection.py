"""Opens the DuckDB file, checks that it is ours, and says in plain words why it cannot be opened.

One thing a newcomer would get wrong: external access is off for every connection, also ours. Rows
come in and go out as Arrow; no statement of any user or file name can reach the file system.
"""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import duckdb

from trajscope.errors import Location, SchemaVersionError, StoreError, UsageError
from trajscope.store import holding
from trajscope.store.faults import StoreHeld, interruptible, store_error
from trajscope.store.holding import Patience
from trajscope.store.sqltext import ddl_order, sql_text
from trajscope.store.statements import rows, run

SCHEMA_VERSION = 3
"""Raised by every change of `sql/ddl`; a store of another version is refused."""
_SIZE = re.compile(r"\s*\d+(\.\d+)?\s*[KMGT]i?B\s*", re.IGNORECASE | re.ASCII).fullmatch


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
    settings = settings_of(path, memory_limit, threads)
    if path is None:
        return _ready(":memory:", settings, None, read_only=False)
    patience = patience or holding.current_patience()
    # Resolved, so that a name like "md:x" or "s3://…" is a file name and never an address.
    file = path.resolve()
    _check_place(path, create=create and not read_only)
    if not file.exists():
        holding.create(file, lambda fresh: _fill(fresh, settings, path))
    try:
        connection = holding.retried(
            lambda: _ready(str(file), settings, path, read_only=read_only), patience.wait_seconds
        )
    except StoreHeld:
        if not (read_only and patience.snapshot) or holding.is_open_here(file):
            raise
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
    if not _SIZE(memory_limit):
        raise UsageError(
            f"memory limit: not a size ({memory_limit!r:.40}); expected a number with a unit",
            hint="for example 350MB or 2GB",
        )
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


def _check_place(path: Path, *, create: bool) -> None:
    """Refuse what is no store at a glance, before DuckDB sees it.

    Raises:
        StoreError: it is not there and is not to be made, or it is something else.
    """
    at = Location(str(path))
    if path.is_dir():
        raise StoreError("is a folder; expected a store, one DuckDB file", at=at)
    if path.exists() and not path.is_file():
        raise StoreError("is no regular file; expected a store, one DuckDB file", at=at)
    if not path.exists() and not create:
        raise StoreError(
            "no such store",
            at=at,
            hint=f"create it with: trajscope ingest CAPTURE --db {path}",
        )
    if path.is_file() and not holding.is_open_here(path) and not _is_duckdb(path):
        raise StoreError(
            "is no DuckDB file; expected a store written by trajscope",
            at=at,
            hint="give --db another file name; captures are read with: trajscope ingest CAPTURE",
        )


def _is_duckdb(path: Path) -> bool:
    """Whether a file is DuckDB's own. DuckDB would open a JSON file too, as a database of views."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror})", at=Location(str(path))) from error


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path | None, *, read_only: bool) -> None:
    tables = {row[0] for row in rows(connection, "list_tables")}
    if "schema_info" in tables:
        _check_version(connection, path)
    elif tables:
        raise StoreError(
            f"is a DuckDB file of something else (tables {_few(tables)}); expected a store",
            at=Location(str(path)),
            hint="give --db another file name",
        )
    elif read_only:
        raise StoreError(
            "is an empty DuckDB file; expected a store",
            at=Location(str(path)),
            hint=f"fill it with: trajscope ingest CAPTURE --db {path}",
        )
    else:
        _create(connection)
    if not read_only:
        for name in ddl_order("work"):
            connection.execute(sql_text(name))


def _check_version(connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
    found, writer = (*rows(connection, "schema_version"), (None, "?"))[0]
    if found == SCHEMA_VERSION:
        return
    remedy = (
        f"upgrade trajscope (this is {program_version()}, it was written by {writer})"
        if isinstance(found, int) and found > SCHEMA_VERSION
        else "ingest the captures again into a new file; a store holds nothing that is not in them"
    )
    raise SchemaVersionError(
        f"the store has schema version {found}; this trajscope reads version {SCHEMA_VERSION}",
        at=Location(str(path)),
        hint=remedy,
    )


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


def program_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("trajscope")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "unknown"


def _few(names: set[str], most: int = 3) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f"{shown}, …" if len(names) > most else shown
