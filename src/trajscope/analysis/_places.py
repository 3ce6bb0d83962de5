"""Every step of a trajectory with an id of its own and the step it stands under.

One thing a newcomer would get wrong: a span id is no id of a step. A call that was only requested
points at the span of the model call that requested it, and hand-written steps have no span.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from trajscope.model.step import BaseStep, ToolStep
from trajscope.model.trajectory import Trajectory


class Place(NamedTuple):
    """A step, its id in graphs, and the id of the step above (None: at the top)."""

    id: str
    step: BaseStep
    above: str | None
    is_orphan: bool = False


def places(trajectory: Trajectory) -> list[Place]:
    """Return every step once, depth first: the run that was unwrapped, then the steps below it.

    An id is the span id; `span#call` for a call that was only requested; with `#2`, `#3`, … where
    that is taken already.
    """
    taken: Counter[str] = Counter()
    found: list[Place] = []
    root = None
    if trajectory.root is not None:
        found.append(Place(_id(trajectory.root, taken), trajectory.root, None))
        root = found[0].id
    orphans = set(trajectory.orphans)
    stack: list[tuple[BaseStep, str | None, bool]] = []
    for top in reversed(trajectory.steps):
        is_orphan = top.span_id in orphans
        stack.append((top, None if is_orphan else root, is_orphan))
    while stack:
        step, above, is_orphan = stack.pop()
        place = Place(_id(step, taken), step, above, is_orphan)
        found.append(place)
        stack.extend((child, place.id, False) for child in reversed(step.children))
    return found


def interval_ns(step: BaseStep) -> tuple[int, int] | None:
    """Return start and end of the step in nanoseconds; None if unknown or if the end is earlier."""
    start, end = step.start_ns, step.end_ns
    return None if start is None or end is None or end < start else (start, end)


def _id(step: BaseStep, taken: Counter[str]) -> str:
    name = step.span_id or "step"
    if isinstance(step, ToolStep) and not step.executed:
        name = f"{name}#{step.tool_call_id or 'requested'}"
    taken[name] += 1
    while taken[name] > 1:
        name = f"{name}#{taken[name]}"
        taken[name] += 1
    return name
