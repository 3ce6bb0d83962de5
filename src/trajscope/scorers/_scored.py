"""A scorer's own result as the `Score` every face understands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajscope.model.score import Finding, Score
from trajscope.model.trajectory import Trajectory


def to_score(
    scorer: str, trajectory: Trajectory, result: Any, findings: Sequence[Finding]
) -> Score:
    """Return a result (`score`, `reason`) as a score, the whole of it in `details`."""
    return Score(
        scorer=scorer,
        value=result.score,
        reason=result.reason,
        trace_id=trajectory.trace_id,
        details=result.model_dump(mode="json", by_alias=True),
        findings=tuple(findings),
    )


def not_evaluable(scorer: str, trajectory: Trajectory, reason: str) -> Score:
    """Return the score of what cannot be evaluated, with the reason."""
    return Score(scorer=scorer, value=None, reason=reason, trace_id=trajectory.trace_id)
