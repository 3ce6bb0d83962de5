"""The three figures that have budgets: steps, tokens, duration; each may be unknown.

One thing a newcomer would get wrong: a figure that is known in part is a lower bound. It can
prove that a budget is exceeded, and never that it is met.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trajscope.model.expectation import Scope
from trajscope.model.step import BaseStep, ModelGenerationStep
from trajscope.model.trajectory import Trajectory, walk
from trajscope.scope import agent_runs, resolve_scope, select_steps, was_executed


class Figure(NamedTuple):
    """A measured value; None is unknown, and incomplete means "at least"."""

    value: float | None
    complete: bool = True

    def over(self, limit: float | None) -> bool | None:
        """Return whether the figure exceeds the limit; None when that is not known."""
        if limit is None:
            return False
        if self.value is not None and self.value > limit:
            return True
        return False if self.complete and self.value is not None else None

    def within(self, limit: float) -> float | None:
        """Return 1 within the limit, less the further beyond it; None when not evaluable.

        >>> Figure(15).within(10), Figure(3).within(10), Figure(3, complete=False).within(10)
        (0.5, 1.0, None)
        """
        over = self.over(limit)
        if over is None or self.value is None:
            return None
        if not over:
            return 1.0
        return max(0.0, 1 - (self.value - limit) / limit) if limit else 0.0


def count_steps(trajectory: Trajectory, scope: Scope | None) -> tuple[int, Scope]:
    """Return how many steps were taken, and in which scope they were counted.

    All steps unless a scope is named; in scope `agent`, those of the agent run with the most.
    """
    if scope == "agent":
        runs = agent_runs(trajectory).values()
        counts = (sum(was_executed(place.step) for place in places) for places in runs)
        return max(counts, default=0), "agent"
    resolved: Scope = "tree" if scope in (None, "auto", "session") else resolve_scope(scope)
    return len(select_steps(trajectory, resolved)), resolved


def measure_tokens(trajectory: Trajectory) -> Figure:
    """Return input and output tokens over all model calls.

    A recorded trajectory has them counted; of a hand-written one the generations are added up.
    """
    if trajectory.tokens is not None:
        return Figure(trajectory.tokens.total, trajectory.tokens.complete)
    counts = [
        (step.prompt_tokens, step.completion_tokens)
        for step in trajectory.walk()
        if isinstance(step, ModelGenerationStep)
    ]
    if not counts:
        return Figure(None, complete=False)
    known = [count for pair in counts for count in pair if count is not None]
    return Figure(sum(known) if known else None, all(None not in pair for pair in counts))


def measure_duration(trajectory: Trajectory) -> Figure:
    """Return how long the run took, in milliseconds.

    The single root's duration; else from the first start to the last end of the top-level steps;
    else, where no times but durations are recorded, their sum. Otherwise the longest known step
    is a lower bound.
    """
    if _valid(trajectory.total_duration_ms):
        return Figure(trajectory.total_duration_ms)
    tops = [step for step in trajectory.steps if was_executed(step)]
    whole = _wall_ms(tops) if tops and trajectory.session_id is None else None
    if whole is None and tops and all(_valid(s.duration_ms) and s.start_ns is None for s in tops):
        whole = sum(step.duration_ms or 0 for step in tops)
    if whole is not None:
        return Figure(whole)
    return Figure(_longest(walk(tuple(trajectory.steps))), complete=False)


def _wall_ms(steps: Sequence[BaseStep]) -> float | None:
    """Return the time from the first start to the last end, if every step has both."""
    spans = [
        (step.start_ns, step.end_ns)
        for step in steps
        if step.start_ns is not None and step.end_ns is not None and step.end_ns >= step.start_ns
    ]
    if len(spans) < len(steps):
        return None
    return (max(end for _, end in spans) - min(start for start, _ in spans)) / 1_000_000


def _longest(steps: Iterable[BaseStep]) -> float | None:
    return max((s.duration_ms for s in steps if _valid(s.duration_ms)), default=None)  # type: ignore[type-var]


def _valid(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value >= 0
