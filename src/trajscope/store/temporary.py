"""Tables of one run over a store, in a database of their own in memory, gone when it is closed.

One thing a newcomer would get wrong: they are not in the store, and no TEMP tables either. So a
store opened for reading only can be scored and audited too, several runs over one store do not
meet, and statements of one run can still run beside each other, which TEMP tables would not allow:
every cursor has its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from trajscope.store.faults import as_store_errors
from trajscope.store.hearing import heard
from trajscope.store.sqltext import sql_text

_BESIDE = 2
"""Statements that run beside each other: most of them keep one core busy, and each needs memory."""


class TemporaryTables:
    """Runs statements over tables that only it sees; close it when the run is over.

    folder: where its statements are in `sql/`. path: of the store, for messages. Every method
    raises StoreError if one fails.
    """

    folder = ""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None = None) -> None:
        self._connection = connection
        self._path = path
        # No number: the database of a store is called as its file is, which may have that number.
        self._database = f"trajscope_run_{uuid.uuid4().hex}"
        with self._explained():
            [[store]] = connection.execute("SELECT current_database()").fetchall()
            connection.execute(f"ATTACH ':memory:' AS {self._database} (READ_WRITE)")
        self._search_path = f"{self._database}.main,{_quoted(store)}.main"
        self._cursor = self._opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the tables."""
        self._cursor.close()
        with suppress(duckdb.Error):  # the store may be closed already
            self._connection.execute(f"DETACH {self._database}")

    def run(self, statement: str, params: Mapping[str, object] | None = None) -> None:
        """Run a statement for its effect."""
        self.rows(statement, params)

    def run_beside(
        self, statements: Mapping[str, Mapping[str, object]]
    ) -> list[list[tuple[Any, ...]]]:
        """Run statements, given with their parameters, of which none needs another.

        Returns the rows of each. The one that takes longest should come first.
        """
        cursors = [self._opened() for _ in statements]

        def rows(cursor: duckdb.DuckDBPyConnection, statement: str) -> list[tuple[Any, ...]]:
            return cursor.execute(self._text(statement), statements[statement]).fetchall()

        def work() -> list[list[tuple[Any, ...]]]:
            with ThreadPoolExecutor(_BESIDE) as pool:
                running = [pool.submit(rows, *one) for one in zip(cursors, statements, strict=True)]
                return [one.result() for one in running]  # not `map`: it cancels after a failure

        def interrupt() -> None:
            for cursor in cursors:
                cursor.interrupt()

        try:
            with self._explained():
                return heard(interrupt, work)
        finally:
            for cursor in cursors:
                cursor.close()

    def rows(
        self, statement: str, params: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with self._explained():
            return self._cursor.execute(self._text(statement), params).fetchall()

    def chunks(
        self, statement: str, params: Mapping[str, object] | None, size: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement, so many at a time."""
        with self._explained():
            result = self._cursor.execute(self._text(statement), params)
            while rows := result.fetchmany(size):
                yield rows

    def columns(
        self, statement: str, params: Mapping[str, object] | None = None
    ) -> dict[str, list[Any]]:
        """Return all rows of a statement by column: the faster way to read many."""
        with self._explained():
            found = self._cursor.sql(self._text(statement), params=params).to_arrow_table()
        return {name: found[name].to_pylist() for name in found.column_names}

    def _opened(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor that finds the tables of this run, and those of the store."""
        cursor = self._connection.cursor()
        with self._explained():
            cursor.execute(f"SET search_path = '{self._search_path.replace(chr(39), chr(39) * 2)}'")
        return cursor

    def _text(self, statement: str) -> str:
        return sql_text(f"{self.folder}{statement}")

    def _with(
        self, incoming: pa.Table, sql: str, params: Mapping[str, object] | None = None
    ) -> None:
        """Run SQL that reads the Arrow rows `incoming`."""
        with self._explained():
            self._cursor.register("incoming", incoming)
            try:
                self._cursor.execute(sql, params).fetchall()
            finally:
                # After a failure even this may fail; its own error must not hide the first one.
                with suppress(duckdb.Error):
                    self._cursor.unregister("incoming")

    def _explained(self) -> AbstractContextManager[None]:
        return as_store_errors(self._path)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
