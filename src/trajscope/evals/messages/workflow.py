"""The trajectory of a workflow's step results.

One thing a newcomer would get wrong: the execution path is not the list of what ran. It names the
sequential steps only; those of branches and parallel groups are in the results alone, and stand
here at their place in time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from reprlib import repr as shown
from typing import Any, Literal, NamedTuple, overload

from trajscope.errors import UsageError
from trajscope.evals._mastra import workflow as mastra
from trajscope.evals.adapters import plain
from trajscope.evals.scorer import Compat, check_compat
from trajscope.evidence import is_bad_status
from trajscope.match.js import UNDEFINED
from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory
from trajscope.values import text_of

_INPUT = "input"
_DONE = ("success", "completed", "bailed")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@overload
def extract_workflow_trajectory(
    step_results: Any, step_execution_path: Any = ..., *, compat: None = None
) -> Trajectory: ...
@overload
def extract_workflow_trajectory(
    step_results: Any, step_execution_path: Any = ..., *, compat: Literal["mastra"]
) -> dict[str, Json]: ...
@overload
def extract_workflow_trajectory(
    step_results: Any, step_execution_path: Any = ..., *, compat: Compat | None
) -> Any: ...


def extract_workflow_trajectory(
    step_results: Any, step_execution_path: Any = UNDEFINED, *, compat: Compat | None = None
) -> Any:
    """Return the trajectory of a workflow's step results; under compat the reference's JSON.

    Steps stand in the order of `step_execution_path`, those it does not name before the first that
    began later; without a path, by their start. A step it names twice stands there twice, and one
    it names without a result has only its name. The pseudo result `input` (the workflow's input)
    is no step unless the path names it.

    Raises:
        UsageError: the results are no mapping of mappings, or the path is no list of texts.

    >>> results = {"input": {"n": 1}, "a": {"status": "failed", "error": "boom"}}
    >>> [(step.name, step.failure) for step in extract_workflow_trajectory(results).steps]
    [('a', 'boom')]
    """
    check_compat(compat)
    if compat is not None:
        return mastra.workflow_trajectory(step_results, step_execution_path)
    given = None if step_execution_path is UNDEFINED else step_execution_path
    results, path = _results(step_results), _path(given)
    runs = _ordered([_run(step_id, result) for step_id, result in results.items()], path)
    raw: dict[str, Json] = {"stepResults": plain(step_results)}
    values: dict[str, Any] = {
        "steps": tuple(_step(order, run) for order, run in enumerate(runs)),
        "raw_workflow_result": raw if path is None else {**raw, "stepExecutionPath": path},
    }
    starts = [run.start for run in runs if run.start is not None]
    if starts:
        values["start_ns"] = _nanos(min(starts))
        if all(run.end is not None for run in runs if run.start is not None):
            total = max(run.end for run in runs if run.end is not None) - min(starts)
            values |= {"total_duration_ms": total} if total >= 0 else {}
    return Trajectory.model_construct(**values)


class _Run(NamedTuple):
    """One step that ran; times in milliseconds since the epoch."""

    step_id: str
    result: Mapping[str, Json]
    start: float | None = None
    end: float | None = None


def _results(step_results: Any) -> dict[str, Mapping[str, Json]]:
    results = plain(step_results)
    if not isinstance(results, Mapping):
        raise UsageError(
            f"step results: are no mapping (got {shown(results)}); step ids with their results "
            "were expected"
        )
    for step_id, result in results.items():
        if step_id != _INPUT and result is not None and not isinstance(result, Mapping):
            raise UsageError(
                f"step {step_id!r}: is no step result (got {shown(result)}); a mapping was expected"
            )
    return {key: result for key, result in results.items() if isinstance(result, Mapping)}


def _path(path: Any) -> list[str] | None:
    if path is None:
        return None
    steps = plain(path)
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise UsageError(
            f"step execution path: is no list of step ids (got {shown(path)}); texts were expected"
        )
    return steps


def _run(step_id: str, result: Mapping[str, Json]) -> _Run:
    times = [_millis(result.get(key)) for key in ("startedAt", "endedAt")]
    return _Run(step_id, result, *times)


def _ordered(runs: list[_Run], path: Sequence[str] | None) -> list[_Run]:
    """Return the steps that ran, in order; of unknown start, behind their neighbour."""
    if path is None:
        steps = [run for run in runs if run.step_id != _INPUT]
        moments = _moments(steps)
        return [steps[i] for i in sorted(range(len(steps)), key=lambda i: moments[i])]
    by_id = {run.step_id: run for run in runs}
    listed = [by_id.get(step_id, _Run(step_id, {})) for step_id in path]
    rest = [run for run in runs if run.step_id not in path and run.step_id != _INPUT]
    for run, moment in zip(rest, _moments(rest), strict=True):
        later = (i for i, start in enumerate(_moments(listed)) if start > moment)
        listed.insert(next(later, len(listed)), run)
    return listed


def _moments(runs: Sequence[_Run]) -> list[float]:
    """Return when each step began; where that is unknown, when the one before it did."""
    moments: list[float] = []
    for run in runs:
        before = moments[-1] if moments else -math.inf
        moments.append(before if run.start is None else run.start)
    return moments


def _step(order: int, run: _Run) -> BaseStep:
    values: dict[str, Any] = {"name": run.step_id, "step_id": run.step_id, "order": order}
    result = run.result
    status = text_of(result.get("status"))
    if status:
        values["status"] = status
    if result.get("output") is not None:
        values["output"] = result["output"]
    if isinstance(result.get("metadata"), Mapping):
        values["metadata"] = dict(result["metadata"])
    if run.start is not None:
        values["start_ns"] = _nanos(run.start)
    if run.end is not None:
        values["end_ns"] = _nanos(run.end)
        if run.start is not None and run.end >= run.start:
            values["duration_ms"] = run.end - run.start
    return build_step(StepType.WORKFLOW_STEP, values | _outcome(status, result.get("error")))


def _outcome(status: str | None, error: Json) -> dict[str, Any]:
    """Return whether a step failed, as far as its status says; a suspended one has not."""
    if status in _DONE:
        return {"failed": False}
    if status is None or not is_bad_status(status):
        return {}
    message = error.get("message") if isinstance(error, Mapping) else error
    text = text_of(message)
    return {"failed": True, "failure": text} if text else {"failed": True}


def _millis(value: Json) -> float | None:
    """Return a time in milliseconds since the epoch; None when it is none."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) / timedelta(milliseconds=1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _nanos(millis: float) -> int:
    return round(millis * 1_000_000)
