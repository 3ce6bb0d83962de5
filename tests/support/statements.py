"""SQL statements for tests: prepared as the store would, without being run."""

from __future__ import annotations

import duckdb
import pyarrow as pa


def prepare(
    database: duckdb.DuckDBPyConnection, text: str, incoming: pa.Table | None = None
) -> None:
    """Prepare one statement; incoming: the Arrow rows it reads by that name."""
    if incoming is not None:
        database.register("incoming", incoming)
    (statement,) = database.extract_statements(text)
    if "CREATE OR REPLACE TABLE" in text:  # cannot be prepared, and takes no parameters
        database.execute(f"EXPLAIN {statement.query}")
    else:
        database.execute(f"PREPARE checked AS {statement.query}")
        database.execute("DEALLOCATE checked")
    database.unregister("incoming")
