"""Our values as the plain JSON values the reference works on.

One thing a newcomer would get wrong: unset stays absent. A field set to None becomes null, which
the reference does not take for undefined.
"""

from __future__ import annotations

from typing import Any

from pydantic.alias_generators import to_camel

from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.model.value import Value


def to_plain(value: Any) -> Any:
    """Return a value of the model as plain JSON with the reference's keys; others as they are.

    Steps are turned from a stack, since a trajectory may be deeper than the interpreter's.

    >>> to_plain(Trajectory.model_validate({"steps": [{"stepType": "tool_call", "name": "a"}]}))
    {'steps': [{'stepType': 'tool_call', 'name': 'a'}]}
    """
    if isinstance(value, Trajectory):
        plain = _fields(value)
        plain["steps"] = _steps(value.steps)
        return plain
    if isinstance(value, Value):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple) and any(isinstance(item, Value) for item in value):
        return [to_plain(item) for item in value]
    return value


def _steps(steps: tuple[BaseStep, ...]) -> list[dict[str, Any]]:
    top: list[dict[str, Any]] = []
    todo = [(steps, top)]
    while todo:
        source, target = todo.pop()
        for step in source:
            plain = _fields(step)
            target.append(plain)
            if step.children:
                plain["children"] = []
                todo.append((step.children, plain["children"]))
    return top


def _fields(value: BaseStep | Trajectory) -> dict[str, Any]:
    """Return the set fields but steps and children."""
    skipped = ("steps", "children", "root", "repairs")
    return {
        to_camel(name): _json(getattr(value, name))
        for name in type(value).model_fields
        if name in value.model_fields_set and name not in skipped
    }


def _json(value: Any) -> Any:
    if isinstance(value, Value):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value
