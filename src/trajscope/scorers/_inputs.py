"""What the public functions take, turned into the values the scorers work on, or refused.

One thing a newcomer would get wrong: `None` for an option means "not given" here. Only under
`compat="mastra"` is a None that was passed told from an option that was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from trajscope.documents import show_keys, usage_error
from trajscope.errors import Location, UsageError
from trajscope.evals.expectations import pattern_paths
from trajscope.evals.messages import extract_trajectory
from trajscope.evals.scorer import check_compat
from trajscope.match import compile_pattern, literal_pattern
from trajscope.model.expectation import ExpectedStep, TrajectoryExpectation, Weights
from trajscope.model.span import Json
from trajscope.model.step import BaseStep, ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.model.value import Value
from trajscope.scope import select_steps

V = TypeVar("V", bound=Value)

TrajectoryLike = Trajectory | Mapping[str, Json]
"""A trajectory, or its JSON in camelCase or snake_case."""
ExpectationLike = TrajectoryExpectation | Trajectory | Mapping[str, Json] | Sequence[Any]
"""An expectation, its JSON, a list of expected steps, or a recorded trajectory to be like."""

_IDENTITY = ("step_id", "agent_id", "workflow_id", "processor_id", "mcp_server")


def to_trajectory(value: TrajectoryLike | None) -> Trajectory:
    """Return the value as a trajectory.

    Raises:
        UsageError: it is none.
    """
    if isinstance(value, Trajectory):
        return value
    return _validated(Trajectory, value, "trajectory")


def to_expectation(value: ExpectationLike | None, **options: Json) -> TrajectoryExpectation:
    """Return the value as an expectation, options that are not None put over it.

    Raises:
        UsageError: the value or an option is none.
    """
    if isinstance(value, Trajectory):
        value = TrajectoryExpectation(steps=tuple(map(_like, select_steps(value, "tree"))))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        steps = [s.model_dump(exclude_unset=True) if isinstance(s, Value) else s for s in value]
        value = {"steps": steps}
    given = {k: v for k, v in options.items() if v is not None and v is not UNSET}
    if isinstance(value, TrajectoryExpectation):
        expectation = value
    else:
        expectation = _validated(TrajectoryExpectation, value or {}, "expectation")
    if given:
        checked = _validated(TrajectoryExpectation, given, "")
        changed = {name: getattr(checked, name) for name in given}
        expectation = expectation.model_copy(update=changed)
    return expectation


def _like(step: BaseStep) -> ExpectedStep:
    """Return what makes a recorded step the one it is: name, type, ids and arguments.

    What it took and what came out (durations, tokens, results, outcome) differs from run to run.
    """
    fields: dict[str, Any] = {"name": literal_pattern(step.name), "step_type": step.step_type}
    fields |= {k: getattr(step, k) for k in _IDENTITY if getattr(step, k, None) is not None}
    if isinstance(step, ToolStep) and step.tool_args is not None:
        fields["tool_args"] = step.tool_args
    return ExpectedStep.model_construct(set(fields), **fields)


def _validated(model: type[V], value: Any, what: str) -> V:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        refused = usage_error(error, model)
        if refused.at is None or not refused.at.key:
            refused.at = Location(key=what or None)
        raise refused from error
    except RecursionError as error:
        raise UsageError(f"{what}: is nested too deeply to be read") from error


def check_patterns(expectation: TrajectoryExpectation) -> None:
    """Refuse an expectation with a malformed name pattern or regular expression.

    Raises:
        UsageError: with the key of the pattern in its location.
    """
    for path, pattern in pattern_paths(expectation):
        try:
            compile_pattern(pattern)
        except UsageError as error:
            error.at = Location(key=show_keys(path))
            raise


def reference_options(**options: Json) -> dict[str, Json]:
    """Return the options that were passed, null included, under the reference's names."""
    return {to_camel(k): v for k, v in options.items() if v is not UNSET}


def is_compat(compat: str | None) -> bool:
    """Return whether the reference's behaviour was asked for.

    Raises:
        UsageError: another one was.
    """
    check_compat(compat)
    return compat is not None


def to_weights(value: Weights | Mapping[str, Json] | UnsetType | None) -> Weights:
    """Return the weights, defaults for those not given.

    Raises:
        UsageError: one is unknown, negative or no finite number, or all are 0.
    """
    if value is None or value is UNSET:
        return Weights()
    weights = value if isinstance(value, Weights) else _validated(Weights, value, "weights")
    if not any((weights.accuracy, weights.efficiency, weights.tool_failures, weights.blacklist)):
        raise UsageError("is 0 for every dimension; one must weigh", at=Location(key="weights"))
    return weights


def output_trajectory(output: Any) -> Trajectory | None:
    """Return the trajectory of a run's output, be it messages or a trajectory; None for nothing.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(output, Trajectory):
        return output
    if isinstance(output, dict) and "steps" in output:
        return Trajectory.model_validate(output)
    if output is None or output == [] or output == {}:
        return None
    return extract_trajectory(output)
