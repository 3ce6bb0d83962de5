"""An audit for people, and as JSON: verdicts of every rule, then each finding with its witnesses.

One thing a newcomer would get wrong: vacuous and unknown are always shown. "No violation" means
nothing where a rule never had a case, or its evidence was not recorded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.pipeline.audit import Audit
from trajscope.redact import Redactor, redact_finding, redact_result
from trajscope.report.text import plural, safe_text
from trajscope.rules import rule_in_words

VERDICTS = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.SATISFIED, Verdict.VACUOUS)
"""The order in which verdicts are told, worst first."""

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def redact_audit(audit: Audit, redactor: Redactor | None) -> Audit:
    """Return an audit with the secrets in its messages masked; as it is without a redactor."""
    if redactor is None:
        return audit
    return replace(
        audit,
        results=[redact_result(r, redactor) for r in audit.results],
        known=[redact_finding(f, redactor) for f in audit.known],
        suppressed=[(redact_finding(f, redactor), s) for f, s in audit.suppressed],
    )


def verdict_counts(audit: Audit, rule_id: str) -> dict[str, int]:
    """Return how many traces a rule came to each verdict on, zeros too."""
    counts = audit.verdicts.get(rule_id) or Counter()
    return {verdict.value: counts.get(verdict, 0) for verdict in VERDICTS}


def place_of(result: RuleResult) -> str:
    """Return the trace or session a result is about."""
    if result.trace_id is not None:
        return f"trace {result.trace_id}"
    return f"session {result.session_id}" if result.session_id is not None else "session ?"


def witness_text(finding: Finding) -> str:
    """Return the witnesses as one text: `read_secret (span 1a) > http_post (span 2b)`."""
    pairs = []
    for number, span_id in enumerate(finding.span_ids):
        name = finding.steps[number] if number < len(finding.steps) else "?"
        pairs.append(f"{name} (span {span_id})")
    return " > ".join(pairs) or " > ".join(finding.steps)


def audit_json(audit: Audit) -> dict[str, Any]:
    """Return the document of `audit --format json`."""
    return {
        "policy": audit.policy.path,
        "policy_hash": audit.policy_hash,
        "traces": audit.trace_count,
        "evaluated": audit.evaluated,
        "rules": [
            {
                "id": rule.id,
                "kind": rule.kind,
                "severity": rule.severity.value,
                "tags": list(rule.tags),
                "means": rule_in_words(rule),
                "line": rule.at.line,
                "verdicts": verdict_counts(audit, rule.id),
            }
            for rule in audit.policy.rules
        ],
        "results": [_result_json(result) for result in audit.results],
        "known": [_finding_json(f) for f in audit.known],
        "suppressed": [
            {**_finding_json(f), "reason": s.reason, "until": s.until and s.until.isoformat()}
            for f, s in audit.suppressed
        ],
        "expired_suppressions": [s.model_dump(mode="json") for s in audit.expired],
        **audit.problems.to_json(),
    }


def _result_json(result: RuleResult) -> dict[str, Any]:
    return {
        "rule": result.rule,
        "severity": result.severity.value,
        "verdict": result.verdict.value,
        "trace_id": result.trace_id,
        "session_id": result.session_id,
        "message": result.message,
        "counts": dict(result.counts),
        "findings": [_finding_json(f) for f in result.findings],
        "findings_not_shown": result.findings_not_shown,
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "verdict": finding.verdict.value,
        "message": finding.message,
        "trace_id": finding.trace_id,
        "span_ids": list(finding.span_ids),
        "steps": list(finding.steps),
        "fingerprint": finding.fingerprint,
        "policy_hash": finding.policy_hash,
        "rule_hash": finding.rule_hash,
    }


def print_audit(console: Console, audit: Audit, *, show_unknown: bool = True) -> None:
    """Print the verdicts of every rule, then the findings with the spans that prove them."""
    console.print(_table(audit))
    for result in audit.results:
        if result.verdict is Verdict.UNKNOWN and not show_unknown:
            continue
        _print_result(console, result)
    console.print(Text(summary(audit), style="dim"))


def summary(audit: Audit) -> str:
    """Return the audit in one line."""
    parts = [
        plural(len(audit.policy.rules), "rule"),
        plural(audit.trace_count, "trace"),
        plural(len(audit.findings), "finding"),
        f"{audit.unknown_count:,} unknown",
    ]
    if audit.known:
        parts.append(f"{len(audit.known):,} known")
    if audit.suppressed:
        parts.append(f"{len(audit.suppressed):,} suppressed")
    return ", ".join(parts)


def _table(audit: Audit) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("rule", "severity", *(v.value for v in VERDICTS)):
        table.add_column(heading, justify="left" if heading in ("rule", "severity") else "right")
    for rule in audit.policy.rules:
        counts = verdict_counts(audit, rule.id)
        bad = _STYLES[rule.severity] if counts["violated"] else ""
        table.add_row(
            Text(safe_text(rule.id, 60), style=bad),
            Text(rule.severity.value),
            *(Text(f"{counts[v.value]:,}") for v in VERDICTS),
        )
    return table


def _print_result(console: Console, result: RuleResult) -> None:
    violated = result.verdict is Verdict.VIOLATED
    mark, style = ("✗", _STYLES[result.severity]) if violated else ("?", "cyan")
    word = result.severity.value if violated else "unknown"
    head = f"{mark} {word} {safe_text(result.rule, 60)}  {safe_text(place_of(result))}"
    console.print(Text(head, style=style))
    if not result.findings:
        console.print(Text(f"    {safe_text(result.message, 300)}"))
    for finding in result.findings:
        console.print(Text(f"    {safe_text(finding.message, 300)}"))
        if finding.span_ids or finding.steps:
            console.print(Text(f"      {safe_text(witness_text(finding), 600)}", style="dim"))
    if result.findings_not_shown:
        console.print(Text(f"    … and {plural(result.findings_not_shown, 'more finding')}"))
