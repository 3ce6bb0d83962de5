"""Findings of a comparison: one for every expected step that was not taken as expected."""

from __future__ import annotations

from trajscope.model.score import Finding, Severity, Verdict
from trajscope.model.trajectory import Trajectory
from trajscope.scorers._results import ComparisonResult, Pair


def find_mismatches(result: ComparisonResult, trajectory: Trajectory) -> list[Finding]:
    """Return a finding for every pair of the alignment but matches and extra steps."""
    return [
        mismatch(pair, trajectory.trace_id)
        for pair in result.alignment
        if pair.status not in ("matched", "extra")
    ]


def mismatch(pair: Pair, trace_id: str | None) -> Finding:
    """Return the finding of one pair that is neither a match nor an extra step."""
    labels = {
        "missing": "was expected and not taken",
        "mismatched": "was taken with other data than expected",
        "out_of_order": "was taken out of order",
        "unknown": "may have been taken: the data that decide were not recorded",
    }
    reasons = f" ({'; '.join(pair.reasons)})" if pair.reasons else ""
    unknown = pair.status == "unknown"
    return Finding(
        rule="comparison",
        message=f"step {pair.expected!r} {labels[pair.status]}{reasons}",
        severity=Severity.WARNING if unknown else Severity.ERROR,
        verdict=Verdict.UNKNOWN if unknown else Verdict.VIOLATED,
        trace_id=pair.trace_id or trace_id,
        span_ids=(pair.span_id,) if pair.span_id else (),
        steps=(pair.expected,) if pair.expected else (),
    )
