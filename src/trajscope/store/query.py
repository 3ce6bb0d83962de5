"""Runs the SQL of users: one reading statement, in a read-only transaction, with a hint on errors.

One thing a newcomer would get wrong: the kind of the statement alone proves nothing (an EXPLAIN
ANALYZE runs what it explains). What holds is the read-only transaction, and that the whole
database has no access to files; the check of the statement is there for a good message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from trajscope.errors import Location, QueryError
from trajscope.store.faults import INTERRUPTED, is_damaged, store_error
from trajscope.store.hearing import heard
from trajscope.store.hints import hint

FETCH_ROWS = 2_000
"""Rows fetched at once; results are streamed."""

_READING = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
_NEVER = ("force_checkpoint", "checkpoint", "enable_logging", "disable_logging")
_LINE = re.compile(r"LINE (\d+):")
_UNREADABLE = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""Raised for a value that Python has no room for (an interval of a million years)."""


class QueryResult(msgspec.Struct, frozen=True):
    """The answer to a query: `columns` and `types` by position, and the rows, streamed once."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


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
            _rows(cursor, sql, at, path),
        )
    except duckdb.Error as error:
        cursor.close()
        _refuse_store(error, path)
        raise explained(connection, error, sql, at) from error
    except BaseException:  # Ctrl-C above all: its transaction must not stay open
        cursor.close()
        raise


def _rows(
    cursor: duckdb.DuckDBPyConnection, sql: str, at: Location | None, path: Path | None
) -> Iterator[tuple[Any, ...]]:
    try:
        while fetched := heard(cursor.interrupt, lambda: cursor.fetchmany(FETCH_ROWS)):
            yield from fetched
    except duckdb.Error as error:
        _refuse_store(error, path)
        raise explained(cursor, error, sql, at) from error
    except _UNREADABLE as error:
        if str(error) == INTERRUPTED:
            raise
        raise QueryError(
            f"a value cannot be read ({error}); expected one that Python has room for",
            at=at,
            hint="have it as text: CAST(… AS VARCHAR)",
        ) from error
    finally:
        cursor.close()


def _refuse_store(error: duckdb.Error, path: Path | None) -> None:
    """Say so if it is not the statement that is at fault but the file it reads.

    What is no memory or no room may be the statement's own; a text of a trace is no reason.
    """
    if is_damaged(error, path):
        raise store_error(error, path) from error


def _check(connection: duckdb.DuckDBPyConnection, sql: str, at: Location | None) -> None:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise explained(connection, error, sql, at) from error
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
    connection: duckdb.DuckDBPyConnection, error: duckdb.Error, sql: str, at: Location | None
) -> QueryError:
    """Return DuckDB's error as ours: first line, place, and a hint with near names."""
    text = str(error)
    line = _LINE.search(text)
    place = at
    if line is not None:
        place = Location(at.path if at else "query", line=int(line[1]))
    first = text.split("\n", 1)[0].strip()
    return QueryError(first, at=place, hint=hint(connection, text, sql))
