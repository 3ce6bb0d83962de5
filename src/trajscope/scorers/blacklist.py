"""Tools and sequences that must never occur, found at any depth, with the spans that prove it.

One thing a newcomer would get wrong: a call that a model only requested counts too. It is reported
as requested, since asking for a forbidden tool is what the rule wants to know of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.match import compile_pattern
from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.score import Finding, Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, locate_steps, resolve_scope, was_executed
from trajscope.scorers import _mastra
from trajscope.scorers._inputs import (
    TrajectoryLike,
    check_patterns,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._results import BlacklistHit, BlacklistResult
from trajscope.scorers._scored import not_evaluable, to_score
from trajscope.scorers._sequences import find_sequence, lines_of

MAX_HITS = 1000
"""Occurrences kept in a result; the others are counted."""


@overload
def check_trajectory_blacklist(
    trajectory: TrajectoryLike,
    *,
    blacklisted_tools: Sequence[str] | UnsetType | None = ...,
    blacklisted_sequences: Sequence[Sequence[str]] | UnsetType | None = ...,
    scope: Scope | None = ...,
    compat: None = ...,
) -> BlacklistResult: ...
@overload
def check_trajectory_blacklist(
    trajectory: TrajectoryLike,
    *,
    blacklisted_tools: Any = ...,
    blacklisted_sequences: Any = ...,
    compat: Literal["mastra"],
) -> dict[str, Json]: ...
def check_trajectory_blacklist(
    trajectory: TrajectoryLike,
    *,
    blacklisted_tools: Sequence[str] | UnsetType | None = UNSET,
    blacklisted_sequences: Sequence[Sequence[str]] | UnsetType | None = UNSET,
    scope: Scope | None = None,
    compat: Literal["mastra"] | None = None,
) -> BlacklistResult | dict[str, Json]:
    """Return which forbidden names and sequences occur in a trajectory.

    Names are names, globs or `re:` patterns, with or without the server of an MCP tool, and are
    held against every step at any depth; sequences against the tool calls in order.

    Raises:
        UsageError: an argument or a pattern is malformed.

    >>> took = {"steps": [{"stepType": "tool_call", "name": "mcp__github__delete_repo"}]}
    >>> check_trajectory_blacklist(took, blacklisted_tools=["delete_*"]).hits[0].names
    ('mcp__github__delete_repo',)
    """
    options = {
        "blacklisted_tools": blacklisted_tools,
        "blacklisted_sequences": blacklisted_sequences,
    }
    if is_compat(compat):
        result = _mastra.check_trajectory_blacklist(
            _mastra.to_plain(trajectory), reference_options(**options)
        )
        return cast("dict[str, Json]", result)
    expectation = to_expectation(None, scope=scope, **options)
    check_patterns(expectation)
    return search(to_trajectory(trajectory), expectation)


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


class BlacklistScorer:
    """The blacklist as a scorer of trajectories."""

    name = "blacklist"
    description = "Tools and sequences of tools that must never occur, at any depth."

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation forbids anything."""
        return bool(expectation.blacklisted_tools or expectation.blacklisted_sequences)

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return 0 if anything forbidden occurred, else 1; not evaluable without steps."""
        if not self.applies(expectation):
            return not_evaluable(self.name, trajectory, "the expectation forbids nothing")
        result = search(trajectory, expectation)
        findings = [_finding(hit, trajectory) for hit in result.hits]
        return to_score(self.name, trajectory, result, findings)


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


SCORER = BlacklistScorer()
