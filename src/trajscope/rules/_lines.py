"""The lines a rule is decided over: counting steps in order, with when each of them is over.

One thing a newcomer would get wrong: a step is over at a *rank*, not at a time. All that checks ask
of order is then a comparison of whole numbers, so one sweep decides a line of any length.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trajscope.match import NamePattern, compile_pattern
from trajscope.model.rule import AuditScope
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import in_order, locate_steps, was_executed

NEVER = 1 << 62
"""A rank no step has: what is over from there on is never over."""


class LineStep:
    """A counting step at its place in a line.

    over, over_possibly: see `AuditScope`; position: executed counting steps of lower rank; depth: 0
    at the top of its trajectory; of_run: only the messages of a whole agent run tell of the call.
    """

    __slots__ = (
        "agent",
        "depth",
        "executed",
        "of_run",
        "over",
        "over_possibly",
        "position",
        "rank",
        "run",
        "step",
    )

    def __init__(
        self,
        step: BaseStep,
        agent: str | None = None,
        run: object = None,
        depth: int = 0,
        *,
        of_run: bool = False,
    ) -> None:
        self.step = step
        self.agent = agent
        self.run = run
        self.depth = depth
        self.of_run = of_run
        self.executed = was_executed(step)
        self.rank = self.over = self.over_possibly = self.position = 0

    def gap_to(self, later: LineStep) -> int:
        """Return how many executed steps lie between this step and a later one."""
        return later.position - self.position - self.executed


class Line(NamedTuple):
    """The steps of one line in order of rank; unfinished: more of its traces may come."""

    steps: list[LineStep]
    unfinished: bool


class Traces:
    """The traces one rule is decided over: one, or those of a session, in order of their start."""

    def __init__(self, trajectories: Sequence[Trajectory]) -> None:
        self.trajectories = sorted(
            trajectories, key=lambda t: (t.start_ns is None, t.start_ns or 0, t.trace_id or "")
        )
        self.unfinished = any(map(is_unfinished, self.trajectories))
        self.lines: dict[AuditScope, list[Line]] = {}
        self._steps: list[_Walked] | None = None

    def walked(self) -> list[_Walked]:
        """Return the steps of every trace in order, walked once for all rules."""
        if self._steps is None:
            self._steps = [_Walked(trajectory) for trajectory in self.trajectories]
        return self._steps


class _Walked:
    """The steps of one trace as they are nested, and their order in time."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.start_ns = trajectory.start_ns
        located = locate_steps(trajectory)
        self.parents: list[int | None] = []
        self.depths: list[int] = []
        for parent, depth in _parents(trajectory):
            self.parents.append(parent)
            self.depths.append(depth)
        at = {id(place): index for index, place in enumerate(located)}
        self.located = located
        self.order = [at[id(place)] for place in in_order(located)]

    def is_of_run(self, index: int) -> bool:
        """Return whether a call is known from the messages of an agent run only, which are many."""
        parent, step = self.parents[index], self.located[index].step
        if parent is None or step.start_ns is not None:
            return False
        above = self.located[parent].step
        return above.step_type == "agent_run" and above.span_id == step.span_id

    def below(self, patterns: Sequence[NamePattern]) -> list[bool]:
        """Return of every step whether one above it has such a name; parents stand first."""
        named = [any(p.matches_step(place.step) for p in patterns) for place in self.located]
        found: list[bool] = []
        for parent in self.parents:
            found.append(parent is not None and (named[parent] or found[parent]))
        return found


def _parents(trajectory: Trajectory) -> Iterator[tuple[int | None, int]]:
    """Yield the index of every step's parent and its depth, in the order of `locate_steps`."""
    index = 0
    root = trajectory.root
    if root is not None:
        yield None, 0
        index = 1
    stack: list[tuple[BaseStep, int | None, int]] = [
        (step, *((0, 1) if root is not None and not _is_apart(step, trajectory) else (None, 0)))
        for step in reversed(trajectory.steps)
    ]
    while stack:
        step, parent, depth = stack.pop()
        yield parent, depth
        stack.extend((child, index, depth + 1) for child in reversed(step.children))
        index += 1


def _is_apart(step: BaseStep, trajectory: Trajectory) -> bool:
    """Whether a top-level step stands beside the unwrapped root, its own parent being missing."""
    root = trajectory.root
    if root is None or not trajectory.orphans or step.span_id is None:
        return False
    if step.span_id in trajectory.orphans:
        return True
    return root.step_type == "agent_run" and step.agent_span_id != root.span_id


def is_unfinished(trajectory: Trajectory) -> bool:
    """Return whether more of the trace may come: it has no root, or one that has not ended."""
    roots = frozenset(trajectory.root_span_ids)
    tops = [*trajectory.steps, *((trajectory.root,) if trajectory.root is not None else ())]
    if not roots:
        return any(step.trace_id is not None for step in tops)
    return any(
        step.span_id in roots and step.start_ns is not None and step.end_ns is None
        for step in tops
        if not step.__dict__.get("from_messages")
    )


def lines_of(traces: Traces, scope: AuditScope) -> list[Line]:
    """Return the lines of a scope, in order of their first step; one empty line if there are none.

    Lines of agents and parents never cross a trace, so only a session's has more than one. They
    are kept, since most rules of a policy have one scope.
    """
    if scope not in traces.lines:
        traces.lines[scope] = _lines(traces, scope)
    return traces.lines[scope]


def _lines(traces: Traces, scope: AuditScope) -> list[Line]:
    groups: dict[object, list[tuple[int, LineStep]]] = {}
    whole = scope.per in ("trace", "session")
    for number, walked in enumerate(traces.walked()):
        for key, step in _counting(walked, number, scope):
            groups.setdefault(None if whole else (number, key), []).append((number, step))
    starts = [walked.start_ns for walked in traces.walked()]
    lines = [Line(_ranked(_merged(group, starts)), traces.unfinished) for group in groups.values()]
    return lines or [Line([], traces.unfinished)]


def runs_of(line: Line) -> list[Line]:
    """Return a line cut into its agent runs, each ranked by itself."""
    runs: dict[object, list[LineStep]] = {}
    for item in line.steps:
        own = LineStep(item.step, item.agent, item.run, item.depth, of_run=item.of_run)
        runs.setdefault(item.run, []).append(own)
    return [Line(_ranked(steps), line.unfinished) for steps in runs.values()]


def _counting(walked: _Walked, number: int, scope: AuditScope) -> Iterator[tuple[object, LineStep]]:
    """Yield the counting steps of a trace with the key of the line they are on."""
    kept = walked.below([compile_pattern(p) for p in scope.under]) if scope.under else None
    dropped = walked.below([compile_pattern(p) for p in scope.not_under]) if scope.not_under else ()
    for index in walked.order:
        place = walked.located[index]
        if scope.types and place.step.step_type not in scope.types:
            continue
        if (kept is not None and not kept[index]) or (dropped and dropped[index]):
            continue
        key = place.run if scope.per == "agent" else walked.parents[index]
        run = (number, place.run)
        of_run = walked.is_of_run(index)
        yield key, LineStep(place.step, place.agent, run, walked.depths[index], of_run=of_run)


def _merged(group: list[tuple[int, LineStep]], starts: list[int | None]) -> list[LineStep]:
    """Return the steps of several traces by time; of one trace as they are."""
    if not group or group[0][0] == group[-1][0]:
        return [step for _, step in group]
    times: list[Any] = [step.step.start_ns for _, step in group]
    for order in (range(len(group) - 1, -1, -1), range(len(group))):
        known: dict[int, int] = {}
        for index in order:
            number = group[index][0]
            if times[index] is None:
                times[index] = known.get(number)
            if times[index] is not None:
                known[number] = times[index]
    times = [
        starts[number] if t is None else t for t, (number, _) in zip(times, group, strict=True)
    ]
    if None in times:
        return [step for _, step in group]
    return [group[index][1] for index in sorted(range(len(group)), key=times.__getitem__)]


def _ranked(steps: list[LineStep]) -> list[LineStep]:
    """Give every step of a line its rank, position, and the rank from which it is over."""
    begun: list[float] = [0.0] * len(steps)
    following = float("inf")
    for index in range(len(steps) - 1, -1, -1):
        start = steps[index].step.start_ns
        following = start if start is not None else following
        begun[index] = following
    position = 0
    past = _past_siblings(steps)
    begun.sort()  # ranks follow starts already, but for traces that lie about theirs
    for rank, item in enumerate(steps):
        item.rank, item.position = rank, position
        position += item.executed
        step = item.step
        if step.start_ns is None:
            item.over = past[rank]
            item.over_possibly = rank + 1 if item.of_run else past[rank]
        elif step.end_ns is None:
            item.over, item.over_possibly = NEVER, rank + 1
        else:
            item.over = item.over_possibly = max(rank + 1, bisect_left(begun, step.end_ns))
    return steps


def _past_siblings(steps: list[LineStep]) -> list[int]:
    """Return of every rank the one behind the calls that one message asked for together."""
    past = list(range(1, len(steps) + 1))
    for rank in range(len(steps) - 2, -1, -1):
        own, other = steps[rank].step, steps[rank + 1].step
        together = own.span_id is not None and own.start_ns is None and other.start_ns is None
        if together and (own.trace_id, own.span_id) == (other.trace_id, other.span_id):
            past[rank] = past[rank + 1]
    return past
