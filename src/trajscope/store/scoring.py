"""Runs the set-based scorers: numbered traces and steps, the statements, and what came out.

One thing a newcomer would get wrong: nothing here knows a scorer. `pipeline.engine` says what is
asked and which statement of `sql/scorers` answers; results stay columns until they are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.store.encoding import decode_json
from trajscope.store.scored import ScoredRows
from trajscope.store.sqltext import sql_text
from trajscope.store.statements import transaction
from trajscope.store.temporary import TemporaryTables

_FETCH_ROWS = 2_000
PART_STEPS = 200_000
"""Steps that are held against expectations at a time where memory grows with their number."""

SETUP = (
    *("text_of", "finding", "within_budget", "budget_text", "budget_finding"),
    *("judged_traces", "judged_names"),
    *("asked", "asked_rules", "asked_names", "judged", "scored"),
)
"""The temporary macros and tables of one scoring, in the order they are made; the steps come later
(`scoring/number_steps`)."""


class JudgedTrace(NamedTuple):
    """A trace that is scored, by number; is_odd: it is left to the definition."""

    t: int
    trace_id: str
    is_odd: bool
    has_steps: bool


class Summary(NamedTuple):
    """Scores in all, those with a value, pairs of trace and expectation, and the perfect ones."""

    scores: int
    evaluated: int
    pairs: int
    perfect: int


class Range(NamedTuple):
    """Numbers of traces, both ends in it."""

    first: int
    last: int


class ScoringTables(TemporaryTables):
    """The tables of one scoring; close it when the scores are printed."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None = None) -> None:
        super().__init__(connection, path)
        for name in SETUP:
            self.run(f"scoring/setup/{name}")

    def choose(
        self, trace_ids: Sequence[str] | None
    ) -> tuple[list[JudgedTrace], list[tuple[Any, ...]]]:
        """Number the traces of these ids, or all.

        Returns them in the order of their first span, and the names of their steps as
        `scoring/read_names` does.
        """
        chosen = {"trace_ids": None if trace_ids is None else list(trace_ids)}
        _, names = self.run_beside({"scoring/choose_traces": chosen, "scoring/read_names": chosen})
        return [JudgedTrace(*row) for row in self.rows("scoring/read_traces")], names

    def fill(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append rows, given by column, to a table of this scoring."""
        self._with(pa.table({**columns}), f"INSERT INTO {table} BY NAME FROM incoming")

    def judge_some(self, expectations: Sequence[int], traces: Sequence[int]) -> None:
        """Hold traces against expectations, pair by pair, both by their numbers."""
        pairs = {"e": pa.array(expectations, pa.int32()), "t": pa.array(traces, pa.int32())}
        self._with(pa.table(pairs), sql_text("scoring/judge_some"))

    def parts(self) -> list[Range]:
        """Return ranges of the numbers of traces, each of about as much work (`PART_STEPS`)."""
        return [Range(*row) for row in self.rows("scoring/read_parts", {"size": PART_STEPS})]

    def add(self, scores: Sequence[tuple[int, int, Score]]) -> None:
        """Append scores that the definition made, each with its expectation and trace."""
        rows = ScoredRows()
        for e, t, score in scores:
            rows.add_score(e, t, score)
        self.add_rows(rows)

    def add_rows(self, rows: ScoredRows) -> None:
        """Append rows of the table `scored`."""
        self._with(rows.to_arrow(), sql_text("scoring/add_scored"))

    def summary(self, scorers: Sequence[str]) -> Summary:
        """Return how many scores of these scorers there are, and how many say what."""
        return Summary(*self.rows("scoring/summary", {"scorers": list(scorers)})[0])

    def scores(self, scorers: Mapping[str, str], *, everything: bool) -> Iterator[Score]:
        """Yield the scores of scorers (name to version) by trace; the perfect ones on demand."""
        params = {**_named(scorers), "everything": everything}
        for found in self.chunks("scoring/read_scored", params, _FETCH_ROWS):
            yield from map(_to_score, found)

    def save(self, scorers: Mapping[str, str]) -> None:
        """Keep the scores of scorers (name to version), each in place of the one before it."""
        names = {"scorers": list(scorers)}
        with self._explained(), transaction(self._cursor):
            for name in ("forget_scores", "forget_findings", "save_findings"):
                self._cursor.execute(sql_text(f"scoring/{name}"), names).fetchall()
            self._cursor.execute(sql_text("scoring/save_scores"), _named(scorers)).fetchall()


def _named(scorers: Mapping[str, str]) -> dict[str, list[str]]:
    return {"scorers": list(scorers), "versions": list(scorers.values())}


def _to_score(row: Sequence[Any]) -> Score:
    scorer, value, reason, trace_id, expectation, details, findings, content_hash, version = row
    known = {"expectation_hash": content_hash, "scorer_version": version}
    return Score(
        scorer=scorer,
        value=value,
        reason=reason,
        trace_id=trace_id,
        expectation=expectation,
        details=None if details is None else decode_json(details),
        findings=tuple(map(_to_finding, findings)),
        **{name: value for name, value in known.items() if value is not None},
    )


def _to_finding(found: Mapping[str, Any]) -> Finding:
    return Finding(
        rule=found["rule"],
        message=found["message"],
        severity=Severity(found["severity"]),
        verdict=Verdict(found["verdict"]),
        trace_id=found["trace_id"],
        span_ids=tuple(found["span_ids"]),
        steps=tuple(found["steps"]),
    )
