"""What `run_evals` gives: every score of every item, and per scorer what they come to.

One thing a newcomer would get wrong: an average is over what was scored, and says so. What could
not be judged is counted beside it, and where its score could turn the answer, the answer is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal

from trajscope.evals.data import Graded
from trajscope.evals.error import ScorerRunError, cause_text
from trajscope.evals.results import ScorerResult, jsonable

Status = Literal["scored", "not_scorable", "failed"]
TrajectorySource = Literal["given", "trace", "messages"]


@dataclass(frozen=True, slots=True)
class ItemScore:
    """What one scorer said of one item, or of one turn of it.

    score: None unless status is `scored`. error: what failed; its `result` may hold a score that
    was there before, which counts for nothing. turn: None when it judged the whole item.
    """

    graded: Graded
    status: Status
    score: Any = None
    reason: Any = None
    turn: int | None = None
    result: ScorerResult | None = None
    error: Exception | None = None

    @property
    def scorer(self) -> str:
        """The scorer's id."""
        return self.graded.scorer.id

    def to_json(self) -> dict[str, Any]:
        """Return the score as JSON; what was recovered from a failed run stands in `recovered`."""
        out: dict[str, Any] = {"scorer": self.scorer, "status": self.status, "score": self.score}
        if self.reason is not None:
            out["reason"] = jsonable(self.reason)
        if self.turn is not None:
            out["turn"] = self.turn
        if isinstance(self.error, ScorerRunError):
            out["error"] = self.error.to_json()
            out |= _recovered(self.error.result)
        elif self.error is not None:
            out["error"] = {"message": cause_text(self.error), "name": type(self.error).__name__}
        return out


def _recovered(result: ScorerResult | None) -> dict[str, Any]:
    """Return what a failed run had already; it is shown beside the error and never counted."""
    if result is None:
        return {}
    found = {"score": result.score, "reason": result.reason}
    known = {name: jsonable(value) for name, value in found.items() if value is not None}
    return {"recovered": known} if known else {}


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item: what came out, and what was said of it.

    output: of the last turn. error: why the target gave none. trajectory_from: where the
    trajectory that was judged comes from; None when none was asked for. notes: what was assumed.
    duration_ms: of the target, milliseconds; None when it was not run.
    """

    index: int
    output: Any
    scores: tuple[ItemScore, ...]
    trace_id: str | None = None
    trajectory_from: TrajectorySource | None = None
    notes: tuple[str, ...] = ()
    duration_ms: int | None = None
    error: Exception | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the item as JSON, without its output."""
        out: dict[str, Any] = {"index": self.index}
        facts = {
            "traceId": self.trace_id,
            "trajectoryFrom": self.trajectory_from,
            "notes": list(self.notes) or None,
            "durationMs": self.duration_ms,
            "error": None if self.error is None else cause_text(self.error),
        }
        out |= {key: value for key, value in facts.items() if value is not None}
        return {**out, "scores": [score.to_json() for score in self.scores]}


@dataclass(frozen=True, slots=True)
class Summary:
    """What the scores of one scorer come to.

    average: over the scored, None if there are none. passed: whether the threshold is met; None
    when there is none, or when the scores that are missing could turn the answer.
    """

    graded: Graded
    average: float | None
    scored: int
    not_scorable: int
    failed: int
    passed: bool | None

    @property
    def scorer(self) -> str:
        """The scorer's id."""
        return self.graded.scorer.id

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        out = {
            "id": self.scorer,
            "average": self.average,
            "scored": self.scored,
            "notScorable": self.not_scorable,
            "failed": self.failed,
        }
        if self.graded.threshold is None:
            return out
        return {
            **out,
            "threshold": 1 if self.graded.is_gate else self.graded.said,
            "passed": self.passed,
        }

    def __str__(self) -> str:
        average = "none" if self.average is None else f"{self.average:.3f}"
        counts = f"{self.scored} scored, {self.not_scorable} not scorable, {self.failed} failed"
        words = {True: "passed", False: "missed", None: "unknown"}
        verdict = f", {words[self.passed]}" if self.graded.threshold is not None else ""
        return f"{self.scorer}: {average} ({counts}){verdict}"


def summarise(graded: Graded, scores: Sequence[ItemScore]) -> Summary:
    """Return what the scores of one scorer come to."""
    known = [
        score.score for score in scores if score.status == "scored" and _is_number(score.score)
    ]
    failed = sum(score.status == "failed" for score in scores)
    average = reduce(add, known, 0) / len(known) if known else None
    return Summary(
        graded,
        average,
        len(known),
        sum(score.status == "not_scorable" for score in scores),
        failed,
        _passed(graded, known, failed),
    )


def _is_number(score: Any) -> bool:
    """Whether a score counts; only under compat is there one that is no number."""
    return isinstance(score, int | float) and not isinstance(score, bool)


def _passed(graded: Graded, known: Sequence[float], failed: int) -> bool | None:
    """Return whether the threshold is met whatever the failed runs would have scored.

    A score is from 0 to 1, so the average over all lies between two bounds; only if both are on
    one side is the answer known.
    """
    bounds = graded.threshold
    if bounds is None or not known:
        return None
    total, count = reduce(add, known, 0), len(known) + failed
    lowest, highest = total / count, (total + failed) / count
    if bounds.holds(lowest) and bounds.holds(highest):
        return True
    above = bounds.low is None or highest >= bounds.low
    below = bounds.high is None or lowest <= bounds.high
    return None if above and below and failed else False
