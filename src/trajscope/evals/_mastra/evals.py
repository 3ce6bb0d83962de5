"""The result of an evaluation as the reference gives it, under `compat="mastra"`.

One thing a newcomer would get wrong: a gate that fails to run scores 0 here, an average of nothing
is 0 where there is a threshold, and what is no number is passed over without a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

from trajscope.evals.data import BUCKETS
from trajscope.evals.outcome import ItemResult, ItemScore, Summary

Json = Any


def evals_json(
    items: Sequence[ItemResult],
    summaries: Sequence[Summary],
    turn_summaries: Sequence[Sequence[Summary]],
) -> dict[str, Json]:
    """Return the reference's result: scores, summary, gates, thresholds, turns and the verdict."""
    every = [score for item in items for score in item.scores]
    whole = _Part(summaries, [score for score in every if score.turn is None])
    turns = [
        _Part(own, [score for score in every if score.turn == index])
        for index, own in enumerate(turn_summaries)
    ]
    out: dict[str, Json] = {"scores": whole.scores(), "summary": _summary(len(items), every)}
    out |= whole.demanded()
    if turns:
        out["turnResults"] = [
            {"index": index, **turn.demanded(), **turn.own_scores()}
            for index, turn in enumerate(turns)
        ]
    verdict = _verdict([whole, *turns])
    return out if verdict is None else {**out, "verdict": verdict}


class _Part:
    """What was said of whole items, or of one turn of them."""

    def __init__(self, summaries: Sequence[Summary], scores: Sequence[ItemScore]) -> None:
        self._gates = [one for one in summaries if one.graded.is_gate]
        self._scorers = [one for one in summaries if not one.graded.is_gate]
        self._said = scores

    def scores(self) -> dict[str, Json]:
        """The averages by id, under their bucket where the scorers were given in buckets."""
        flat: dict[str, Json] = {}
        for one in self._scorers:
            numbers = self._numbers(one)
            if numbers:
                place = (
                    flat if one.graded.bucket is None else flat.setdefault(one.graded.bucket, {})
                )
                place[one.scorer] = _mean(numbers)
        return flat if not set(flat) <= set(BUCKETS) else {b: flat[b] for b in BUCKETS if b in flat}

    def own_scores(self) -> dict[str, Json]:
        """The averages of a turn; left out when there are none."""
        found = self.scores()
        return {"scores": found} if found else {}

    def gates(self) -> list[dict[str, Json]]:
        """What became of the gates that could be judged."""
        found = []
        for one in self._gates:
            numbers = self._numbers(one)
            if numbers:
                mean = _mean(numbers)
                found.append({"id": one.scorer, "passed": mean >= 1, "score": mean})
        return found

    def thresholds(self) -> list[dict[str, Json]]:
        """What became of the thresholds of scorers that judged anything at all."""
        found = []
        for one in self._scorers:
            bounds = one.graded.threshold
            if bounds is None or not self._judged(one):
                continue
            numbers = self._numbers(one)
            mean = _mean(numbers) if numbers else 0
            found.append(
                {
                    "id": one.scorer,
                    "passed": bounds.holds(mean),
                    "averageScore": mean,
                    "threshold": one.graded.said,
                }
            )
        return found

    def demanded(self) -> dict[str, Json]:
        """The results of gates and thresholds, each left out when there are none."""
        found = {"gateResults": self.gates(), "thresholdResults": self.thresholds()}
        return {key: value for key, value in found.items() if value}

    def _of(self, summary: Summary) -> list[ItemScore]:
        key = (summary.graded.is_gate, summary.graded.bucket, summary.scorer)
        return [s for s in self._said if (s.graded.is_gate, s.graded.bucket, s.scorer) == key]

    def _judged(self, summary: Summary) -> bool:
        return any(score.status != "not_scorable" for score in self._of(summary))

    def _numbers(self, summary: Summary) -> list[float]:
        found = [
            0 if score.status == "failed" else score.score
            for score in self._of(summary)
            if score.status != "not_scorable"
        ]
        return [n for n in found if isinstance(n, int | float) and not isinstance(n, bool)]


def _mean(numbers: Sequence[float]) -> float:
    return reduce(add, numbers, 0) / len(numbers) if numbers else math.nan


def _summary(item_count: int, scores: Iterable[ItemScore]) -> dict[str, Json]:
    counts: dict[str, int] = {}
    for score in scores:
        if score.status == "not_scorable":
            counts[score.scorer] = counts.get(score.scorer, 0) + 1
    total = {"totalItems": item_count}
    return {**total, "notScorable": counts} if counts else dict(total)


def _verdict(parts: Sequence[_Part]) -> str | None:
    gates = [gate["passed"] for part in parts for gate in part.gates()]
    thresholds = [found["passed"] for part in parts for found in part.thresholds()]
    if not gates and not thresholds:
        return None
    if not all(gates):
        return "failed"
    return "passed" if all(thresholds) else "scored"
