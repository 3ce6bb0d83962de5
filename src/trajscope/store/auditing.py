"""The store's side of an audit: numbered steps, lines and matches, in tables of one connection.

One thing a newcomer would get wrong: nothing here knows a rule. `pipeline.auditing` says which
statement of `sql/audit` runs with which parameters; here is only where they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import duckdb
import pyarrow as pa

from trajscope.errors import StoreError
from trajscope.model.step_row import StepRow
from trajscope.store.sqltext import sql_text
from trajscope.store.stored_rows import to_step_row

_FETCH_ROWS = 5_000

_TYPES = {"matcher_no": pa.int32(), "combo_no": pa.int32(), "n": pa.int64(), "sure": pa.bool_()}
_TYPES |= {"kind_no": pa.int32(), "tool_no": pa.int32(), "next_no": pa.int32()}


class AuditTables:
    """Runs the statements of `sql/audit`; close it when the audit is over.

    The tables are temporary and belong to a cursor of their own: a store opened for reading only
    can be audited, and several audits of one store do not meet.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._cursor = connection.cursor()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the tables."""
        self._cursor.close()

    def run(self, statement: str, params: Mapping[str, object] | None = None) -> None:
        """Run `sql/audit/<statement>.sql` for its effect.

        Raises:
            StoreError: it fails.
        """
        self.rows(statement, params)

    def rows(
        self, statement: str, params: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """Return all rows of `sql/audit/<statement>.sql`.

        Raises:
            StoreError: it fails.
        """
        try:
            return self._cursor.execute(sql_text(f"audit/{statement}"), params).fetchall()
        except duckdb.Error as error:
            raise _failed(statement, error) from error

    def steps(
        self, statement: str, params: Mapping[str, object] | None = None
    ) -> Iterator[tuple[int, StepRow]]:
        """Yield the numbers and the steps that a statement returns.

        Raises:
            StoreError: it fails.
        """
        try:
            result = self._cursor.execute(sql_text(f"audit/{statement}"), params)
            while rows := result.fetchmany(_FETCH_ROWS):
                for row in rows:
                    yield row[0], to_step_row(row[1:])
        except duckdb.Error as error:
            raise _failed(statement, error) from error

    def fill(
        self,
        statement: str,
        columns: Mapping[str, Sequence[object]],
        params: Mapping[str, object] | None = None,
    ) -> None:
        """Run a statement that reads the rows `incoming`, given by column.

        Raises:
            StoreError: it fails.
        """
        table = pa.table({name: pa.array(v, _TYPES[name]) for name, v in columns.items()})
        self._cursor.register("incoming", table)
        try:
            self.run(statement, params)
        finally:
            self._cursor.unregister("incoming")


def _failed(statement: str, error: duckdb.Error) -> StoreError:
    first = str(error).split("\n", 1)[0].strip()
    return StoreError(f"sql/audit/{statement}.sql: {first}")
