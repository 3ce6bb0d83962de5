"""Scores and findings: what a scorer or rule says of a trajectory, and the spans that prove it.

One thing a newcomer would get wrong: `value is None` means *not evaluable*, with the reason in
`reason`; it is neither 0 nor 1, is never averaged, and never passes a threshold.
"""

from __future__ import annotations

from enum import StrEnum

from trajscope.model.span import Json
from trajscope.model.value import Value


class Severity(StrEnum):
    """How bad a finding is, worst last."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error."""
        return [Severity.INFO, Severity.WARNING, Severity.ERROR].index(self)


class Verdict(StrEnum):
    """What is known about a claim. `unknown`: the evidence was not recorded."""

    VIOLATED = "violated"
    SATISFIED = "satisfied"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"


class Finding(Value):
    """One located claim: which rule, how bad, and the ordered span ids that prove it.

    fingerprint: equal for the same claim whenever it is made again, whatever the span ids (see
    `pipeline.baseline`). policy_hash, rule_hash: what the policy file and the rule said then.
    """

    rule: str
    message: str
    severity: Severity = Severity.ERROR
    verdict: Verdict = Verdict.VIOLATED
    trace_id: str | None = None
    span_ids: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    fingerprint: str | None = None
    policy_hash: str | None = None
    rule_hash: str | None = None


class Score(Value):
    """What one scorer says of one trajectory.

    value: 0 to 1, or None when it could not be evaluated; `reason` then says why. details: the
    scorer's own result, JSON. expectation: the name of the expectation it was held against, and
    expectation_hash what it said then, both None without one. scorer_version: of the program that
    judged. parameters: what the scorer was set up with, JSON. error_type: what the scorer raised,
    when it is for that that there is no value. session_id: of a score over all traces of a session,
    which has no trace id.
    """

    scorer: str
    value: float | None
    reason: str = ""
    trace_id: str | None = None
    expectation: str | None = None
    details: Json | None = None
    findings: tuple[Finding, ...] = ()
    expectation_hash: str | None = None
    scorer_version: str | None = None
    parameters: Json | None = None
    error_type: str | None = None
    session_id: str | None = None
