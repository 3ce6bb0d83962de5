"""The reference's trajectory accuracy scorer by code.

One thing a newcomer would get wrong: a whole trajectory as static expectation keeps *all* data of
its steps, so results, success and token counts are compared too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajscope.match.js import UNDEFINED, coalesce, elements, member, truthy
from trajscope.scorers._mastra.comparison import compare_trajectories

Json = Any


def preprocess(trajectory: Json, static: Json, item: Json, options: Json) -> dict[str, Json]:
    """Return what the reference's preprocess step computes for one run."""
    actual = elements(member(trajectory, "steps"), "steps")
    names = [member(step, "name") for step in actual]
    steps = expected_steps(static)
    if steps is None and item is not UNDEFINED and item is not None:
        own = member(item, "steps")
        steps = elements(own, "expectedTrajectory.steps") if truthy(own) else None
    if steps is None:
        return {"actualStepNames": names, "expectedStepNames": []}
    expected = {"steps": steps}
    return {
        "expectedTrajectory": expected,
        "comparison": compare_trajectories(trajectory, expected, _options(item, options)),
        "actualStepNames": names,
        "expectedStepNames": [member(step, "name") for step in steps],
    }


def expected_steps(static: Json) -> list[Json] | None:
    """Return the static expectation as expected steps; None when there is none."""
    if not truthy(static):
        return None
    if isinstance(static, list | tuple):
        return list(static)
    return _from_trajectory(elements(member(static, "steps"), "expectedTrajectory.steps"))


def _from_trajectory(steps: list[Json]) -> list[Json]:
    """Return steps as expected steps: without times and metadata, children as `{steps}`.

    Works from a stack, since a recorded trajectory may be deeper than the interpreter's.
    """
    top: list[Json] = []
    todo = [(steps, top)]
    while todo:
        source, target = todo.pop()
        for step in source:
            kept = _without_run_data(step)
            target.append(kept)
            children = member(step, "children")
            if truthy(children) and elements(children, "children"):
                below: list[Json] = []
                kept["children"] = {"steps": below}
                todo.append((list(children), below))
    return top


def _without_run_data(step: Json) -> dict[str, Json]:
    member(step, "name")
    dropped = ("durationMs", "metadata", "children")
    return {k: v for k, v in step.items() if k not in dropped} if isinstance(step, Mapping) else {}


def _options(item: Json, options: Json) -> dict[str, Json]:
    merged = dict(options) if isinstance(options, Mapping) else {}
    for key in ("ordering", "allowRepeatedSteps"):
        value = item.get(key, UNDEFINED) if isinstance(item, Mapping) else UNDEFINED
        merged[key] = coalesce(value, merged.get(key, UNDEFINED))
    return merged


def reason(results: Mapping[str, Json], score: Json) -> str:
    """Return the reason in words (ours; the reference's wording is not reproduced)."""
    if "comparison" not in results:
        return f"score {score}: no expected trajectory was given"
    comparison = results["comparison"]
    matched = f"{comparison['matchedSteps']} of {comparison['totalExpectedSteps']} expected steps"
    lines = [f"score {score}: {matched} matched"]
    for key, label in (
        ("missingSteps", "missing"),
        ("extraSteps", "extra"),
        ("outOfOrderSteps", "out of order"),
        ("repeatedSteps", "repeated"),
    ):
        if comparison[key]:
            lines.append(f"{label}: {', '.join(map(str, comparison[key]))}")
    return "\n".join(lines)
