"""The trajectory of a workflow's step results as the reference makes it.

One thing a newcomer would get wrong: an execution path alone decides which steps there are. Steps
of branches are not listed there and are lost; names every JavaScript object has ("toString") are
found although nobody put them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from trajscope.evals._mastra.tools import put_boxed
from trajscope.match.js import (
    UNDEFINED,
    MalformedValue,
    elements,
    member,
    ordered_keys,
    plain,
    to_number,
    truthy,
)

Json = Any
_INHERITED = frozenset(
    {
        "constructor",
        "toString",
        "toLocaleString",
        "valueOf",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    }
)
"""What looking up a step by these names finds on any object: something without fields."""


def workflow_trajectory(results: Json, path: Json = UNDEFINED) -> dict[str, Json]:
    """Return the trajectory JSON of step results, in the order of `path` or of the keys.

    Raises:
        MalformedValue: the results are no object, the path no list, or a result is a bare value.
    """
    steps: list[dict[str, Json]] = []
    starts: list[float] = []
    ends: list[float] = []
    for step_id in _ids(results, path):
        result = _result(results, step_id)
        if not truthy(result):
            continue
        if not isinstance(result, Mapping | list):
            raise MalformedValue(f"step {shown(step_id)}: is no result (got {shown(result)})")
        start, end = _time(result, "startedAt"), _time(result, "endedAt")
        starts += [] if start is None else [start]
        ends += [] if end is None else [end]
        steps.append(_step(step_id, result, start, end))
    raw: dict[str, Json] = {"stepResults": results}
    if path is not UNDEFINED:
        raw["stepExecutionPath"] = path
    trajectory: dict[str, Json] = {"steps": steps, "rawWorkflowResult": raw}
    if starts and ends:
        trajectory["totalDurationMs"] = plain(max(ends) - min(starts))
    return trajectory


def _ids(results: Json, path: Json) -> list[Json]:
    if path is not None and path is not UNDEFINED:
        return elements(path, "stepExecutionPath")
    if isinstance(results, Mapping):
        return list(ordered_keys(results))
    if isinstance(results, list):
        return [str(index) for index in range(len(results))]
    raise MalformedValue(f"the step results are no object (got {shown(results)})")


def _result(results: Json, step_id: Json) -> Json:
    key = step_id if isinstance(step_id, str) else _key_text(step_id)
    if isinstance(results, list):
        results = {str(index): result for index, result in enumerate(results)}
    found = member(results, key)
    return {} if found is UNDEFINED and key in _INHERITED else found


def _key_text(value: Json) -> str:
    words = {None: "null", UNDEFINED: "undefined", True: "true", False: "false"}
    if value is None or value is UNDEFINED or isinstance(value, bool):
        return words[value]
    return str(plain(value)) if isinstance(value, float) else str(value)


def _time(result: Json, key: str) -> float | None:
    value = result.get(key) if isinstance(result, Mapping) else None
    return None if value is None else to_number(value)


def _step(step_id: Json, result: Json, start: float | None, end: float | None) -> dict[str, Json]:
    step = {"stepType": "workflow_step", "name": step_id, "stepId": step_id}
    fields = result if isinstance(result, Mapping) else {}
    if "status" in fields:
        step["status"] = fields["status"]
    put_boxed(step, "output", fields.get("output"))
    if start is not None and end is not None:
        step["durationMs"] = plain(end - start)
    if "metadata" in fields:
        step["metadata"] = fields["metadata"]
    return step
