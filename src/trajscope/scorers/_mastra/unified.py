"""The reference's unified trajectory scorer: what it computes before scoring, and the score.

One thing a newcomer would get wrong: tool failures are always computed but weigh only when there
are patterns, and nested expectations inherit nothing from their parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajscope.match.js import (
    UNDEFINED,
    at_least,
    coalesce,
    elements,
    member,
    round2_bare,
    same,
    to_number,
    total,
    truthy,
)
from trajscope.scorers._mastra.blacklist import check_trajectory_blacklist
from trajscope.scorers._mastra.comparison import compare_trajectories
from trajscope.scorers._mastra.efficiency import check_trajectory_efficiency
from trajscope.scorers._mastra.failures import analyze_tool_failures

Json = Any

WEIGHTS = {"accuracy": 0.4, "efficiency": 0.3, "toolFailures": 0.2, "blacklist": 0.1}
"""The reference's weights per dimension."""

_EFFICIENCY = ("maxSteps", "maxTotalTokens", "maxTotalDurationMs", "noRedundantCalls")


def weights_of(weights: Json) -> dict[str, float]:
    """Return the weights to use: defaults for undefined and null, 0 for negative ones."""
    given = {} if weights is UNDEFINED or weights is None else weights
    return {
        key: at_least(0.0, to_number(coalesce(member(given, key), default)))
        for key, default in WEIGHTS.items()
    }


def preprocess(
    trajectory: Json, defaults: Json, item: Json, weights: dict[str, float]
) -> dict[str, Json]:
    """Return what the reference's preprocess step computes for one run."""
    config = _merged(defaults, item)
    out = _dimensions(trajectory, config)
    if truthy(config.get("steps", UNDEFINED)):
        nested = _nested(trajectory, config["steps"], weights)
        if nested:
            out["nested"] = nested
    out["config"] = config
    return out


def final_score(results: Mapping[str, Json], weights: dict[str, float]) -> int | float:
    """Return the score of what `preprocess` computed."""
    return round2_bare(_combined(results, results.get("nested", []), weights))


def _merged(defaults: Json, item: Json) -> dict[str, Json]:
    config = dict(defaults) if isinstance(defaults, Mapping) else {}
    steps = config.get("steps", UNDEFINED)
    if isinstance(item, Mapping):
        config.update(item)
    if config.get("steps", UNDEFINED) is UNDEFINED:
        config["steps"] = steps
    return {key: value for key, value in config.items() if value is not UNDEFINED}


def _options(config: Mapping[str, Json], *keys: str) -> dict[str, Json]:
    """Return the members that are neither undefined nor null."""
    return {k: config[k] for k in keys if coalesce(config.get(k, UNDEFINED), None) is not None}


def _dimensions(trajectory: Json, config: Mapping[str, Json]) -> dict[str, Json]:
    out: dict[str, Json] = {}
    if truthy(config.get("steps", UNDEFINED)):
        out["accuracy"] = compare_trajectories(
            trajectory,
            {"steps": config["steps"]},
            _options(config, "ordering", "allowRepeatedSteps"),
        )
    if any(config.get(key, UNDEFINED) is not UNDEFINED for key in _EFFICIENCY):
        budgets = {k: config[k] for k in _EFFICIENCY[:3] if k in config}
        out["efficiency"] = check_trajectory_efficiency(
            trajectory, budgets | _options(config, "noRedundantCalls")
        )
    lists = _options(config, "blacklistedTools", "blacklistedSequences")
    if any(to_number(member(rules, "length")) > 0 for rules in lists.values()):
        out["blacklist"] = check_trajectory_blacklist(trajectory, lists)
    out["toolFailures"] = analyze_tool_failures(trajectory, _options(config, "maxRetriesPerTool"))
    return out


def _level(results: Mapping[str, Json], weights: dict[str, float]) -> float:
    """Return the weighted mean of the active dimensions of one level; 1 if none weighs."""
    active = [
        key
        for key in WEIGHTS
        if key in results and (key != "toolFailures" or results[key]["patterns"])
    ]
    whole = total(weights[key] for key in active)
    if not whole > 0:
        return 1.0
    return total(weights[key] / whole * float(results[key]["score"]) for key in active)


def _combined(
    results: Mapping[str, Json], nested: list[dict[str, Json]], weights: dict[str, float]
) -> float:
    if _violated(results) or _violated_below(nested):
        return 0.0
    level = _level(results, weights)
    if not nested:
        return level
    mean = total(float(entry["score"]) for entry in nested) / len(nested)
    return level * 0.7 + mean * 0.3


def _violated(results: Mapping[str, Json]) -> bool:
    return "blacklist" in results and results["blacklist"]["score"] == 0


def _violated_below(nested: list[dict[str, Json]]) -> bool:
    stack = list(nested)
    while stack:
        entry = stack.pop()
        if _violated(entry):
            return True
        stack.extend(entry.get("nested", []))
    return False


def _nested(trajectory: Json, expected: Json, weights: dict[str, float]) -> list[dict[str, Json]]:
    actual = elements(member(trajectory, "steps"), "steps")
    used: set[int] = set()
    entries: list[dict[str, Json]] = []
    for step in elements(expected, "steps"):
        config = member(step, "children")
        if not truthy(config):
            continue
        found = next(
            (i for i, found in enumerate(actual) if i not in used and _is_parent(found, step)),
            None,
        )
        if found is None:
            entries.append(_missing_parent(step, config))
        else:
            used.add(found)
            entries.append(_nested_entry(step, config, actual[found], weights))
    return entries


def _is_parent(actual: Json, expected: Json) -> bool:
    step_type = member(expected, "stepType")
    return same(member(actual, "name"), member(expected, "name")) and (
        not truthy(step_type) or same(member(actual, "stepType"), step_type)
    )


def _missing_parent(step: Json, config: Json) -> dict[str, Json]:
    entry: dict[str, Json] = {"stepName": member(step, "name"), "score": 0}
    steps = member(config, "steps")
    if truthy(steps) and elements(steps, "children.steps"):
        entry["accuracy"] = compare_trajectories({"steps": []}, {"steps": steps})
    return entry


def _nested_entry(
    step: Json, config: Json, actual: Json, weights: dict[str, float]
) -> dict[str, Json]:
    trajectory = {
        "steps": coalesce(member(actual, "children"), []),
        "totalDurationMs": member(actual, "durationMs"),
    }
    config = {k: v for k, v in config.items() if v is not UNDEFINED} if config else {}
    results = _dimensions(trajectory, config)
    nested = (
        _nested(trajectory, config["steps"], weights)
        if truthy(config.get("steps", UNDEFINED))
        else []
    )
    score = _combined(results, nested, weights)
    entry = {"stepName": member(step, "name"), "score": round2_bare(score), **results}
    # An own violation ends the reference's entry early, before it drops an empty list.
    if nested or _violated(results):
        entry["nested"] = nested
    return entry


def reason(results: Mapping[str, Json], score: Json) -> str:
    """Return the reason in words (ours), one line per dimension, blacklist first and alone."""
    nested = results.get("nested", [])
    lines = [f"score {score}"]
    if _violated(results):
        found = results["blacklist"]
        return "\n".join([*lines, f"forbidden: {_listed(found)}"])
    if _violated_below(nested):
        return "\n".join([*lines, "forbidden: a nested expectation's blacklist is violated"])
    if "accuracy" in results:
        part = results["accuracy"]
        lines.append(
            f"accuracy {part['score']}: "
            f"{part['matchedSteps']} of {part['totalExpectedSteps']} expected steps matched"
        )
    if "efficiency" in results:
        part = results["efficiency"]
        lines.append(f"efficiency {part['score']}: {len(part['redundantCalls'])} redundant calls")
    if results["toolFailures"]["patterns"]:
        part = results["toolFailures"]
        lines.append(f"tool failures {part['score']}: {part['totalRetries']} retries")
    lines += [f"{entry['stepName']}: {entry['score']}" for entry in nested]
    return "\n".join(lines)


def _listed(found: Mapping[str, Json]) -> str:
    sequences = [" > ".join(map(str, rule)) for rule in found["violatedSequences"]]
    return ", ".join([*map(str, found["violatedTools"]), *sequences])
