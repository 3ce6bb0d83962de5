"""Runs the statements of `sql/queries` by name.

One thing a newcomer would get wrong: a result that is not fetched to its end blocks its connection,
so `rows` fetches everything. Large results are read in chunks by `reading_back`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import pyarrow as pa

from trajscope.store.sqltext import sql_text

Connection = duckdb.DuckDBPyConnection


def rows(
    connection: Connection, query: str, params: Mapping[str, object] | None = None
) -> list[tuple[Any, ...]]:
    """Return all rows of `sql/queries/<query>.sql`."""
    return connection.execute(sql_text(f"queries/{query}"), params).fetchall()


def run(connection: Connection, query: str, params: Mapping[str, object] | None = None) -> int:
    """Run `sql/queries/<query>.sql` for its effect, and return how many rows it changed."""
    changed = connection.execute(sql_text(f"queries/{query}"), params).fetchall()
    return int(changed[0][0]) if changed else 0


def run_with(
    connection: Connection,
    incoming: pa.Table | pa.RecordBatchReader,
    *queries: str,
    params: Mapping[str, object] | None = None,
) -> None:
    """Run statements that read the Arrow rows `incoming`.

    What is registered in a transaction is held until it commits, also if it is unregistered. So
    where the rows are read only once, they go in as a stream, which holds nothing once it is read.
    """
    if isinstance(incoming, pa.Table) and len(queries) == 1:
        rows_of = incoming.to_batches()
        incoming = pa.RecordBatchReader.from_batches(incoming.schema, _popped(rows_of))
    connection.register("incoming", incoming)
    try:
        for query in queries:
            run(connection, query, params)
    finally:
        # In a transaction that failed even this does; its own error must not hide the first one.
        with suppress(duckdb.Error):
            connection.unregister("incoming")


def _popped(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while batches:
        yield batches.pop(0)


def clear(connection: Connection, *tables: str) -> None:
    """Empty work tables; their names are ours, never a user's."""
    for table in tables:
        connection.execute(f"DELETE FROM {table}").fetchall()  # noqa: S608


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit what the block does, or undo all of it if anything is raised."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed has ended it; what failed is told
            connection.execute("ROLLBACK")
        with suppress(duckdb.Error):
            connection.unregister("incoming")
        raise
