"""A trajectory as a graph: who belongs to whom, and what had ended before what began.

One thing a newcomer would get wrong: the absence of an edge between two siblings means that they
overlapped, or that a time is unknown. The order of the steps in the trajectory is no evidence.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx

from trajscope.analysis._places import Place, places
from trajscope.model.trajectory import Trajectory

MOST_ORDER_EDGES = 100_000
"""How many happens-before edges the children of one step may have before they are thinned.

Two waves of 5,000 parallel calls have 25 million of them and no shorter form.
"""

Moment = tuple[float, int]


class _Sibling(NamedTuple):
    start: Moment
    end: Moment
    id: str


def execution_graph(trajectory: Trajectory) -> nx.DiGraph[str]:
    """Return the steps as nodes, with edges `kind="child_of"` and `kind="happens_before"`.

    Nodes carry the fields that are set on the step. `child_of` leads from the child to its parent;
    an orphan has none. `happens_before` leads from a step to a sibling that began when or after it
    had ended, with no third sibling between the two (the transitive reduction: follow the edges
    to compare any two). Steps that overlap, and steps of unknown start, are not ordered; a step
    of unknown end, or one that ends before it starts, comes before nothing.

    Above `MOST_ORDER_EDGES` edges below one parent only the nearest step before and after each
    one is kept; `graph.graph["thinned"]` names such parents ("" for the top).
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    siblings: dict[str, list[Place]] = {}
    top = ""
    found = places(trajectory)
    for place in found:
        graph.add_node(place.id, **_fields(place))
        if place.above is not None:
            graph.add_edge(place.id, place.above, kind="child_of")
    if trajectory.root is not None:
        top = found.pop(0).id
    for place in found:
        siblings.setdefault(place.above or top, []).append(place)
    thinned = []
    for parent, group in siblings.items():
        edges, whole = _order(group)
        graph.add_edges_from(edges, kind="happens_before")
        if not whole:
            thinned.append(parent)
    graph.graph["thinned"] = thinned
    return graph


def _fields(place: Place) -> dict[str, Any]:
    step = place.step
    fields: dict[str, Any] = {"step_type": step.step_type.value, "name": step.name}
    for name in type(step).model_fields:
        if name in step.model_fields_set and name not in ("children", "step_type", "name"):
            fields[name] = getattr(step, name)
    if place.is_orphan:
        fields["is_orphan"] = True
    return fields


def _order(group: list[Place]) -> tuple[Iterator[tuple[str, str]], bool]:
    """Return the edges among siblings, and whether they are all of them.

    Sorted by start, the steps that directly follow `a` are neighbours: they begin after `a` ends
    and not after the first of its followers ends. So the edges are ranges, found by bisection.
    """
    steps = sorted(moments for place in group if (moments := _moments(place)) is not None)
    starts = [step.start for step in steps]
    first_end: list[Moment] = [(math.inf, 0)] * (len(steps) + 1)
    for i in range(len(steps) - 1, -1, -1):
        first_end[i] = min(steps[i].end, first_end[i + 1])
    ranges = []
    for step in steps:
        after = bisect_right(starts, step.end)
        ranges.append((step, after, bisect_left(starts, first_end[after], lo=after)))
    if sum(stop - after for _, after, stop in ranges) <= MOST_ORDER_EDGES:
        return ((a.id, steps[i].id) for a, lo, hi in ranges for i in range(lo, hi)), True
    return _nearest(steps, ranges), False


def _nearest(
    steps: list[_Sibling], ranges: list[tuple[_Sibling, int, int]]
) -> Iterator[tuple[str, str]]:
    for step, after, stop in ranges:
        if after < stop:
            yield step.id, steps[after].id
    ended = sorted((step.end, step.id) for step in steps)
    ends = [end for end, _ in ended]
    for step in steps:
        before = bisect_left(ends, step.start)
        if before:
            yield ended[before - 1][1], step.id


def _moments(place: Place) -> _Sibling | None:
    """Return start and end as moments that compare so that `end < start` means *before*.

    At one nanosecond what lasted has ended, then what took no time begins and ends, then what
    lasts begins. Two steps that took no time at the same nanosecond therefore are not ordered.
    """
    start, end = place.step.start_ns, place.step.end_ns
    if start is None:
        return None
    if end is None or end < start:
        return _Sibling((start, 3), (math.inf, 0), place.id)
    if end == start:
        return _Sibling((start, 1), (end, 2), place.id)
    return _Sibling((start, 3), (end, 0), place.id)
