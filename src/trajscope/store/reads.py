"""What a store is asked for set-wise, beside its spans: rows of trajectories, facts, audit tables.

One thing a newcomer would get wrong: nothing here touches spans and readings but for the facts that
only they know, so it stays cheap on a store of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb

from trajscope.assemble import totals_of
from trajscope.model.figures import TraceFigures
from trajscope.model.span import Json, LogRecord
from trajscope.model.step_row import TrajectoryRow
from trajscope.store.auditing import AuditTables
from trajscope.store.encoding import decode_json
from trajscope.store.logs import iter_logs
from trajscope.store.scoring import ScoringTables
from trajscope.store.statements import rows
from trajscope.store.stored_rows import iter_rows


class Reads:
    """The part of `Store` that reads rows; it is never used by itself."""

    _connection: duckdb.DuckDBPyConnection
    path: Path | None

    def _explained(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def iter_rows(self, trace_ids: Sequence[str] | None = None) -> Iterator[TrajectoryRow]:
        """Yield every trajectory once (or those listed) as its stored rows, bounded in memory.

        Cheaper than `iter_traces`: spans and their readings are not touched.
        """
        with self._explained():
            yield from iter_rows(self._connection, trace_ids)

    def count(self) -> tuple[int, int]:
        """Return how many spans and traces the store holds."""
        with self._explained():
            [(spans, traces)] = rows(self._connection, "count_spans")
        return spans, traces

    def iter_logs(self, trace_ids: Sequence[str] | None = None) -> Iterator[LogRecord]:
        """Yield all log records, or those that name one of some traces, in the order they came.

        Spans of `iter_traces` have them as events already.
        """
        with self._explained():
            yield from iter_logs(self._connection, trace_ids)

    def log_count(self, trace_ids: Sequence[str] | None = None) -> int:
        """Return how many log records the store holds of some traces, or of all and of none."""
        listed = None if trace_ids is None else list(trace_ids)
        with self._explained():
            return int(rows(self._connection, "count_logs", {"trace_ids": listed})[0][0])

    def audit_tables(self) -> AuditTables:
        """Return the tables an audit works with; close them when it is over."""
        return AuditTables(self._connection, self.path)

    def scoring_tables(self) -> ScoringTables:
        """Return the tables the set-based scorers work with; close them when scores are printed."""
        return ScoringTables(self._connection, self.path)

    def trace_facts(
        self, trace_ids: Sequence[str] | None = None, *, services: bool = False
    ) -> list[tuple[Any, ...]]:
        """Return what selectors ask of some traces, or of all, in order of their start.

        A row: trace id, session id, agents, root names, services (empty if not asked for), and the
        start in nanoseconds.
        """
        listed = None if trace_ids is None else list(trace_ids)
        with self._explained():
            return rows(self._connection, "read_facts", {"trace_ids": listed, "services": services})

    def trace_figures(self, trace_ids: Sequence[str] | None = None) -> list[TraceFigures]:
        """Return some traces, or all, in figures, in the order of their first span.

        Of times that no column can hold the nearest that one can (`spans.beyond` has the others).
        """
        listed = None if trace_ids is None else list(trace_ids)
        with self._explained():
            found = rows(self._connection, "list_traces", {"trace_ids": listed})
        return [_to_figures(row) for row in found]

    def attribute_values(self, key: str) -> dict[str, list[Json]]:
        """Return the values an attribute has on the spans of each trace, resources included."""
        found: dict[str, list[Json]] = {}
        path = '$."' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
        with self._explained():
            for trace_id, value in rows(self._connection, "read_attribute", {"path": path}):
                found.setdefault(trace_id, []).append(decode_json(value))
        return found


def _to_figures(row: Sequence[Any]) -> TraceFigures:
    return TraceFigures(
        trace_id=row[0],
        session_id=row[1],
        start_ns=row[2],
        duration_ms=None if row[3] is None else row[3] / 1_000_000,
        roots=row[4],
        orphans=row[5],
        missing_parents=tuple(row[6]),
        agents=tuple(row[7]),
        spans=row[8],
        noise_spans=row[9],
        model_calls=row[10],
        tokens=totals_of(row[11], row[12], row[13], complete=row[14]),
        steps=row[15],
        tool_calls=row[16],
        failed_tool_calls=row[17],
    )
