"""Short ways to write trajectories."""

from typing import Any

from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory


def step(
    name: str,
    start: int | None = None,
    end: int | None = None,
    *children: BaseStep,
    kind: StepType = StepType.TOOL_CALL,
    **fields: Any,
) -> BaseStep:
    """A step whose span id is its name."""
    values = {"name": name, "span_id": name, "start_ns": start, "end_ns": end, **fields}
    return build_step(kind, {**values, "children": children})


def run(*steps: BaseStep, root: BaseStep | None = None, **fields: Any) -> Trajectory:
    values: dict[str, Any] = {"steps": steps, "root": root, **fields}
    return Trajectory.model_construct(**values)
