"""The critical path: the steps that, had they been faster, would have ended the run earlier.

One thing a newcomer would get wrong: the path is not the sum of the longest steps. It covers each
moment of the run exactly once, so its self times add up to the duration of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trajscope.analysis._places import Place, interval_ns, places
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class PathSegment:
    """A stretch of time in which one step worked and none of its children was waited for.

    step None: no step ran (between several top-level steps). Times in nanoseconds.
    """

    id: str | None
    step: BaseStep | None
    start_ns: int
    end_ns: int

    @property
    def self_ms(self) -> float:
        """The length of the segment in milliseconds."""
        return (self.end_ns - self.start_ns) / 1_000_000


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Segments in order of time, or none and a `reason` where the path is unknown.

    total_ms: from the start to the end of the run; None is unknown. unknown: ids of steps whose
    times are unknown or contradict each other; they cannot stand on the path.
    """

    segments: tuple[PathSegment, ...] = ()
    total_ms: float | None = None
    unknown: tuple[str, ...] = ()
    reason: str | None = None

    def self_times_ms(self) -> dict[str | None, float]:
        """Return the milliseconds each step spent on the path, by id, in order of appearance."""
        times: dict[str | None, int] = {}
        for segment in self.segments:
            spent = segment.end_ns - segment.start_ns
            times[segment.id] = times.get(segment.id, 0) + spent
        return {id_: spent / 1_000_000 for id_, spent in times.items()}


@dataclass(slots=True)
class _Timed:
    """A step with its interval, clipped to that of the step above; children end latest first."""

    place: Place | None
    start: int
    end: int
    children: list[_Timed] = field(default_factory=list)


def critical_path(trajectory: Trajectory) -> CriticalPath:
    """Return the critical path of a trajectory.

    Defined as Jaeger and CRISP (Zhang et al., USENIX ATC 2022) do: from the end of the run walk
    back to the child that ended last, go into it, and from its start on to the sibling that had
    ended last by then; what no child covers is the step's own time. Children are cut to the time
    of their parent, so asynchronous work that outlives it does not lengthen the run. Of children
    that end together the longest is taken. Children of a step of unknown times count as children
    of the step above it, and orphans as children of the run, whose time they lie in.
    """
    found = places(trajectory)
    unknown = tuple(place.id for place in found if interval_ns(place.step) is None)
    run = _timed(trajectory, found)
    if isinstance(run, str):
        return CriticalPath(unknown=unknown, reason=run)
    segments = tuple(reversed(list(_walk_back(run))))
    return CriticalPath(segments, (run.end - run.start) / 1_000_000, unknown)


def _timed(trajectory: Trajectory, found: list[Place]) -> _Timed | str:
    """Return the run with everything of known times below it, or why that is not known."""
    rest = found
    if trajectory.root is not None:
        known = interval_ns(trajectory.root)
        if known is None:
            return "the start or the end of the run is not known"
        run = _Timed(found[0], *known)
        rest = found[1:]
    else:
        tops = [interval_ns(place.step) for place in found if place.above is None]
        spans = [times for times in tops if times is not None]
        if not spans:
            return "the times of the steps are not known"
        run = _Timed(None, min(start for start, _ in spans), max(end for _, end in spans))
    by_id: dict[str | None, _Timed] = {None: run}
    if run.place is not None:
        by_id[run.place.id] = run
    for place in rest:  # parents come before their children
        above = by_id[place.above]
        times = interval_ns(place.step)
        if times is None:
            by_id[place.id] = above
            continue
        start, end = max(times[0], above.start), min(times[1], above.end)
        timed = by_id[place.id] = _Timed(place, start, end)
        if start < end:
            above.children.append(timed)
    return run


def _walk_back(run: _Timed) -> Iterator[PathSegment]:
    stack = [(run, run.end, _latest_first(run))]
    while stack:
        at, cursor, children = stack.pop()
        child = next((child for child in children if child.end <= cursor), None)
        reached = at.start if child is None else child.end
        if reached < cursor:
            place = at.place
            yield PathSegment(place and place.id, place and place.step, reached, cursor)
        if child is not None:
            stack.append((at, child.start, children))
            stack.append((child, child.end, _latest_first(child)))


def _latest_first(timed: _Timed) -> Iterator[_Timed]:
    return iter(sorted(timed.children, key=lambda child: (-child.end, child.start)))
