"""The spans of a store as Parquet files, a folder a day, for DuckDB, Spark and whoever comes later.

One thing a newcomer would get wrong: the day is that of the *trace*. A trace that runs over
midnight lies in one file, so whoever reads file by file sees whole traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from trajscope.store.logs import events_of_traces, has_events, more_events
from trajscope.store.shape import SCHEMA_VERSION, program_version
from trajscope.store.sqltext import sql_text
from trajscope.store.statements import Connection

ROW_GROUP_ROWS = 20_000
"""Spans of one row group, which a writer holds: about 15 MB."""


class ParquetFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: how many spans of how many traces, in which files below the folder."""

    spans: int
    traces: int
    files: tuple[str, ...]


def write_parquet(
    connection: Connection, folder: Path, trace_ids: Sequence[str] | None = None
) -> ParquetFiles:
    """Write the spans of some traces, or of all, below `folder`: a file for each day and capture.

    Log records go out as events of their spans; those that have none here do not.
    They are called `day=2026-03-03/spans-00001.parquet`. Within one they are sorted by trace id, so
    whoever streams it has one trace after the other.

    Raises:
        OSError: a file cannot be written.
    """
    spans = traces = 0
    files = []
    for name, tables in groupby(_files(connection, trace_ids), key=lambda pair: pair[0]):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        files.append(name)
        last: str | None = None
        with ExitStack() as stack:
            writer: pq.ParquetWriter | None = None
            for _, table in tables:
                if writer is None:
                    writer = stack.enter_context(_writer(file, table.schema))
                writer.write_table(table)
                spans += table.num_rows
                begun, last = _traces(table, last)
                traces += begun
    return ParquetFiles(spans=spans, traces=traces, files=tuple(files))


def _writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(file, schema, compression="zstd", version="2.6")


def _traces(table: pa.Table, last: str | None) -> tuple[int, str | None]:
    """Return how many traces begin in a table of sorted spans, and the one it ends with."""
    ids = table.column("trace_id").unique().to_pylist()
    return len(ids) - (bool(ids) and ids[0] == last), ids[-1] if ids else last


def _files(
    connection: Connection, trace_ids: Sequence[str] | None
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the spans in order as tables of `ROW_GROUP_ROWS` rows and of one file each."""
    params = {"trace_ids": None if trace_ids is None else list(trace_ids)}
    # Of its own: what is not fetched to its end blocks its connection.
    beside = connection.cursor() if has_events(connection) else None
    reader = connection.sql(sql_text("queries/export_spans"), params=params).to_arrow_reader()
    held: list[pa.RecordBatch] = []
    for batch in reader:
        held.append(batch)
        if sum(b.num_rows for b in held) >= ROW_GROUP_ROWS:
            yield from _by_file(held, beside)
            held = []
    yield from _by_file(held, beside)


def _by_file(
    batches: list[pa.RecordBatch], beside: Connection | None
) -> Iterator[tuple[str, pa.Table]]:
    if not batches:
        return
    table = _plain(pa.Table.from_batches(batches))
    if beside is not None:
        table = _with_logs(table, beside)
    names = table.column("file").to_pylist()
    spans = table.drop_columns(["file"])
    at = 0
    for name, same in groupby(names):
        count = sum(1 for _ in same)
        yield name, spans.slice(at, count)
        at += count


def _with_logs(table: pa.Table, connection: Connection) -> pa.Table:
    """The spans with the log records about them as events: a file says all that is known."""
    found = events_of_traces(connection, table.column("trace_id").unique().to_pylist())
    if not found:
        return table
    columns = (table.column(name).to_pylist() for name in ("trace_id", "span_id", "events"))
    texts = [
        text if (more := found.get((trace_id, span_id))) is None else more_events(text, more)
        for trace_id, span_id, text in zip(*columns, strict=True)
    ]
    at = table.column_names.index("events")
    return table.set_column(at, table.schema.field(at), pa.array(texts, pa.string()))


def _plain(table: pa.Table) -> pa.Table:
    """JSON as text and not as an extension type; with who wrote it in the file's metadata."""
    columns = [
        column.cast(pa.string()) if isinstance(column.type, pa.BaseExtensionType) else column
        for column in table.columns
    ]
    names = table.column_names
    fields = [pa.field(name, c.type) for name, c in zip(names, columns, strict=True)]
    told = {
        "trajscope.version": program_version(),
        "trajscope.schema_version": str(SCHEMA_VERSION),
    }
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=told))
