"""Scores and findings as what a backend is told of one span: an evaluation.

One thing a newcomer would get wrong: an evaluation is known again by what it says, not by where it
is stored. A score made anew that says the same is the same.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from trajscope.model.score import Score, Severity, Verdict
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.store import FindingToTell, ScoreToTell, ToTell

NO_EXPECTATION = "(none)"
"""What is said of the expectation where a score was held against none."""
UNKNOWN_VERSION = "unknown"
"""What is said of a scorer's version where nothing is known of it."""
NOT_EVALUABLE = "not_evaluable"
"""Label of a score without a value."""
MAX_TEXT = 32_000
"""Characters of an explanation that are sent."""

Level = Literal["INFO", "WARN", "ERROR"]
Attributes = dict[str, str | list[str]]

_LEVELS: dict[Severity, Level] = {
    Severity.INFO: "INFO",
    Severity.WARNING: "WARN",
    Severity.ERROR: "ERROR",
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one `gen_ai.evaluation.result` event says; None is not said.

    name: of the scorer or rule. span_id: the span that was judged. time_ns: when. attributes: of
    our own namespace. key: a hash of what is said, by which it is known again.
    """

    name: str
    value: float | None
    label: str | None
    explanation: str | None
    error_type: str | None
    trace_id: str | None
    span_id: str | None
    time_ns: int
    level: Level = "INFO"
    attributes: Attributes = field(default_factory=dict)
    key: str = ""

    def size(self) -> int:
        """Return about how many bytes the event takes."""
        texts = len(self.explanation or "") + sum(map(len, self.attributes))
        for said in self.attributes.values():
            texts += len(said) if isinstance(said, str) else sum(len(text) + 8 for text in said)
        return 500 + 2 * texts


def evaluation_of(told: ToTell) -> Evaluation:
    """Return a stored score or finding as an evaluation."""
    return _of_score(told) if isinstance(told, ScoreToTell) else _of_finding(told)


def evaluations_of(scores: Iterable[Score], trajectory: Trajectory) -> list[Evaluation]:
    """Return scores of one trajectory, with their findings, as evaluations made now.

    For programs that judge what they run themselves, without a store.
    """
    now = time.time_ns()
    root = next(iter((*trajectory.root_span_ids, *trajectory.orphans)), None)
    told: list[ToTell] = []
    for score in scores:
        told.append(ScoreToTell(score, root, now))
        by = (score.scorer, score.scorer_version, score.expectation, score.expectation_hash)
        told += (
            FindingToTell(finding, *by, next(iter(finding.span_ids), root), now)
            for finding in score.findings
        )
    return list({found.key: found for found in map(evaluation_of, told)}.values())


def _of_score(told: ScoreToTell) -> Evaluation:
    score = told.score
    said: Attributes = {
        "trajscope.kind": "score",
        "trajscope.scorer.name": score.scorer,
        "trajscope.scorer.version": score.scorer_version or UNKNOWN_VERSION,
        **_against(score.expectation, score.expectation_hash),
    }
    if score.parameters is not None:
        said["trajscope.scorer.parameters"] = json.dumps(score.parameters, default=str)
    if score.session_id is not None:
        said["session.id"] = score.session_id
    key = _key(score.value, score.reason, score.error_type, score.trace_id, told.span_id, said)
    return Evaluation(
        name=score.scorer,
        value=score.value,
        label=NOT_EVALUABLE if score.value is None else None,
        explanation=_cut(score.reason),
        error_type=score.error_type,
        trace_id=score.trace_id,
        span_id=told.span_id,
        time_ns=told.scored_ns,
        level="INFO" if score.error_type is None else "ERROR",
        attributes=said,
        key=key,
    )


def _of_finding(told: FindingToTell) -> Evaluation:
    finding = told.finding
    said: Attributes = {
        "trajscope.kind": "finding",
        "trajscope.rule": finding.rule,
        "trajscope.finding.severity": finding.severity.value,
        "trajscope.finding.verdict": finding.verdict.value,
        "trajscope.finding.span_ids": list(finding.span_ids),
        "trajscope.finding.steps": list(finding.steps),
        **_against(told.expectation, told.expectation_hash),
    }
    # Without who found it: the unified scorer repeats what its parts say, and once is enough.
    key = _key(finding.message, finding.trace_id, told.span_id, said)
    # A rule has no version of its own; what it said then tells its versions apart.
    version = finding.rule_hash if told.scorer is None else told.scorer_version
    said["trajscope.scorer.version"] = version or UNKNOWN_VERSION
    if finding.policy_hash is not None:
        said["trajscope.policy.hash"] = finding.policy_hash
    if finding.fingerprint is not None:
        said["trajscope.finding.fingerprint"] = finding.fingerprint
    if told.scorer is not None:
        said["trajscope.scorer.name"] = told.scorer
    return Evaluation(
        name=finding.rule,
        value=None,
        label=finding.verdict.value,
        explanation=_cut(finding.message),
        error_type=None,
        trace_id=finding.trace_id,
        span_id=told.span_id,
        time_ns=told.found_ns,
        level=_LEVELS[finding.severity] if finding.verdict is Verdict.VIOLATED else "INFO",
        attributes=said,
        key=key,
    )


def _against(expectation: str | None, expectation_hash: str | None) -> Attributes:
    name = NO_EXPECTATION if expectation is None else expectation
    said: Attributes = {"trajscope.expectation.name": name}
    if expectation_hash is not None:
        said["trajscope.expectation.hash"] = expectation_hash
    return said


def _key(*what: Json) -> str:
    """Return a hash of all that is said, but when: what is said again has the same."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def _cut(text: str) -> str | None:
    if len(text) <= MAX_TEXT:
        return text or None
    return f"{text[:MAX_TEXT]}… ({len(text):,} characters)"
