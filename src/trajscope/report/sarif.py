"""An audit as SARIF 2.1.0: rules of the policy, one result per finding, the sequence as code flow.

One thing a newcomer would get wrong: viewers need a file and a line for each result, and a trace
has none. The place is the rule in the policy file; the trace and its spans are logical locations.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from trajscope.model.policy import PolicyRule
from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.pipeline.audit import Audit
from trajscope.report.audit import place_of, verdict_counts
from trajscope.report.text import safe_text
from trajscope.rules import rule_in_words

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MAX_RESULTS = 25_000
"""Results of one run that GitHub takes."""
MAX_RULES = 25_000
MAX_STEPS = 1_000
"""Locations of one thread flow that are shown; GitHub takes 10,000 of all in a result."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISION = {Severity.ERROR: "8.0", Severity.WARNING: "5.0", Severity.INFO: "2.0"}


def audit_sarif(audit: Audit) -> dict[str, Any]:
    """Return the SARIF log of an audit; unknown results are notifications, not results.

    More than 25,000 results are cut, worst first, and a notification says so.
    """
    rules = audit.policy.rules[:MAX_RULES]
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    violated = [(r, f) for r in audit.results if r.verdict is Verdict.VIOLATED for f in r.findings]
    violated.sort(key=lambda pair: -pair[1].severity.rank)
    shown = [(r, f) for r, f in violated if r.rule in numbers][:MAX_RESULTS]
    suppressed = [
        _result(audit, None, finding, numbers)
        | {"suppressions": [{"kind": "external", "justification": safe_text(why.reason)}]}
        for finding, why in audit.suppressed[: MAX_RESULTS - len(shown)]
        if finding.rule in numbers
    ]
    run = {
        "tool": {
            "driver": {
                "name": "trajscope",
                "version": version("trajscope"),
                "informationUri": "https://pypi.org/project/trajscope/",
                "rules": [_rule(audit, rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": f"trajscope/{_name(audit)}/"},
        "results": [*(_result(audit, r, f, numbers) for r, f in shown), *suppressed],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": list(_notifications(audit, len(violated), numbers)),
            }
        ],
        "properties": {"policyHash": audit.policy_hash, "traces": audit.trace_count},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _name(audit: Audit) -> str:
    return PurePath(audit.policy.path or "policy").stem


def _rule(audit: Audit, rule: PolicyRule) -> dict[str, Any]:
    words = safe_text(rule_in_words(rule))
    return {
        "id": rule.id,
        "name": rule.id,
        "shortDescription": {"text": words[:1000]},
        "fullDescription": {"text": words[:1000]},
        "help": {"text": words[:10_000]},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": list(dict.fromkeys(safe_text(tag) for tag in rule.tags))[:10],
            "kind": rule.kind,
            "problem.severity": {"info": "recommendation"}.get(rule.severity, rule.severity.value),
            "security-severity": _PRECISION[rule.severity],
            "verdicts": verdict_counts(audit, rule.id),
        },
    }


def _result(
    audit: Audit, result: RuleResult | None, finding: Finding, numbers: dict[str, int]
) -> dict[str, Any]:
    trace = finding.trace_id or (result.session_id if result else None) or "?"
    found: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": numbers[finding.rule],
        "level": _LEVELS[finding.severity],
        "kind": "fail",
        "message": {"text": safe_text(finding.message, 4000) or "violated"},
        "locations": [
            {
                "physicalLocation": _physical(audit, finding.rule),
                "logicalLocations": _logicals(trace, finding),
            }
        ],
        "partialFingerprints": {"trajscopeFinding/v1": finding.fingerprint or finding.rule},
        "properties": {
            "traceId": safe_text(trace),
            "spanIds": [safe_text(s) for s in finding.span_ids],
        },
    }
    if finding.span_ids:
        found["codeFlows"] = [{"threadFlows": [{"locations": list(_flow(audit, trace, finding))}]}]
    return found


def _physical(audit: Audit, rule_id: str) -> dict[str, Any]:
    at = audit.rule(rule_id).at
    path = at.path or audit.policy.path or "policy.yaml"
    region = {"startLine": at.line or 1}
    if at.column:
        region["startColumn"] = at.column
    return {"artifactLocation": {"uri": _uri(path)}, "region": region}


def _uri(path: str) -> str:
    """Return a path as a URI: relative as it is, absolute with `file://`."""
    posix = PurePath(path).as_posix()
    quoted = quote(posix, safe="/")
    if PurePath(path).is_absolute():
        return f"file://{quoted}"
    return quoted.removeprefix("./")


def _step(finding: Finding, number: int) -> str:
    return safe_text(finding.steps[number]) if number < len(finding.steps) else "?"


def _logical(trace: str, finding: Finding, number: int) -> dict[str, Any]:
    span, name = safe_text(finding.span_ids[number]), _step(finding, number)
    return {
        "name": name,
        "fullyQualifiedName": f"{safe_text(trace)}/{span}/{name}",
        "kind": "span",
    }


def _logicals(trace: str, finding: Finding) -> list[dict[str, Any]]:
    """Return the witnesses, each once: several requested calls may share the span of one model."""
    found = [_logical(trace, finding, n) for n in range(min(len(finding.span_ids), MAX_STEPS))]
    once = {one["fullyQualifiedName"]: one for one in found}
    return list(once.values()) or [{"name": safe_text(trace), "kind": "trace"}]


def _flow(audit: Audit, trace: str, finding: Finding) -> Iterable[dict[str, Any]]:
    for number in range(min(len(finding.span_ids), MAX_STEPS)):
        span = safe_text(finding.span_ids[number])
        yield {
            "executionOrder": number + 1,
            "importance": "essential",
            "location": {
                "physicalLocation": _physical(audit, finding.rule),
                "logicalLocations": [_logical(trace, finding, number)],
                "message": {"text": f"{number + 1}. {_step(finding, number)} (span {span})"},
            },
        }


def _notifications(audit: Audit, count: int, numbers: dict[str, int]) -> Iterable[dict[str, Any]]:
    for result in [r for r in audit.results if r.verdict is Verdict.UNKNOWN][:1000]:
        if result.rule in numbers:
            text = f"unknown for {place_of(result)}: {result.message}"
            yield {
                "level": "note",
                "message": {"text": safe_text(text, 2000)},
                "associatedRule": {"id": result.rule, "index": numbers[result.rule]},
            }
    if count > MAX_RESULTS:
        text = f"{count - MAX_RESULTS} results were left out: a run holds at most {MAX_RESULTS}"
        yield {"level": "warning", "message": {"text": text}}
