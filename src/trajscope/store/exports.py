"""What a store has to tell a backend, and what a backend has confirmed.

One thing a newcomer would get wrong: a confirmation belongs to what was *said*, not to a row. A
score that is made again and says the same has been told; one that says something else has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajscope.model.score import Finding, Score
from trajscope.store.results import to_finding, to_score
from trajscope.store.statements import Connection, rows, run


class ScoreToTell(NamedTuple):
    """A score (without details and findings), the span it judges, and when it was made.

    span_id: the first root of the trace, else its first orphan; None when the trace is not stored
    or the score is of several traces.
    """

    score: Score
    span_id: str | None
    scored_ns: int


class FindingToTell(NamedTuple):
    """A finding, the span that proves it first, and who found it against what.

    scorer: None for an audit rule. span_id: the root where no witness is named.
    """

    finding: Finding
    scorer: str | None
    scorer_version: str | None
    expectation: str | None
    expectation_hash: str | None
    span_id: str | None
    found_ns: int


ToTell = ScoreToTell | FindingToTell


def read_to_tell(connection: Connection, trace_ids: Sequence[str] | None) -> list[ToTell]:
    """Return scores, then findings, of some traces; None: of those that are of no single trace."""
    params = {"trace_ids": None if trace_ids is None else list(trace_ids)}
    told: list[ToTell] = [
        ScoreToTell(to_score(row[:11], {}), *row[11:])
        for row in rows(connection, "export_scores", params)
    ]
    for row in rows(connection, "export_findings", params):
        (_, scorer, expectation, _), finding = to_finding(row[:14])
        hashed, version, span_id, found_ns = row[14:]
        told.append(FindingToTell(finding, scorer, version, expectation, hashed, span_id, found_ns))
    return told


def known_exports(connection: Connection, target: str, keys: Sequence[str]) -> set[str]:
    """Return which of the keys `target` has confirmed."""
    params = {"target": target, "key_hashes": list(keys)}
    return {row[0] for row in rows(connection, "known_exports", params)}


def save_exports(connection: Connection, target: str, keys: Sequence[str]) -> None:
    """Note that `target` has confirmed what these keys stand for."""
    run(connection, "insert_exports", {"target": target, "key_hashes": list(keys)})
