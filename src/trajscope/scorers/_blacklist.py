"""The blacklist of one expectation against one trajectory: occurrences and findings.

One thing a newcomer would get wrong: names are held against every step of the trajectory, since
an agent or a workflow step may be forbidden too; sequences against the tool calls only.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.match import compile_pattern
from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.score import Finding
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, locate_steps, resolve_scope, was_executed
from trajscope.scorers._results import BlacklistHit, BlacklistResult
from trajscope.scorers._sequences import find_sequence, lines_of

MAX_HITS = 1000
"""Occurrences kept in a result; the others are counted."""


def forbids_anything(expectation: TrajectoryExpectation) -> bool:
    """Return whether an expectation has a blacklist."""
    return bool(expectation.blacklisted_tools or expectation.blacklisted_sequences)


def search(trajectory: Trajectory, expectation: TrajectoryExpectation) -> BlacklistResult:
    """Return what of an expectation's blacklist occurs in a trajectory."""
    scope = resolve_scope(expectation.scope)
    places = _places(trajectory, scope, chosen=expectation.scope not in (None, "auto", "session"))
    if not places and not trajectory.steps and trajectory.root is None:
        return BlacklistResult(score=None, reason="the trajectory has no steps")
    hits: list[BlacklistHit] = []
    tools = tuple(dict.fromkeys(expectation.blacklisted_tools or ()))
    found_tools = []
    for name in tools:
        pattern = compile_pattern(name)
        found = [_hit((name,), [p]) for p in places if pattern.matches_step(p.step)]
        found_tools += [name] if found else []
        hits += found
    found_sequences = []
    for rule in dict.fromkeys(expectation.blacklisted_sequences or ()):
        found = list(_occurrences(rule, trajectory, scope))
        found_sequences += [rule] if found else []
        hits += found
    return BlacklistResult(
        score=0.0 if hits else 1.0,
        violated_tools=tuple(found_tools),
        violated_sequences=tuple(found_sequences),
        hits=tuple(hits[:MAX_HITS]),
        hits_not_shown=max(0, len(hits) - MAX_HITS),
        reason=_reason(found_tools, found_sequences),
    )


def _places(trajectory: Trajectory, scope: Scope, *, chosen: bool) -> list[Located]:
    """Return the steps whose names are looked at: all of them, unless a scope was named."""
    places = locate_steps(trajectory)
    if not chosen or scope in ("tree", "agent"):
        return places
    if scope == "top":
        tops = {id(step) for step in trajectory.steps}
        return [place for place in places if id(place.step) in tops]
    return [place for place in places if place.step.is_tool]


def _occurrences(
    rule: tuple[str, ...], trajectory: Trajectory, scope: Scope
) -> Iterator[BlacklistHit]:
    """Yield each occurrence of a sequence once, in whichever line it was found first."""
    seen: set[tuple[int, ...]] = set()
    for line in lines_of(trajectory, scope):
        for places in find_sequence(rule, line):
            key = tuple(id(place.step) for place in places)
            if key not in seen:
                seen.add(key)
                yield _hit(rule, places, line.agent)


def _hit(rule: tuple[str, ...], places: list[Located], agent: str | None = None) -> BlacklistHit:
    steps = [place.step for place in places]
    return BlacklistHit(
        rule=rule,
        names=tuple(step.name for step in steps),
        span_ids=tuple(step.span_id for step in steps if step.span_id is not None),
        requested=not all(map(was_executed, steps)),
        agent=agent if len(places) > 1 else places[0].agent,
    )


def _reason(tools: list[str], sequences: list[tuple[str, ...]]) -> str:
    if not tools and not sequences:
        return "nothing forbidden occurred"
    return "forbidden: " + ", ".join([*tools, *(" > ".join(rule) for rule in sequences)])


def find_forbidden(result: BlacklistResult, trajectory: Trajectory) -> list[Finding]:
    """Return a finding for every occurrence."""
    return [_finding(hit, trajectory) for hit in result.hits]


def _finding(hit: BlacklistHit, trajectory: Trajectory) -> Finding:
    requested = " (requested, never ran)" if hit.requested else ""
    if len(hit.rule) > 1:
        said = f"forbidden sequence {' > '.join(hit.rule)}: {' > '.join(hit.names)}"
    else:
        said = f"forbidden tool {hit.rule[0]}: {hit.names[0]}"
    return Finding(
        rule="blacklist",
        message=said + requested,
        trace_id=trajectory.trace_id,
        span_ids=hit.span_ids,
        steps=hit.names,
    )
