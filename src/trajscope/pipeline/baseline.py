"""What is known already: fingerprints of findings, baselines, and suppressions that expire.

One thing a newcomer would get wrong: span ids have no part in a fingerprint, since a trace that is
exported anew gets new ones. It is the rule, the trace (or session), the names of the witness steps,
and which of the findings that agree in all this it is. Change one of them, and it is a new finding.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from pydantic import ConfigDict, field_validator

from trajscope.documents import read_document, validate
from trajscope.errors import Location, UsageError
from trajscope.match import compile_pattern
from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Verdict
from trajscope.model.value import Value

_DIGITS = 32
VERSION = 1

__all__ = [
    "Baseline",
    "Suppression",
    "baseline_document",
    "load_baseline",
    "load_suppressions",
    "with_fingerprints",
]


class Known(Value):
    """One finding of a baseline; only the fingerprint counts, the rest is for readers."""

    model_config = ConfigDict(extra="forbid")

    fingerprint: str
    rule: str | None = None
    trace_id: str | None = None
    message: str | None = None
    steps: tuple[str, ...] = ()


class Baseline(Value):
    """The findings that were known when the baseline was written."""

    model_config = ConfigDict(extra="forbid")

    version: int = VERSION
    findings: tuple[Known, ...] = ()

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints alone."""
        return frozenset(known.fingerprint for known in self.findings)


class Suppression(Value):
    """What somebody decided to live with, why, and until when (that day included).

    rule, trace: names or patterns (`*`, `re:`); everything that is set must hold.
    """

    model_config = ConfigDict(extra="forbid")

    reason: str
    until: date | None = None
    fingerprint: str | None = None
    rule: str | None = None
    trace: str | None = None

    @field_validator("reason")
    @classmethod
    def _has_reason(cls, reason: str) -> str:
        if not reason.strip():
            raise ValueError("a reason was expected")
        return reason

    def expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return self.until is not None and today > self.until

    def covers(self, finding: Finding) -> bool:
        """Whether it is about this finding."""
        if self.fingerprint is not None and finding.fingerprint != self.fingerprint:
            return False
        pairs = ((self.rule, finding.rule), (self.trace, finding.trace_id or ""))
        return all(p is None or compile_pattern(p).matches([name]) for p, name in pairs)


class _Suppressions(Value):
    model_config = ConfigDict(extra="forbid")

    suppressions: tuple[Suppression, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """What tells findings apart beside their number."""

    rule: str
    where: str
    verdict: str
    steps: tuple[str, ...]


def with_fingerprints(
    results: Iterable[RuleResult], policy_hash: str, rule_hashes: dict[str, str]
) -> list[RuleResult]:
    """Return results whose findings say their fingerprint, and which policy and rule made them."""
    seen: Counter[_Place] = Counter()
    marked = []
    for result in results:
        where = f"trace {result.trace_id}" if result.trace_id else f"session {result.session_id}"
        findings = []
        for finding in result.findings:
            place = _Place(finding.rule, where, finding.verdict.value, finding.steps)
            seen[place] += 1
            update = {
                "fingerprint": _hash(place, seen[place]),
                "policy_hash": policy_hash,
                "rule_hash": rule_hashes.get(finding.rule),
            }
            findings.append(finding.model_copy(update=update))
        marked.append(replace(result, findings=tuple(findings)))
    return marked


def _hash(place: _Place, number: int) -> str:
    parts = [place.rule, place.where, place.verdict, list(place.steps), number]
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def load_baseline(path: str | Path) -> Baseline:
    """Return a baseline file.

    Raises:
        UsageError: it cannot be read or is none.
    """
    document = read_document(path)
    baseline = validate(Baseline, document, document.value)
    if baseline.version != VERSION:
        raise UsageError(
            f"is a baseline of version {baseline.version}; {VERSION} was expected",
            at=document.locate(("version",)),
            hint="write it anew with --update-baseline",
        )
    return baseline


def baseline_document(findings: Iterable[Finding]) -> dict[str, object]:
    """Return the JSON of a baseline of these findings; violations only."""
    known = sorted(
        (
            {
                "fingerprint": f.fingerprint,
                "rule": f.rule,
                "trace_id": f.trace_id,
                "message": f.message,
                "steps": list(f.steps),
            }
            for f in findings
            if f.verdict is Verdict.VIOLATED
        ),
        key=lambda entry: (str(entry["rule"]), str(entry["trace_id"]), str(entry["fingerprint"])),
    )
    return {"version": VERSION, "findings": known}


def load_suppressions(path: str | Path) -> list[Suppression]:
    """Return the suppressions of a YAML or JSON file: a list, or a mapping with `suppressions`.

    Raises:
        UsageError: it cannot be read, a reason is missing, or a suppression names nothing.
    """
    document = read_document(path)
    value = document.value
    listed = value if isinstance(value, dict) else {"suppressions": value}
    found = validate(_Suppressions, document, listed).suppressions
    _check(found, path)
    return list(found)


def _check(found: Sequence[Suppression], path: str | Path) -> None:
    for number, suppression in enumerate(found):
        at = Location(str(path), key=f"suppressions[{number}]")
        if suppression.fingerprint is None and suppression.rule is None:
            raise UsageError(
                "suppresses everything; fingerprint or rule was expected",
                at=at,
                hint="trajscope audit --format json shows fingerprints",
            )
        for pattern in (suppression.rule, suppression.trace):
            if pattern is not None:
                try:
                    compile_pattern(pattern)
                except UsageError as error:
                    error.at = at
                    raise
