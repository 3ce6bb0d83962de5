"""Trajectories from a workflow's step results: where the default differs from the reference."""

from __future__ import annotations

from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.evals.messages import extract_workflow_trajectory
from trajscope.model.step import WorkflowStepStep

LIVE = {
    "input": {"city": "Faro"},
    "fetch": {"status": "success", "output": {"t": 18}, "startedAt": 1000, "endedAt": 1005},
    "left": {"status": "success", "startedAt": 1006, "endedAt": 1009},
    "right": {"status": "failed", "error": {"message": "boom"}, "startedAt": 1006, "endedAt": 1008},
    "join": {"status": "success", "startedAt": 1010, "endedAt": 1020},
}


def names(results: Any, path: Any = None) -> list[str]:
    return [step.name for step in extract_workflow_trajectory(results, path).steps]


def test_parallel_steps_stand_between_the_steps_of_the_path() -> None:
    assert names(LIVE, ["fetch", "join"]) == ["fetch", "left", "right", "join"]
    reference = extract_workflow_trajectory(LIVE, ["fetch", "join"], compat="mastra")
    assert [step["name"] for step in reference["steps"]] == ["fetch", "join"]


def test_the_input_is_no_step() -> None:
    assert names(LIVE) == ["fetch", "left", "right", "join"]
    assert names({"input": "Faro"}) == []
    assert names({"input": {"status": "success"}}, ["input"]) == ["input"]


def test_without_a_path_the_start_decides() -> None:
    assert names(dict(reversed(LIVE.items()))) == ["fetch", "right", "left", "join"]


def test_a_step_of_unknown_start_stays_behind_its_neighbour() -> None:
    assert names({"b": {"startedAt": 9}, "c": {}, "a": {"startedAt": 1}}) == ["a", "b", "c"]


def test_a_path_may_repeat_a_step_and_name_one_without_result() -> None:
    assert names(LIVE, ["fetch", "fetch", "ghost", "join"]) == [
        "fetch",
        "fetch",
        "ghost",
        "left",
        "right",
        "join",
    ]


def test_outcomes() -> None:
    results = {
        "a": {"status": "failed", "error": "boom"},
        "b": {"status": "suspended", "startedAt": 5},
        "c": {"status": "success"},
        "d": {"status": "skipped"},
        "e": {},
    }
    found = extract_workflow_trajectory(results).steps
    assert [(s.failed, s.failure) for s in found] == [
        (True, "boom"),
        (None, None),
        (False, None),
        (None, None),
        (None, None),
    ]
    assert isinstance(found[1], WorkflowStepStep)
    assert found[1].status == "suspended"


def test_times_and_totals() -> None:
    trajectory = extract_workflow_trajectory(LIVE)
    first = trajectory.steps[0]
    assert (first.duration_ms, first.start_ns, first.end_ns) == (5, 1_000_000_000, 1_005_000_000)
    assert trajectory.total_duration_ms == 20
    iso = {"a": {"startedAt": "2026-01-01T00:00:00Z", "endedAt": "2026-01-01T00:00:00.250+00:00"}}
    assert extract_workflow_trajectory(iso).total_duration_ms == 250


@pytest.mark.parametrize(
    "result",
    [{"startedAt": 10}, {"startedAt": 10, "endedAt": 3}, {"endedAt": 3}, {"startedAt": "soon"}],
)
def test_durations_that_are_not_known(result: dict[str, Any]) -> None:
    trajectory = extract_workflow_trajectory({"a": result})
    assert trajectory.total_duration_ms is None
    assert trajectory.steps[0].duration_ms is None


def test_outputs_are_as_they_are() -> None:
    (step,) = extract_workflow_trajectory({"a": {"output": 0, "metadata": {"m": 1}}}).steps
    assert isinstance(step, WorkflowStepStep)
    assert step.output == 0
    assert step.metadata == {"m": 1}


@pytest.mark.parametrize(
    ("results", "path", "message"),
    [
        (None, None, "step results: are no mapping"),
        ([], None, "step results: are no mapping"),
        ({"a": 5}, None, "step 'a': is no step result"),
        ({}, "a", "step execution path: is no list"),
        ({}, [1], "step execution path: is no list"),
    ],
)
def test_malformed(results: Any, path: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        extract_workflow_trajectory(results, path)


def test_no_result_is_no_run() -> None:
    assert names({"a": None, "b": {}}) == ["b"]
