"""Tables of one run over a store: temporary, of a cursor of their own, gone when it is closed.

One thing a newcomer would get wrong: they are not in the store. So a store opened for reading only
can be scored and audited too, and several runs over one store do not meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from trajscope.store.faults import as_store_errors
from trajscope.store.sqltext import sql_text


class TemporaryTables:
    """Runs statements over tables that only it sees; close it when the run is over.

    folder: where its statements are in `sql/`. path: of the store, for messages. Every method
    raises StoreError if one fails.
    """

    folder = ""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None = None) -> None:
        self._cursor = connection.cursor()
        self._path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the tables."""
        self._cursor.close()

    def run(self, statement: str, params: Mapping[str, object] | None = None) -> None:
        """Run a statement for its effect."""
        self.rows(statement, params)

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
