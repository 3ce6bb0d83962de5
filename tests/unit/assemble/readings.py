"""Spans with a reading each, so that assembly is tested without any convention."""

from collections.abc import Callable, Iterable
from typing import Any

from trajscope.assemble import assemble
from trajscope.model.reading import Reading, StepType, ToolRequest, ToolResponse, Usage
from trajscope.model.span import Span
from trajscope.model.step import BaseStep, ToolStep
from trajscope.model.trajectory import Trajectory

Pair = tuple[Span, Reading]
T = StepType


def at(
    span_id: str,
    parent: str | None = None,
    start: int | None = 0,
    end: int | None = None,
    *,
    trace: str = "t1",
    name: str = "",
    **reading: Any,
) -> Pair:
    """A span with its reading; `kind` is the step type (None: noise), `name` also its label."""
    kind = reading.pop("kind", None)
    last = start + 1 if end is None and start is not None else end
    span = Span(
        trace_id=trace,
        span_id=span_id,
        parent_span_id=parent,
        name=name or span_id,
        start_ns=start,
        end_ns=None if end == -1 else last,
    )
    model = kind is T.MODEL_GENERATION
    known = {"name": name or span_id, "step_type": kind, "is_model_call": model, **reading}
    return span, Reading(**known)


def tool(span_id: str, parent: str | None = None, start: int = 0, **more: Any) -> Pair:
    return at(span_id, parent, start, kind=T.TOOL_CALL, **more)


def model(span_id: str, parent: str | None = None, start: int = 0, **more: Any) -> Pair:
    return at(span_id, parent, start, kind=T.MODEL_GENERATION, **more)


def agent(span_id: str, parent: str | None = None, start: int = 0, **more: Any) -> Pair:
    more.setdefault("agent_name", more.get("name") or span_id)
    return at(span_id, parent, start, kind=T.AGENT_RUN, **more)


def noise(span_id: str, parent: str | None = None, start: int = 0, **more: Any) -> Pair:
    return at(span_id, parent, start, **more)


def asks(name: str, call_id: str | None = None, **args: Any) -> ToolRequest:
    return ToolRequest(name, call_id, args)


def answers(call_id: str, result: Any, **more: Any) -> ToolResponse:
    return ToolResponse(call_id, None, result, **more)


def used(input_: int | None, output: int | None, cached: int | None = None) -> Usage:
    return Usage(input_, output, cached)


def assembled(pairs: Iterable[Pair]) -> list[Trajectory]:
    known = {(s.trace_id, s.span_id): r for s, r in pairs}
    read: Callable[[Span], Reading] = lambda s: known[s.trace_id, s.span_id]  # noqa: E731
    return assemble([s for s, _ in pairs], read)


def only(pairs: list[Pair]) -> Trajectory:
    (trajectory,) = assembled(pairs)
    return trajectory


def tools(trajectory: Trajectory) -> list[ToolStep]:
    found = [s for s in trajectory.walk() if isinstance(s, ToolStep)]
    return sorted(found, key=lambda s: s.order or 0)


def shape(steps: Iterable[BaseStep]) -> list[Any]:
    """Names, nested: ["a", ["b", "c"]] is a with children b and c."""
    out: list[Any] = []
    for step in steps:
        out.append(step.name)
        if step.children:
            out.append(shape(step.children))
    return out
