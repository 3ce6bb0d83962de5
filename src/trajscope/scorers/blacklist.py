"""Tools and sequences that must never occur, found at any depth, with the spans that prove it.

One thing a newcomer would get wrong: a call that a model only requested counts too. It is reported
as requested, since asking for a forbidden tool is what the rule wants to know of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast, overload

from msgspec import UNSET, UnsetType

from trajscope.model.expectation import Scope, TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.scorers import _mastra
from trajscope.scorers._blacklist import find_forbidden, forbids_anything, search
from trajscope.scorers._inputs import (
    TrajectoryLike,
    check_patterns,
    is_compat,
    reference_options,
    to_expectation,
    to_trajectory,
)
from trajscope.scorers._results import BlacklistResult
from trajscope.scorers._scored import not_evaluable, to_score


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


class BlacklistScorer:
    """The blacklist as a scorer of trajectories."""

    name = "blacklist"
    description = "Tools and sequences of tools that must never occur, at any depth."
    statement = "scorers/blacklist"
    not_asked = "the expectation forbids nothing"

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation forbids anything."""
        return forbids_anything(expectation)

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return 0 if anything forbidden occurred, else 1; not evaluable without steps."""
        if not self.applies(expectation):
            return not_evaluable(self.name, trajectory, self.not_asked)
        result = search(trajectory, expectation)
        return to_score(self.name, trajectory, result, find_forbidden(result, trajectory))


SCORER = BlacklistScorer()
