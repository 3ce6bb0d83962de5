"""Takes one capture in: spans appended as a stream, repeats merged, touched traces derived.

One thing a newcomer would get wrong: the records are pulled by DuckDB while it inserts, on a thread
of its own, so reading a file and writing the store overlap. They must not use the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import duckdb
import msgspec
import pyarrow as pa

from trajscope.errors import Problem
from trajscope.store.columns import SPAN_SCHEMA
from trajscope.store.derive import derive
from trajscope.store.encoding import encode_json
from trajscope.store.joining import Read, join_capture, merge_logs, note_past
from trajscope.store.logs import LOG_SCHEMA
from trajscope.store.reading_back import to_record
from trajscope.store.statements import Connection, clear, rows, run, run_with, transaction
from trajscope.tree import version_rank


class CaptureInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a capture besides its spans.

    id: hash of the content; the same content is kept once. name: the path as the user gave it.
    skipped: records that are no spans, by kind. problems: the first of the `problem_count` things
    that could not be read. dropped_attributes: patterns of attributes that were left out.
    """

    id: str
    name: str
    format: str
    skipped: dict[str, int] = {}
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    dropped_attributes: tuple[str, ...] = ()


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one ingest did.

    spans: spans read. added: spans the store did not hold. replaced: spans it held in a less
    finished version. duplicates: spans that were repeats, within the capture or of the store.
    traces: traces that changed, of which `resolved` went through Python. known: the same content
    was ingested before. logs: log records read.
    """

    capture_no: int
    spans: int
    added: int
    replaced: int
    duplicates: int
    traces: int
    resolved: int
    known: bool
    logs: int = 0


def ingest(
    connection: Connection,
    capture: CaptureInfo | Callable[[], CaptureInfo],
    stream: Iterable[pa.RecordBatch],
    read: Read | None = None,
) -> IngestReport:
    """Write one capture in one transaction; whatever is raised, the store is as it was.

    `capture` may be a function, called when the last record was read: only then are the hash of
    a stream and the problems in it known.
    """
    with transaction(connection):
        return _ingest(connection, capture, stream, read)


def _ingest(
    connection: Connection,
    capture: CaptureInfo | Callable[[], CaptureInfo],
    stream: Iterable[pa.RecordBatch],
    read: Read | None,
) -> IngestReport:
    number = rows(connection, "next_capture_no")[0][0]
    spans, logs = _append(connection, number, stream)
    info = capture() if callable(capture) else capture
    duplicates, replaced = merge(connection, number)
    if logs:
        merge_logs(connection, number)
    joined = join_capture(connection, number, read)
    derived = derive(connection, "touch_capture", {"capture_no": number}, joined=joined)
    before = rows(connection, "capture_by_id", {"capture_id": info.id})
    if before:
        for query in ("move_spans", "move_logs") if logs else ("move_spans",):
            run(connection, query, {"capture_no": number, "to": before[0][0]})
    report = IngestReport(
        capture_no=before[0][0] if before else number,
        spans=spans,
        added=spans - duplicates,
        replaced=replaced,
        duplicates=duplicates,
        traces=derived.traces,
        resolved=derived.resolved,
        known=bool(before),
        logs=logs,
    )
    if not before:
        _save_capture(connection, info, report)
    return report


def _append(
    connection: Connection, number: int, stream: Iterable[pa.RecordBatch]
) -> tuple[int, int]:
    """Stream the batches into `spans`, those of log records into theirs; return the rows of each.

    An error of the reading side comes out as itself.
    """
    batches = iter(stream)
    failed: list[BaseException] = []
    waiting: list[pa.RecordBatch] = []
    spans = logs = 0

    def watched() -> Iterator[pa.RecordBatch]:
        """Yield spans up to the next log records: while DuckDB pulls, it can write no others."""
        nonlocal spans
        try:
            for batch in batches:
                if batch.schema is LOG_SCHEMA or batch.schema.equals(LOG_SCHEMA):
                    waiting.append(batch)
                    return
                spans += batch.num_rows
                yield batch
        except BaseException as error:
            failed.append(error)
            raise

    params = {"capture_no": number}
    while True:
        reader = pa.RecordBatchReader.from_batches(SPAN_SCHEMA, watched())
        try:
            run_with(connection, reader, "insert_spans", params=params)
        except duckdb.Error:
            if failed:
                raise failed[0] from None
            raise
        if not waiting:
            return spans, logs
        table = pa.Table.from_batches([waiting.pop()])
        logs += table.num_rows
        run_with(connection, table, "insert_logs", params=params)


def merge(connection: Connection, number: int) -> tuple[int, int]:
    """Keep one record of every span; return how many went, and how many of those were older."""
    clear(connection, "versions", "losers")
    if not run(connection, "merge_find", {"capture_no": number}):
        return 0, 0
    run(connection, "merge_rank")
    _rank_ties(connection)
    [(gone, replaced)] = rows(connection, "merge_count", {"capture_no": number})
    if gone:
        run(connection, "merge_repairs")
        note_past(connection, number)
        run(connection, "merge_delete")
    return gone, replaced


def _rank_ties(connection: Connection) -> None:
    """Rank records that only differ in content by `tree.version_rank`, as a trace in memory is."""
    tied = rows(connection, "merge_ties")
    if not tied:
        return
    numbers = [row for row, _, _ in tied]
    read = rows(connection, "read_rows", {"rows": numbers})
    spans = {row[0]: to_record(row[1:])[0] for row in read}
    best: dict[tuple[str, str], int] = {}
    for row, trace_id, span_id in tied:
        other = best.setdefault((trace_id, span_id), row)
        if version_rank(spans[row]) > version_rank(spans[other]):
            best[trace_id, span_id] = row
    run(connection, "merge_forget", {"rows": numbers})
    run(connection, "merge_lose", {"rows": sorted(set(numbers) - set(best.values()))})


def _save_capture(connection: Connection, info: CaptureInfo, report: IngestReport) -> None:
    problems = [problem.to_json() for problem in info.problems]
    run(
        connection,
        "insert_capture",
        {
            "capture_no": report.capture_no,
            "capture_id": info.id,
            "name": info.name,
            "format": info.format,
            "span_count": report.spans,
            "log_count": report.logs,
            "added_count": report.added,
            "duplicate_count": report.duplicates,
            "skipped": encode_json(info.skipped).decode(),
            "problem_count": max(info.problem_count, len(problems)),
            "problems": encode_json(problems).decode(),
            "dropped_attributes": list(info.dropped_attributes),
        },
    )
