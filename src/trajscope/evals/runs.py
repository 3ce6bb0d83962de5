"""Runs to try scorers on, without an agent: `create_trajectory_test_run`.

One thing a newcomer would get wrong: a run's `output` is the trajectory itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as shown
from typing import Any
from uuid import uuid4

from trajscope.errors import UsageError
from trajscope.evals.scorer import Compat, check_compat

_INPUT = ("inputMessages", "rememberedMessages", "systemMessages", "taggedSystemMessages")
_TRAJECTORY = {"output": "trajectory", "expectedTrajectory": "expectedTrajectory"}


def create_trajectory_test_run(
    trajectory: Any = None,
    /,
    *,
    expected_trajectory: Any = None,
    input_messages: Sequence[Any] = (),
    run_id: str | None = None,
    compat: Compat | None = None,
) -> dict[str, Any]:
    """Return a run whose output is `trajectory`, ready for a scorer's `run`.

    By default the keys are snake_case and the trajectory is the first argument. Under
    `compat="mastra"` the first argument is the reference's single mapping (`trajectory`,
    `expectedTrajectory`, `inputMessages`, …) and the keys are the reference's.

    Raises:
        UsageError: under compat, the first argument is no mapping.
    """
    check_compat(compat)
    if compat is not None:
        return reference_run(trajectory, _TRAJECTORY)
    run: dict[str, Any] = {
        "input": {"input_messages": list(input_messages)},
        "output": trajectory,
        "run_id": run_id or str(uuid4()),
    }
    if expected_trajectory is not None:
        run["expected_trajectory"] = expected_trajectory
    return run


def reference_run(members: Any, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the reference's run; defaults stand for absent members only, never for null.

    outputs: which further members it has, and what they are called in `members`.

    Raises:
        UsageError: `members` is no mapping.
    """
    if not isinstance(members, Mapping):
        raise UsageError(f"the run is no mapping (got {shown(members)}); an object was expected")
    empty: dict[str, Any] = {**{key: [] for key in _INPUT[:3]}, "taggedSystemMessages": {}}
    run: dict[str, Any] = {"input": {key: members.get(key, empty[key]) for key in _INPUT}}
    for ours, theirs in outputs.items():
        if theirs in members:
            run[ours] = members[theirs]
    run["requestContext"] = members.get("requestContext", {})
    run["runId"] = members.get("runId", str(uuid4()))
    return run
