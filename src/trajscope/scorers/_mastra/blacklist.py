"""The reference's `checkTrajectoryBlacklist`: exact names of top-level steps.

One thing a newcomer would get wrong: a sequence is contiguous over *all* top-level steps, so a
model generation between two tool calls hides it.
"""

from __future__ import annotations

from typing import Any

from trajscope.match.js import UNDEFINED, contains, elements, given, member, same

Json = Any


def check_trajectory_blacklist(trajectory: Json, options: Json = UNDEFINED) -> Json:
    """Return the reference's blacklist result."""
    options = {} if options is UNDEFINED else options
    tools = elements(given(member(options, "blacklistedTools"), []), "blacklistedTools")
    sequences = elements(given(member(options, "blacklistedSequences"), []), "blacklistedSequences")
    names = [member(step, "name") for step in elements(member(trajectory, "steps"), "steps")]
    violated_tools = [tool for tool in tools if contains(names, tool)]
    violated_sequences = [rule for rule in sequences if _occurs(elements(rule, "sequence"), names)]
    return {
        "score": 0 if violated_tools or violated_sequences else 1,
        "violatedTools": violated_tools,
        "violatedSequences": violated_sequences,
    }


def _occurs(sequence: list[Json], names: list[Json]) -> bool:
    if not sequence:
        return False
    return any(
        all(same(names[start + i], wanted) for i, wanted in enumerate(sequence))
        for start in range(len(names) - len(sequence) + 1)
    )
