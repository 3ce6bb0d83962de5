"""Forbidden sequences: calls that stand next to each other among the tool calls of a trace.

One thing a newcomer would get wrong: next to each other in *several* lines. Calls of parallel
agents interleave by time, so each agent run is looked at by itself as well; and a call that never
ran neither hides a sequence nor is left out of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trajscope.match import NamePattern, compile_pattern
from trajscope.model.expectation import Scope
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, locate_steps, locate_tools, was_executed


class Line(NamedTuple):
    """Steps in an order, and the agent run they all belong to, if that is what the line is."""

    places: Sequence[Located]
    agent: str | None = None


def lines_of(trajectory: Trajectory, scope: Scope) -> list[Line]:
    """Return the lines of steps in which a sequence may stand."""
    if scope == "top":
        tops = {id(step) for step in trajectory.steps}
        return [Line([p for p in locate_steps(trajectory) if id(p.step) in tops])]
    whole = locate_steps(trajectory) if scope == "tree" else locate_tools(trajectory)
    runs: dict[object, list[Located]] = {}
    for place in whole:
        runs.setdefault(place.run, []).append(place)
    lines = [] if scope == "agent" else [Line(whole)]
    if scope == "agent" or (scope == "tools" and len(runs) > 1):
        lines += [Line(places, places[0].agent) for places in runs.values()]
    executed = [
        Line([p for p in line.places if was_executed(p.step)], line.agent) for line in lines
    ]
    return executed + [
        line
        for line, ran in zip(lines, executed, strict=True)
        if len(line.places) > len(ran.places)
    ]


def find_sequence(rule: Sequence[str], line: Line) -> Iterator[list[Located]]:
    """Yield every place where the rule's names stand next to each other, in order."""
    patterns: list[NamePattern] = [compile_pattern(name) for name in rule]
    last = len(line.places) - len(patterns)
    for start in range(last + 1):
        if all(
            pattern.matches_step(line.places[start + offset].step)
            for offset, pattern in enumerate(patterns)
        ):
            yield list(line.places[start : start + len(patterns)])
