"""Runs the SQL of users: one reading statement, in a read-only transaction, with a hint on errors.

One thing a newcomer would get wrong: the kind of the statement alone proves nothing (an EXPLAIN
ANALYZE runs what it explains). What holds is the read-only transaction, and that the whole
database has no access to files; the check of the statement is there for a good message.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from trajscope.errors import Location, QueryError
from trajscope.store.faults import is_damaged, store_error
from trajscope.store.hearing import heard
from trajscope.store.statements import rows

FETCH_ROWS = 2_000
"""Rows fetched at once; results are streamed."""

_READING = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
_NEVER = ("force_checkpoint", "checkpoint", "enable_logging", "disable_logging")
_OF_THE_FILE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
)
_LINE = re.compile(r"LINE (\d+):")
_NO_TABLE = re.compile(r'Table with name "?(?P<name>[^"\s]+?)"? does not exist')
_NO_COLUMN = re.compile(r'[Cc]olumn "(?P<name>[^"]+)" (?:not found|does not exist)')


class QueryResult(msgspec.Struct, frozen=True):
    """The answer to a query: `columns` and `types` by position, and the rows, streamed once."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


class Column(msgspec.Struct, frozen=True):
    """One column of a table or view."""

    name: str
    type: str
    comment: str


class Relation(msgspec.Struct, frozen=True):
    """One table or view of the store, with what it holds."""

    name: str
    kind: str
    comment: str
    columns: tuple[Column, ...]


Params = Mapping[str, object] | Sequence[object] | None


def query(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    params: Params = None,
    *,
    name: str | None,
    path: Path | None = None,
) -> QueryResult:
    """Run one reading statement on a cursor of its own.

    name: the file the statement comes from; path: of the store; both for messages.

    Raises:
        QueryError: it is not one reading statement, or it fails.
        StoreError: the store is at fault.
    """
    at = Location(name) if name else None
    _check(connection, sql, at)
    cursor = connection.cursor()
    try:
        cursor.execute("BEGIN TRANSACTION READ ONLY")
        result = heard(cursor.interrupt, lambda: cursor.execute(sql, params))
        description = result.description or []
        return QueryResult(
            tuple(column[0] for column in description),
            tuple(str(column[1]) for column in description),
            _rows(cursor, at, path),
        )
    except duckdb.Error as error:
        cursor.close()
        _refuse_store(error, path)
        raise explained(connection, error, at) from error


def _rows(
    cursor: duckdb.DuckDBPyConnection, at: Location | None, path: Path | None
) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := heard(cursor.interrupt, lambda: cursor.fetchmany(FETCH_ROWS)):
            yield from rows
    except duckdb.Error as error:
        _refuse_store(error, path)
        raise explained(cursor, error, at) from error
    finally:
        cursor.close()


def _refuse_store(error: duckdb.Error, path: Path | None) -> None:
    """Say so if it is not the statement that is at fault but the file it reads.

    What is no memory or no room may be the statement's own; a text of a trace is no reason.
    """
    if isinstance(error, _OF_THE_FILE) and is_damaged(error):
        raise store_error(error, path) from error


def _check(connection: duckdb.DuckDBPyConnection, sql: str, at: Location | None) -> None:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise explained(connection, error, at) from error
    if len(statements) != 1:
        found = "no statement" if not statements else f"{len(statements)} statements"
        raise QueryError(
            f"{found}; expected one", at=at, hint="trajscope query runs one SELECT at a time"
        )
    kind = statements[0].type
    if kind not in _READING:
        raise QueryError(
            f"{_article(kind.name)} {kind.name} statement; "
            "expected a SELECT, since queries only read",
            at=at,
            hint="see the tables with: trajscope schema",
        )
    called = next((f for f in _NEVER if re.search(rf"\b{f}\s*\(", sql, re.IGNORECASE)), None)
    if called:
        raise QueryError(f"{called}() changes the database; queries only read", at=at)


def _article(word: str) -> str:
    return "an" if word[:1] in "AEIOU" else "a"


def explained(
    connection: duckdb.DuckDBPyConnection, error: duckdb.Error, at: Location | None
) -> QueryError:
    """Return DuckDB's error as ours: first line, place, and a hint with near names."""
    text = str(error)
    line = _LINE.search(text)
    place = at
    if line is not None:
        place = Location(at.path if at else "query", line=int(line[1]))
    first = text.split("\n", 1)[0].strip()
    return QueryError(first, at=place, hint=_hint(connection, text))


def _hint(connection: duckdb.DuckDBPyConnection, text: str) -> str | None:
    if "file system operations are disabled" in text or "Cannot access" in text:
        return "queries see the store only; ingest files first: trajscope ingest CAPTURE --db FILE"
    missing = _NO_TABLE.search(text) or _NO_COLUMN.search(text)
    if missing is None:
        return None
    try:
        relations = describe(connection)
    except duckdb.Error:
        return "see the tables with: trajscope schema"
    names = (
        [r.name for r in relations]
        if _NO_TABLE.search(text)
        else sorted({c.name for r in relations for c in r.columns})
    )
    near = difflib.get_close_matches(missing["name"].rpartition(".")[2].lower(), names)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "see the tables with: trajscope schema"


def describe(connection: duckdb.DuckDBPyConnection) -> list[Relation]:
    """Return the tables, then the views, with the comments of the DDL."""
    found: dict[str, tuple[str, str, list[Column]]] = {}
    for name, kind, comment, column, type_, column_comment in rows(connection, "describe"):
        columns = found.setdefault(name, (kind, comment, []))[2]
        columns.append(Column(column, type_, column_comment))
    return [
        Relation(name, kind, comment, tuple(columns))
        for name, (kind, comment, columns) in found.items()
    ]
