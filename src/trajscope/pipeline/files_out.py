"""A store into files: spans as Parquet, scores and findings as CSV. All files are there, or none.

One thing a newcomer would get wrong: a CSV is opened in a spreadsheet, and a spreadsheet runs text
that begins with "=". What a trace says is hostile text, so such cells get a quote in front.
"""

from __future__ import annotations

import csv
import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from trajscope.errors import Location, SpanError, StoreError, UsageError
from trajscope.store import ParquetFiles, Store, sql_text

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TABLES = {"scores": "queries/csv_scores", "findings": "queries/csv_findings"}
_RUNS_IN_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def export_parquet(
    store: Store, folder: Path, trace_ids: Sequence[str] | None = None
) -> ParquetFiles:
    """Write the spans of some traces, or of all, as Parquet: one folder a day, sorted by trace id.

    `trajscope ingest` reads it back as it was, readings and all.

    Raises:
        UsageError: `folder` holds something.
        SpanError: the store holds no trace of an id.
        StoreError: it cannot be written; nothing is left of it then.
    """
    _refuse_unknown(store, trace_ids)
    with _all_or_nothing(folder) as fresh:
        return store.write_parquet(fresh, trace_ids)


def export_csv(
    store: Store, folder: Path, trace_ids: Sequence[str] | None = None
) -> dict[str, int]:
    """Write scores.csv and findings.csv, and return their rows; raises as `export_parquet`."""
    _refuse_unknown(store, trace_ids)
    params = {"trace_ids": None if trace_ids is None else list(trace_ids)}
    counts: dict[str, int] = {}
    with _all_or_nothing(folder) as fresh:
        for name, query in _TABLES.items():
            found = store.query(sql_text(query), params=params)
            with (fresh / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(found.columns)
                counts[name] = 0
                for row in found.rows:
                    writer.writerow(map(cell, row))
                    counts[name] += 1
    return counts


def cell(value: Any) -> Any:
    """Return a value as a cell: text that a spreadsheet would run as a formula gets a quote.

    >>> cell("=1+1"), cell("search"), cell(-1.5), cell(None)
    ("'=1+1", 'search', -1.5, '')
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_RUNS_IN_SPREADSHEETS):
        return f"'{value}"
    return value


def _refuse_unknown(store: Store, trace_ids: Sequence[str] | None) -> None:
    known = set() if trace_ids is None else set(store.trace_ids(trace_ids))
    for trace_id in trace_ids or ():
        if trace_id not in known:
            raise SpanError(
                f"no trace {trace_id!r} in the store", hint="trajscope list shows the ids"
            )


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder beside `folder` that takes its name when all is written."""
    at = Location(str(folder))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError("holds something already; expected a new or an empty folder", at=at)
    fresh = folder.absolute().with_name(f".{folder.absolute().name}.{uuid4().hex[:8]}.part")
    try:
        fresh.mkdir(parents=True)
        yield fresh
        if folder.exists():
            folder.rmdir()
        fresh.rename(folder.absolute())
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(
            f"cannot be written ({why}); expected a folder to be made; nothing is left of it",
            at=at,
            hint="make room on the disk or choose another --out"
            if error.errno in _NO_ROOM
            else "choose another --out, in a folder where you may write",
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
