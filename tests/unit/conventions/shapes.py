"""Spans of one attribute set each, read and assembled: what the tests of conventions share."""

from collections.abc import Sequence
from typing import Any

from tests.support.spans import span
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.reading import Reading
from trajscope.model.span import Json, Span, SpanEvent
from trajscope.model.step import BaseStep, ToolStep
from trajscope.model.trajectory import Trajectory

READ = Reader()


def read(attributes: dict[str, Json], name: str = "", scope: str = "", **fields: Any) -> Reading:
    """Return the reading of one ended span."""
    return READ(span(1, name=name, scope_name=scope, attributes=attributes, **fields))


def event(name: str, **attributes: Json) -> SpanEvent:
    """Return a span event; `__` in a name stands for a dot."""
    return SpanEvent(name, 0, {k.replace("__", "."): v for k, v in attributes.items()})


def trajectory(spans: Sequence[Span]) -> Trajectory:
    """Return the one trajectory of `spans`."""
    (found,) = assemble(spans, READ)
    return found


def tool_calls(found: Trajectory) -> list[ToolStep]:
    """Return the tool calls in their order."""
    steps = [s for s in found.walk() if isinstance(s, ToolStep)]
    return sorted(steps, key=lambda s: s.order or 0)


def kinds(found: Trajectory) -> list[tuple[str, str]]:
    """Return type and name of every step, depth first."""
    return [(str(s.step_type), s.name) for s in found.walk()]


def only(found: Trajectory, step_type: type[BaseStep]) -> BaseStep:
    """Return the one step of a class."""
    (step,) = (s for s in found.walk() if isinstance(s, step_type))
    return step
