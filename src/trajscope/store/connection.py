"""Opens the DuckDB file, checks that it is ours, and says in plain words why it cannot be opened.

One thing a newcomer would get wrong: external access is off for every connection, also ours. Rows
come in and go out as Arrow; no statement of any user or file name can reach the file system.
"""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import duckdb

from trajscope.errors import Location, SchemaVersionError, StoreError
from trajscope.store.sqltext import ddl_order, sql_text
from trajscope.store.statements import rows, run

SCHEMA_VERSION = 2
"""Raised by every change of `sql/ddl`; a store of another version is refused."""

_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")


def connect(
    path: Path | None, *, read_only: bool, memory_limit: str, threads: int | None
) -> duckdb.DuckDBPyConnection:
    """Return a connection to the store at `path`, created if it is not there; in memory if None.

    Raises:
        StoreError: it cannot be opened, or holds something else.
        SchemaVersionError: another version of trajscope wrote it.
    """
    connection = _open(path, read_only, _settings(path, memory_limit, threads))
    try:
        _prepare(connection, path, read_only=read_only)
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def _settings(path: Path | None, memory_limit: str, threads: int | None) -> dict[str, str]:
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


def _open(
    path: Path | None, read_only: bool, settings: Mapping[str, str]
) -> duckdb.DuckDBPyConnection:
    # Resolved, so that a name like "md:x" or "s3://…" is a file name and never an address.
    target = ":memory:" if path is None else str(path.resolve())
    if path is not None and read_only and not path.exists():
        raise StoreError(
            "no such store",
            at=Location(str(path)),
            hint=f"create it with: trajscope ingest CAPTURE --db {path}",
        )
    if path is not None and path.is_dir():
        raise StoreError("is a folder; expected a store, one DuckDB file", at=Location(str(path)))
    if path is not None and path.is_file() and not _is_duckdb(path):
        raise StoreError(
            "is no DuckDB file; expected a store written by trajscope",
            at=Location(str(path)),
            hint="give --db another file name; captures are read with: trajscope ingest CAPTURE",
        )
    try:
        return duckdb.connect(target, read_only=read_only, config={**settings})
    except duckdb.Error as error:
        raise _explained(error, path) from error


def _is_duckdb(path: Path) -> bool:
    """Whether a file is DuckDB's own. DuckDB would open a JSON file too, as a database of views."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror})", at=Location(str(path))) from error


def _explained(error: duckdb.Error, path: Path | None) -> StoreError:
    """Say what DuckDB's message means for a store, with a way out."""
    text = str(error)
    at = Location(str(path))
    held = _HOLDER.search(text)
    if held:
        return StoreError(
            f"another process holds the store: {held['program']} (process {held['pid']})",
            at=at,
            hint="wait until it ends or stop it; to read meanwhile, open a copy of the file",
        )
    if "Could not set lock" in text:
        return StoreError(
            "another process holds the store", at=at, hint="wait until it ends or stop it"
        )
    if "Corrupt" in text or "checksum" in text or "read enough bytes" in text:
        return StoreError(
            f"the store is damaged ({_first_line(text)})",
            at=at,
            hint="restore a copy, or ingest the captures again into a new file",
        )
    if "No such file" in text:
        return StoreError(f"no folder {path and path.parent}", at=at, hint="create the folder")
    return StoreError(f"cannot be opened ({_first_line(text)})", at=at)


def _first_line(text: str) -> str:
    return text.splitlines()[0].strip() if text else text


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
