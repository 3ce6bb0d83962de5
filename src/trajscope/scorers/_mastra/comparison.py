"""The reference's `compareTrajectories`: greedy matching, top level only.

One thing a newcomer would get wrong: data fields are compared only when the expected step names
its type, and then by JSON text, so key order counts.
"""

from __future__ import annotations

from typing import Any

from trajscope.match.js import (
    UNDEFINED,
    clamp01,
    contains,
    elements,
    given,
    member,
    round2,
    same,
    same_json,
    truthy,
)

Json = Any

_TOOL = ("toolArgs", "toolResult", "success")
COMPARED: dict[str, tuple[str, ...]] = {
    "tool_call": _TOOL,
    "mcp_tool_call": (*_TOOL, "mcpServer"),
    "model_generation": ("modelId", "promptTokens", "completionTokens", "finishReason"),
    "agent_run": ("agentId",),
    "workflow_step": ("stepId", "status", "output"),
    "workflow_run": ("workflowId", "status"),
    "workflow_conditional": ("conditionCount", "selectedSteps"),
    "workflow_parallel": ("branchCount", "parallelSteps"),
    "workflow_loop": ("loopType", "totalIterations"),
    "workflow_sleep": ("sleepDurationMs", "sleepType"),
    "workflow_wait_event": ("eventName", "eventReceived"),
    "processor_run": ("processorId",),
}
"""The fields the reference compares per step type; provider_tool_call has none."""


def compare_trajectories(actual: Json, expected: Json, options: Json = UNDEFINED) -> Json:
    """Return the reference's comparison of two `{steps}` objects."""
    options = {} if options is UNDEFINED else options
    ordering = given(member(options, "ordering"), "relaxed")
    repeats = given(member(options, "allowRepeatedSteps"), True)
    actual_steps = elements(member(actual, "steps"), "actual.steps")
    expected_steps = elements(member(expected, "steps"), "expected.steps")
    actual_names = [member(step, "name") for step in actual_steps]
    if not expected_steps:
        return _result(0.0 if actual_steps else 1.0, 0, [], actual_names, [], actual_names, [], [])
    expected_names = [member(step, "name") for step in expected_steps]
    match = {"strict": _strict, "unordered": _unordered}.get(
        ordering if isinstance(ordering, str) else "", _relaxed
    )
    matched, missing, out_of_order = match(actual_steps, expected_steps)
    score = matched / len(expected_steps)
    extra_length = len(actual_steps) - len(expected_steps)
    if ordering == "strict" and extra_length > 0:
        score = max(0.0, score - 0.5 * extra_length / len(expected_steps))
    repeated = _repeated(actual_names)
    if not truthy(repeats):
        score = max(0.0, score - 0.1 * len(repeated))
    extra = [name for name in actual_names if not contains(expected_names, name)]
    return _result(
        score, matched, expected_names, actual_names, missing, extra, out_of_order, repeated
    )


def _result(
    score: float,
    matched: int,
    expected_names: list[Json],
    actual_names: list[Json],
    missing: list[Json],
    extra: list[Json],
    out_of_order: list[Json],
    repeated: list[Json],
) -> Json:
    return {
        "score": round2(clamp01(score)),
        "matchedSteps": matched,
        "totalExpectedSteps": len(expected_names),
        "totalActualSteps": len(actual_names),
        "missingSteps": missing,
        "extraSteps": extra,
        "outOfOrderSteps": out_of_order,
        "repeatedSteps": repeated,
    }


def step_matches(actual: Json, expected: Json) -> bool:
    """Return whether the actual step has the expected name, type and data."""
    if not same(member(actual, "name"), member(expected, "name")):
        return False
    return _data_matches(actual, expected)


def _data_matches(actual: Json, expected: Json) -> bool:
    step_type = member(expected, "stepType")
    if not truthy(step_type):
        return True
    if not same(member(actual, "stepType"), step_type):
        return False
    for key in COMPARED.get(step_type if isinstance(step_type, str) else "", ()):
        wanted = member(expected, key)
        if wanted is UNDEFINED:
            continue
        found = member(actual, key)
        if found is UNDEFINED or not same_json(found, wanted):
            return False
    return True


Matched = tuple[int, list[Json], list[Json]]


def _strict(actual: list[Json], expected: list[Json]) -> Matched:
    matched, missing, out_of_order = 0, [], []
    names = [member(step, "name") for step in expected]
    for position in range(max(len(actual), len(expected))):
        found = member(actual[position], "name") if position < len(actual) else UNDEFINED
        wanted = names[position] if position < len(names) else UNDEFINED
        if position < len(names) and same(found, wanted):
            if position >= len(actual) or _data_matches(actual[position], expected[position]):
                matched += 1
                continue
        elif truthy(found) and contains(names, found):
            out_of_order.append(found)
        if position < len(names):
            missing.append(wanted)
    return matched, missing, out_of_order


def _relaxed(actual: list[Json], expected: list[Json]) -> Matched:
    matched, missing, out_of_order = 0, [], []
    names = [member(step, "name") for step in actual]
    after = 0
    for step in expected:
        hit = next((i for i in range(after, len(actual)) if step_matches(actual[i], step)), None)
        if hit is not None:
            matched += 1
            after = hit + 1
            continue
        name = member(step, "name")
        if contains(names, name):
            out_of_order.append(name)
        missing.append(name)
    return matched, missing, out_of_order


def _unordered(actual: list[Json], expected: list[Json]) -> Matched:
    missing = []
    used: set[int] = set()
    for step in expected:
        hit = next(
            (i for i in range(len(actual)) if i not in used and step_matches(actual[i], step)), None
        )
        if hit is None:
            missing.append(member(step, "name"))
        else:
            used.add(hit)
    return len(used), missing, []


def _repeated(names: list[Json]) -> list[Json]:
    """Return the names that occur more than once, in the order of their first occurrence."""
    seen: list[Json] = []
    counts: list[int] = []
    for name in names:
        at = next((i for i, other in enumerate(seen) if same(other, name)), None)
        if at is None:
            seen.append(name)
            counts.append(1)
        else:
            counts[at] += 1
    return [name for name, count in zip(seen, counts, strict=True) if count > 1]
