"""Scores and findings: written beside the traces they judge, and read back as the same values.

One thing a newcomer would get wrong: a score is replaced by the next one of the same scorer,
expectation and trace, and it goes when its trace changes. It is a judgement on what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.store.classified import json_field
from trajscope.store.encoding import decode_json, encode_json
from trajscope.store.statements import Connection, rows, run_with, transaction

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())

_SCORES = pa.schema(
    [
        *(pa.field(n, _TEXT) for n in ("trace_id", "scorer", "expectation")),
        pa.field("value", pa.float64()),
        pa.field("reason", _TEXT),
        json_field("details"),
    ]
)
_FINDINGS = pa.schema(
    [
        *(pa.field(n, _TEXT) for n in ("trace_id", "scorer", "expectation", "rule")),
        *(pa.field(n, _TEXT) for n in ("severity", "verdict", "message")),
        *(pa.field(n, _TEXTS) for n in ("span_ids", "steps")),
    ]
)
Key = tuple[str | None, str | None, str | None]
"""Trace id, scorer and expectation."""


def save_scores(connection: Connection, scores: Sequence[Score]) -> None:
    """Write scores and their findings in one transaction, each in place of the one before it."""
    last = {_key(score): score for score in scores}
    table = [
        {
            "trace_id": score.trace_id,
            "scorer": score.scorer,
            "expectation": score.expectation,
            "value": score.value,
            "reason": score.reason,
            "details": None if score.details is None else encode_json(score.details).decode(),
        }
        for score in last.values()
    ]
    findings = [_finding_row(f, _key(score)) for score in last.values() for f in score.findings]
    with transaction(connection):
        incoming = pa.Table.from_pylist(table, schema=_SCORES)
        run_with(connection, incoming, "replace_scores", "replace_score_findings", "insert_scores")
        run_with(connection, pa.Table.from_pylist(findings, schema=_FINDINGS), "insert_findings")


def save_findings(connection: Connection, findings: Sequence[Finding]) -> None:
    """Write the findings of rules in place of what the same rules found in these traces before."""
    found = [_finding_row(finding, (finding.trace_id, None, None)) for finding in findings]
    with transaction(connection):
        table = pa.Table.from_pylist(found, schema=_FINDINGS)
        run_with(connection, table, "replace_rule_findings", "insert_findings")


def read_scores(connection: Connection, trace_ids: Sequence[str] | None = None) -> list[Score]:
    """Return the scores of some traces, or of all, each with its findings."""
    found: dict[Key, list[Finding]] = {}
    for key, finding in _read_findings(connection, trace_ids):
        found.setdefault(key, []).append(finding)
    return [
        Score(
            trace_id=trace_id,
            scorer=scorer,
            expectation=expectation,
            value=value,
            reason=reason,
            details=None if details is None else decode_json(details),
            findings=tuple(found.get((trace_id, scorer, expectation), ())),
        )
        for trace_id, scorer, expectation, value, reason, details in rows(
            connection, "read_scores", {"trace_ids": _listed(trace_ids)}
        )
    ]


def read_findings(connection: Connection, trace_ids: Sequence[str] | None = None) -> list[Finding]:
    """Return every finding about some traces, or about all, of scorers and of rules."""
    return [finding for _, finding in _read_findings(connection, trace_ids)]


def _read_findings(
    connection: Connection, trace_ids: Sequence[str] | None
) -> list[tuple[Key, Finding]]:
    read = rows(connection, "read_findings", {"trace_ids": _listed(trace_ids)})
    return [
        (
            (trace_id, scorer, expectation),
            Finding(
                rule=rule,
                message=message,
                severity=Severity(severity),
                verdict=Verdict(verdict),
                trace_id=trace_id,
                span_ids=tuple(span_ids),
                steps=tuple(steps),
            ),
        )
        for trace_id, scorer, expectation, rule, severity, verdict, message, span_ids, steps in read
    ]


def _listed(trace_ids: Sequence[str] | None) -> list[str] | None:
    return None if trace_ids is None else list(trace_ids)


def _key(score: Score) -> Key:
    return (score.trace_id, score.scorer, score.expectation)


def _finding_row(finding: Finding, key: Key) -> dict[str, Any]:
    trace_id, scorer, expectation = key
    return {
        "trace_id": finding.trace_id if finding.trace_id is not None else trace_id,
        "scorer": scorer,
        "expectation": expectation,
        "rule": finding.rule,
        "severity": finding.severity,
        "verdict": finding.verdict,
        "message": finding.message,
        "span_ids": list(finding.span_ids),
        "steps": list(finding.steps),
    }
