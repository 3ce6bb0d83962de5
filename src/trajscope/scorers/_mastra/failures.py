"""The reference's `analyzeToolFailures`: runs of calls of one tool in which a call failed.

One thing a newcomer would get wrong: a single failure is no pattern here; only a call of the same
tool right after it makes one, and a trace in which every call failed once scores 1.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

from trajscope.match.js import (
    UNDEFINED,
    at_least,
    elements,
    given,
    member,
    plain,
    round2,
    same,
    to_number,
)

Json = Any


def analyze_tool_failures(trajectory: Json, options: Json = UNDEFINED) -> Json:
    """Return the reference's tool-failure result."""
    options = {} if options is UNDEFINED else options
    limit = to_number(given(member(options, "maxRetriesPerTool"), 2))
    runs = _runs(
        [
            step
            for step in elements(member(trajectory, "steps"), "steps")
            if member(step, "stepType") in ("tool_call", "mcp_tool_call")
        ]
    )
    patterns: list[Json] = []
    excessive: list[Json] = []
    penalty = 0.0
    for index, run in enumerate(runs):
        pattern = _pattern(run, runs[index + 1] if index + 1 < len(runs) else None)
        if pattern is None:
            continue
        patterns.append(pattern)
        if pattern["retryCount"] > limit:
            excessive.append(pattern["toolName"])
        penalty += at_least(0.0, pattern["retryCount"] - limit)
    return {
        "score": round2(at_least(0.0, 1 - penalty * 0.2)),
        "patterns": patterns,
        "totalRetries": plain(sum(pattern["retryCount"] for pattern in patterns)),
        "excessiveRetryTools": excessive,
    }


def _runs(calls: list[Json]) -> list[list[Json]]:
    """Return maximal runs of neighbours with the same name."""
    numbers = [0]
    for before, call in pairwise(calls):
        numbers.append(numbers[-1] + (not same(member(before, "name"), member(call, "name"))))
    grouped = groupby(zip(numbers, calls, strict=False), key=lambda pair: pair[0])
    return [[call for _, call in run] for _, run in grouped]


def _pattern(run: list[Json], following: list[Json] | None) -> Json | None:
    retries = sum(member(call, "success") is False for call in run[:-1])
    if not retries:
        return None
    recovered = member(run[-1], "success") is not False
    pattern: Json = {"toolName": member(run[0], "name"), "retryCount": retries}
    pattern["fellBackToAlternative"] = following is not None and not recovered
    if pattern["fellBackToAlternative"] and following:
        pattern["alternativeTool"] = member(following[0], "name")
    pattern["eventuallySucceeded"] = recovered
    return pattern
