"""Scores and findings: written beside the traces they judge, and read back as the same values.

One thing a newcomer would get wrong: a score is replaced by the next one of the same scorer,
expectation and trace, and it goes when its trace changes. It is a judgement on what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.store.classified import json_field
from trajscope.store.encoding import decode_json, encode_json
from trajscope.store.statements import Connection, rows, run, run_with, transaction

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())

_SCORES = pa.schema(
    [
        *(pa.field(n, _TEXT) for n in ("trace_id", "session_id", "scorer", "expectation")),
        pa.field("value", pa.float64()),
        pa.field("reason", _TEXT),
        json_field("details"),
        pa.field("expectation_hash", _TEXT),
        pa.field("scorer_version", _TEXT),
        json_field("parameters"),
        pa.field("error_type", _TEXT),
    ]
)
_FINDINGS = pa.schema(
    [
        *(
            pa.field(n, _TEXT)
            for n in (
                *("trace_id", "scored_trace_id", "scored_session_id"),
                *("scorer", "expectation", "rule"),
            )
        ),
        *(pa.field(n, _TEXT) for n in ("severity", "verdict", "message")),
        *(pa.field(n, _TEXTS) for n in ("span_ids", "steps")),
        *(pa.field(n, _TEXT) for n in ("fingerprint", "policy_hash", "rule_hash")),
    ]
)
Key = tuple[str | None, str | None, str | None, str | None]
"""Trace id, scorer, expectation, and the session of a score over its traces."""
_OF_A_RULE: Key = (None, None, None, None)


def save_scores(connection: Connection, scores: Sequence[Score]) -> None:
    """Write scores and their findings in one transaction, each in place of the one before it."""
    last = list({_key(score): score for score in scores}.values())
    findings = [(finding, _key(score)) for score in last for finding in score.findings]
    with transaction(connection):
        run_with(
            connection,
            score_table(last),
            *("replace_scores", "replace_score_findings", "insert_scores"),
        )
        run_with(connection, finding_table(findings), "insert_findings")


def save_findings(connection: Connection, findings: Sequence[Finding]) -> None:
    """Write the findings of rules in place of what the same rules found in these traces before."""
    table = finding_table([(finding, _OF_A_RULE) for finding in findings])
    with transaction(connection):
        run_with(connection, table, "replace_rule_findings", "insert_findings")


def save_audit(
    connection: Connection,
    rules: Sequence[str],
    findings: Sequence[Finding],
    trace_ids: Sequence[str] | None = None,
) -> None:
    """Write what rules found in some traces, or in all, in place of what they found before."""
    table = finding_table([(finding, _OF_A_RULE) for finding in findings])
    params = {
        "rules": list(rules),
        "fingerprints": [finding.fingerprint for finding in findings],
        "trace_ids": _listed(trace_ids),
    }
    with transaction(connection):
        run(connection, "replace_audit", params)
        run_with(connection, table, "insert_findings")


def score_table(scores: Sequence[Score]) -> pa.Table:
    """Return scores as the Arrow form of the table `scores`."""
    rows = [
        {
            "trace_id": score.trace_id,
            "session_id": score.session_id,
            "scorer": score.scorer,
            "expectation": score.expectation,
            "value": score.value,
            "reason": score.reason,
            "details": _json(score.details),
            "expectation_hash": score.expectation_hash,
            "scorer_version": score.scorer_version,
            "parameters": _json(score.parameters),
            "error_type": score.error_type,
        }
        for score in scores
    ]
    return pa.Table.from_pylist(rows, schema=_SCORES)


def finding_table(findings: Sequence[tuple[Finding, Key]]) -> pa.Table:
    """Return findings as the Arrow form of the table `findings`."""
    rows = [
        {
            "trace_id": finding.trace_id,
            "scored_trace_id": scored,
            "scored_session_id": session_id,
            "scorer": scorer,
            "expectation": expectation,
            "rule": finding.rule,
            "severity": finding.severity,
            "verdict": finding.verdict,
            "message": finding.message,
            "span_ids": list(finding.span_ids),
            "steps": list(finding.steps),
            "fingerprint": finding.fingerprint,
            "policy_hash": finding.policy_hash,
            "rule_hash": finding.rule_hash,
        }
        for finding, (scored, scorer, expectation, session_id) in findings
    ]
    return pa.Table.from_pylist(rows, schema=_FINDINGS)


def read_scores(connection: Connection, trace_ids: Sequence[str] | None = None) -> list[Score]:
    """Return the scores of some traces, or of all, each with its findings."""
    found: dict[Key, list[Finding]] = {}
    for key, finding in _read_findings(connection, trace_ids):
        found.setdefault(key, []).append(finding)
    read = rows(connection, "read_scores", {"trace_ids": _listed(trace_ids)})
    return [to_score(row, found) for row in read]


def to_score(row: Sequence[Any], findings: Mapping[Key, Sequence[Finding]]) -> Score:
    """Return the score of one row of `queries/read_scores`; what was never said stays unset."""
    trace_id, scorer, expectation, value, reason, details, *rest = row
    expectation_hash, version, parameters, error_type, session_id = rest
    known = {
        "session_id": session_id,
        "expectation_hash": expectation_hash,
        "scorer_version": version,
        "parameters": None if parameters is None else decode_json(parameters),
        "error_type": error_type,
    }
    return Score(
        trace_id=trace_id,
        scorer=scorer,
        expectation=expectation,
        value=value,
        reason=reason,
        details=None if details is None else decode_json(details),
        findings=tuple(findings.get((trace_id, scorer, expectation, session_id), ())),
        **{name: known[name] for name in known if known[name] is not None},
    )


def read_findings(connection: Connection, trace_ids: Sequence[str] | None = None) -> list[Finding]:
    """Return every finding about some traces, or about all, of scorers and of rules."""
    return [finding for _, finding in _read_findings(connection, trace_ids)]


def _read_findings(
    connection: Connection, trace_ids: Sequence[str] | None
) -> list[tuple[Key, Finding]]:
    read = rows(connection, "read_findings", {"trace_ids": _listed(trace_ids)})
    return [to_finding(row) for row in read]


def to_finding(row: Sequence[Any]) -> tuple[Key, Finding]:
    """Return the finding of one row of `queries/read_findings`, and the key of its score."""
    scored, scorer, expectation, trace_id, rule, severity, verdict, message, *rest = row
    span_ids, steps, fingerprint, policy_hash, rule_hash, session_id = rest
    hashes = {"fingerprint": fingerprint, "policy_hash": policy_hash, "rule_hash": rule_hash}
    known = {name: said for name, said in hashes.items() if said is not None}
    finding = Finding(
        rule=rule,
        message=message,
        severity=Severity(severity),
        verdict=Verdict(verdict),
        trace_id=trace_id,
        span_ids=tuple(span_ids),
        steps=tuple(steps),
        **known,
    )
    return (scored, scorer, expectation, session_id), finding


def _json(value: Any) -> str | None:
    return None if value is None else encode_json(value).decode()


def _listed(trace_ids: Sequence[str] | None) -> list[str] | None:
    return None if trace_ids is None else list(trace_ids)


def _key(score: Score) -> Key:
    return (score.trace_id, score.scorer, score.expectation, score.session_id)
