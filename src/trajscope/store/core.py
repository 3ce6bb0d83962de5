"""The store: one DuckDB file, or one in memory. The only door to it for the rest of the package.

One thing a newcomer would get wrong: spans are the authority. Trajectories, steps and repairs are
derived at ingest; scores and findings go when their trace changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow as pa

from trajscope.errors import Location, SpanError
from trajscope.model.repair import Repair
from trajscope.model.score import Finding, Score
from trajscope.store import exports, results, trim
from trajscope.store.captures import StoredCapture, read_captures
from trajscope.store.columns import Record
from trajscope.store.connection import connect
from trajscope.store.derive import Derived, derive
from trajscope.store.faults import as_store_errors
from trajscope.store.hints import Relation, describe
from trajscope.store.holding import Patience
from trajscope.store.ingest import CaptureInfo, IngestReport, ingest
from trajscope.store.joining import Read
from trajscope.store.logs import LogRow, capture_batches
from trajscope.store.parquet_out import ParquetFiles, write_parquet
from trajscope.store.query import Params, QueryResult, query
from trajscope.store.reading_back import Trace, iter_traces
from trajscope.store.reads import Reads
from trajscope.store.statements import rows, transaction

MEMORY_LIMIT = "300MB"
"""What DuckDB may hold before it spills to disk; with Python and Arrow around it under 700 MB."""
MEMORY_LIMIT_VARIABLE = "TRAJSCOPE_MEMORY_LIMIT"
"""The environment variable that sets another limit, for every command and worker."""


class Store(Reads):
    """Captures, spans, and everything derived from them, in one DuckDB file.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        read_only: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
        create: bool = True,
        patience: Patience | None = None,
    ) -> Self:
        """Open the store at `path`, creating it if it is not there; in memory when None.

        memory_limit: of DuckDB, as it writes it ("350MB"), beyond which it spills to a folder
        beside the file; default MEMORY_LIMIT_VARIABLE, else MEMORY_LIMIT. threads: of DuckDB;
        default all cores. create: False refuses a store that is not there. patience: what to do
        while another process holds it; default what `patient` says.

        Raises:
            UsageError: the limit is no size.
            StoreError: it cannot be opened, is held by another process, or is no store.
            SchemaVersionError: another version of trajscope wrote it.
        """
        place = None if path is None else Path(path)
        connection = connect(
            place,
            read_only=read_only,
            memory_limit=memory_limit or os.environ.get(MEMORY_LIMIT_VARIABLE) or MEMORY_LIMIT,
            threads=threads,
            create=create,
            patience=patience,
        )
        return cls(connection, place)

    def close(self) -> None:
        """Close the file; the store cannot be used any more."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def ingest(
        self,
        capture: CaptureInfo | Callable[[], CaptureInfo],
        records: Iterable[Record | LogRow],
        read: Read | None = None,
    ) -> IngestReport:
        """Take one capture in, in one transaction: merge repeats, derive the traces it touches.

        `records` is pulled once, streaming, and must not use this store. `capture` may be a
        function, called after the last record: hash and problems are known only then. `read` reads
        spans again that log records speak of; without it they keep the readings they come with.

        Raises:
            StoreError: it cannot be written. Whatever `records` raises comes out as itself. In both
                cases the store is as it was.
        """
        return self.ingest_batches(capture, capture_batches(records), read)

    def ingest_batches(
        self,
        capture: CaptureInfo | Callable[[], CaptureInfo],
        stream: Iterable[pa.RecordBatch],
        read: Read | None = None,
    ) -> IngestReport:
        """Take one capture in as Arrow batches of `capture_batches`, made by any process."""
        with self._explained():
            return ingest(self._connection, capture, stream, read)

    def derive(self) -> Derived:
        """Derive trajectories, steps and repairs of every trace afresh, in one transaction.

        Scores and findings go with them.
        """
        with self._explained(), transaction(self._connection):
            return derive(self._connection, "touch_all", {})

    def prune(
        self,
        before_ns: int,
        *,
        keep_scores: bool = False,
        dry_run: bool = False,
        read: Read | None = None,
    ) -> trim.Pruned:
        """Remove the traces whose last span started before a time, with everything derived.

        before_ns: nanoseconds since the epoch. keep_scores: leave scores and findings as a record.
        dry_run: only say what would go. read: see `ingest`.
        """
        with self._explained():
            return trim.prune(
                self._connection, before_ns, keep_scores=keep_scores, dry_run=dry_run, read=read
            )

    def write_parquet(self, folder: Path, trace_ids: Sequence[str] | None = None) -> ParquetFiles:
        """Write the spans of some traces, or of all, as Parquet below a folder that is there.

        Raises:
            OSError: a file cannot be written.
        """
        with self._explained():
            return write_parquet(self._connection, folder, trace_ids)

    def captures(self) -> list[StoredCapture]:
        """Return the captures in the order they were ingested."""
        with self._explained():
            return read_captures(self._connection)

    def trace_ids(
        self,
        trace_ids: Sequence[str] | None = None,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        service: str | None = None,
        root_name: str | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        most: int | None = None,
    ) -> list[str]:
        """Return trace ids in the order of their first span; every argument given must hold.

        since_ns, until_ns: the first span started in [since, until), nanoseconds since the epoch.
        """
        params = {
            "trace_ids": None if trace_ids is None else list(trace_ids),
            "session_id": session_id,
            "agent": agent,
            "service": service,
            "root_name": root_name,
            "since_ns": since_ns,
            "until_ns": until_ns,
            "most": most,
        }
        with self._explained():
            return [row[0] for row in rows(self._connection, "trace_ids", params)]

    def iter_traces(self, trace_ids: Sequence[str] | None = None) -> Iterator[Trace]:
        """Yield every trace once (or those listed) with its spans and readings, bounded in memory.

        Traces come in the order of their first span; ids that are not stored are passed over.
        """
        with self._explained():
            yield from iter_traces(self._connection, trace_ids)

    def contexts(self, trace_ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return, for traces that need them, the later traces whose messages answer their calls."""
        params = {"trace_ids": None if trace_ids is None else list(trace_ids)}
        with self._explained():
            return dict(rows(self._connection, "read_contexts", params))

    def spans_of(self, trace_id: str) -> list[Record]:
        """Return the spans of one trace with their readings, exactly as they went in.

        Raises:
            SpanError: the store holds no such trace.
        """
        for _, records in self.iter_traces([trace_id]):
            return records
        raise SpanError(
            f"no trace {trace_id!r} in the store", at=self._at, hint="list them: trajscope list"
        )

    def repairs(self, trace_ids: Sequence[str] | None = None) -> list[Repair]:
        """Return what was assumed or changed to place the spans of some traces, or of all."""
        params = {"trace_ids": None if trace_ids is None else list(trace_ids)}
        with self._explained():
            return [Repair(*row) for row in rows(self._connection, "read_repairs", params)]

    def save_scores(self, scores: Iterable[Score]) -> None:
        """Write scores with their findings, each in place of its forerunner."""
        with self._explained():
            results.save_scores(self._connection, list(scores))

    def save_findings(self, findings: Iterable[Finding]) -> None:
        """Write findings of rules in place of what the same rules found in the same traces."""
        with self._explained():
            results.save_findings(self._connection, list(findings))

    def save_audit(
        self,
        rules: Sequence[str],
        findings: Iterable[Finding],
        trace_ids: Sequence[str] | None = None,
    ) -> None:
        """Write what rules found in some traces, or in all, in place of what they found before."""
        with self._explained():
            results.save_audit(self._connection, rules, list(findings), trace_ids)

    def scores(self, trace_ids: Sequence[str] | None = None) -> list[Score]:
        """Return the scores of some traces, or of all, with their findings."""
        with self._explained():
            return results.read_scores(self._connection, trace_ids)

    def findings(self, trace_ids: Sequence[str] | None = None) -> list[Finding]:
        """Return the findings about some traces, or about all."""
        with self._explained():
            return results.read_findings(self._connection, trace_ids)

    def to_tell(self, trace_ids: Sequence[str] | None) -> list[exports.ToTell]:
        """Return what a backend is told of some traces; None: what is of no single trace."""
        with self._explained():
            return exports.read_to_tell(self._connection, trace_ids)

    def known_exports(self, target: str, keys: Sequence[str]) -> set[str]:
        """Return which of the keys a backend has confirmed."""
        with self._explained():
            return exports.known_exports(self._connection, target, keys)

    def save_exports(self, target: str, keys: Sequence[str]) -> None:
        """Note what a backend has confirmed, at once: it must not be sent again."""
        with self._explained():
            exports.save_exports(self._connection, target, keys)

    def query(self, sql: str, *, params: Params = None, name: str | None = None) -> QueryResult:
        """Run one reading statement of a user; no file can be reached and nothing changed by it.

        name: the file the statement comes from, for messages.

        Raises:
            QueryError: it is not one reading statement, or it fails; with a hint.
        """
        return query(self._connection, sql, params, name=name, path=self.path)

    def schema(self) -> list[Relation]:
        """Return tables and views with their columns and what they mean."""
        with self._explained():
            return describe(self._connection)

    @property
    def _at(self) -> Location:
        return Location(None if self.path is None else str(self.path))

    def _explained(self) -> AbstractContextManager[None]:
        return as_store_errors(self.path)
