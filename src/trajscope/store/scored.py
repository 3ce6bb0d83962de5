"""Rows of the table `scored`, collected by column: what Python scores on its way into the store.

One thing a newcomer would get wrong: findings are kept flat, with where the next score's begin. A
list of dictionaries per score would cost more than everything else of a score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from trajscope.model.score import Finding, Score
from trajscope.store.encoding import encode_json

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
_FINDING = pa.struct(
    [
        *((name, _TEXT) for name in ("rule", "message", "severity", "verdict", "trace_id")),
        *((name, _TEXTS) for name in ("span_ids", "steps")),
    ]
)
SCORED = pa.schema(
    {
        "scorer": _TEXT,
        "e": pa.int32(),
        "t": pa.int32(),
        "value": pa.float64(),
        "reason": _TEXT,
        "details": _TEXT,
        "findings": pa.list_(_FINDING),
    }
)
"""The Arrow form of the table `scored`."""


class FoundRow(NamedTuple):
    """A finding as the table `scored` holds it."""

    rule: str
    message: str
    severity: str
    verdict: str
    trace_id: str | None
    span_ids: tuple[str, ...]
    steps: tuple[str, ...]


def found_row(finding: Finding) -> FoundRow:
    """Return a finding as the table `scored` holds it."""
    return FoundRow._make(getattr(finding, name) for name in FoundRow._fields)


class ScoredRows:
    """Scores, each of a trace under an expectation by their numbers; e, t: those numbers."""

    def __init__(self) -> None:
        self._scores: list[tuple[Any, ...]] = []
        self._found: list[FoundRow] = []
        self._ends = [0]

    def __len__(self) -> int:
        return len(self._scores)

    def add(
        self,
        scorer: str,
        pair: tuple[int, int],
        value: float | None,
        reason: str,
        details: str | None,
        found: Iterable[FoundRow],
    ) -> None:
        """Append a score; pair: the numbers of its expectation and its trace."""
        self._scores.append((scorer, *pair, value, reason, details))
        self._found += found
        self._ends.append(len(self._found))

    def add_score(self, e: int, t: int, score: Score) -> None:
        """Append a score that the definition made."""
        details = None if score.details is None else encode_json(score.details).decode()
        found = map(found_row, score.findings)
        self.add(score.scorer, (e, t), score.value, score.reason, details, found)

    def to_arrow(self) -> pa.Table:
        """Return the rows as the table `scored` has them."""
        columns = _columns(self._scores, SCORED, len(SCORED) - 1)
        found = pa.StructArray.from_arrays(
            _columns(self._found, _FINDING, len(_FINDING)), fields=list(_FINDING)
        )
        ends = pa.array(self._ends, pa.int32())
        lists = pa.ListArray.from_arrays(ends, found)
        return pa.Table.from_arrays([*columns, lists], schema=SCORED)


def _columns(rows: list[Any], kinds: Any, width: int) -> list[pa.Array]:
    values = zip(*rows, strict=True) if rows else [()] * width
    return [pa.array(v, kinds.field(n).type) for n, v in enumerate(values)]
