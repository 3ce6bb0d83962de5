"""The result of `run_evals` as a whole: averages, what was demanded, and the verdict.

One thing a newcomer would get wrong: a gate that could not be judged makes the verdict `unknown`,
not `failed`; only under compat, and only in `to_json`, does it count as 0, as in the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trajscope.evals._mastra.evals import evals_json
from trajscope.evals.data import Bucket
from trajscope.evals.outcome import ItemResult, ItemScore, Summary
from trajscope.evals.steps import Compat

Verdict = Literal["passed", "scored", "unknown", "failed"]


@dataclass(frozen=True, slots=True, repr=False)
class EvalsResult:
    """What an evaluation gave.

    summaries: one per scorer and gate that judge whole items. turn_summaries: by turn, of those
    that judge one. verdict: `failed` when a gate is not met; `unknown` when that, or a threshold,
    could not be told; `scored` when a threshold is missed; else `passed`; None without gates and
    thresholds. compat: whose result `to_json` gives.
    """

    items: tuple[ItemResult, ...]
    summaries: tuple[Summary, ...]
    turn_summaries: tuple[tuple[Summary, ...], ...] = ()
    compat: Compat | None = None

    def __repr__(self) -> str:
        return f"EvalsResult({len(self.items)} items, scores={self.scores!r})"

    @property
    def scores(self) -> dict[str, float | None]:
        """The averages by scorer id, gates left out; None where nothing was scored."""
        return {one.scorer: one.average for one in self.summaries if not one.graded.is_gate}

    @property
    def verdict(self) -> Verdict | None:
        """What the gates and thresholds say together."""
        return verdict_of(self.demanded())

    def demanded(self) -> list[Summary]:
        """Return the summaries of what was demanded: gates and scorers with a threshold."""
        every = [*self.summaries, *(one for turn in self.turn_summaries for one in turn)]
        return [one for one in every if one.graded.threshold is not None]

    def bucket(self, name: Bucket) -> dict[str, float | None]:
        """Return the averages of the scorers given under this name."""
        return {one.scorer: one.average for one in self.summaries if one.graded.bucket == name}

    def failures(self) -> list[ItemScore]:
        """Return every run of a scorer that failed."""
        return [score for item in self.items for score in item.scores if score.status == "failed"]

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, every item with its scores; under compat the reference's."""
        if self.compat is not None:
            return evals_json(self.items, self.summaries, self.turn_summaries)
        out: dict[str, Any] = {
            "scores": self.scores,
            "summary": {"totalItems": len(self.items), "failedItems": self._failed_items()},
            "scorers": _of(self.summaries, gates=False),
        }
        gates = _of(self.summaries, gates=True)
        if gates:
            out["gates"] = gates
        if self.turn_summaries:
            out["turns"] = [
                {"index": index, "scorers": _of(turn, gates=False), "gates": _of(turn, gates=True)}
                for index, turn in enumerate(self.turn_summaries)
            ]
        if self.verdict is not None:
            out["verdict"] = self.verdict
        return {**out, "items": [item.to_json() for item in self.items]}

    def _failed_items(self) -> int:
        return sum(item.error is not None for item in self.items)

    def __str__(self) -> str:
        items = f"{len(self.items)} items" if len(self.items) != 1 else "1 item"
        failed = self._failed_items()
        lines = [f"{items}, {failed} not run to the end" if failed else items]
        lines += map(str, self.summaries)
        for index, turn in enumerate(self.turn_summaries):
            lines += [f"turn {index}: {one}" for one in turn]
        return "\n".join([*lines, *([f"verdict: {self.verdict}"] if self.verdict else [])])


def verdict_of(demanded: Iterable[Summary]) -> Verdict | None:
    """Return what gates and thresholds say together; None when nothing was demanded."""
    found = list(demanded)
    gates = [one.passed for one in found if one.graded.is_gate]
    rest = [one.passed for one in found if not one.graded.is_gate]
    if not found:
        return None
    if False in gates:
        return "failed"
    if None in gates:
        return "unknown"
    if False in rest:
        return "scored"
    return "unknown" if None in rest else "passed"


def _of(summaries: Sequence[Summary], *, gates: bool) -> list[Mapping[str, Any]]:
    return [one.to_json() for one in summaries if one.graded.is_gate is gates]
