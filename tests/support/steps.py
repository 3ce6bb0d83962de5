"""What spans become, as lines of text: the shortest way to say a whole tree in a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from tests.support.spans import open_span
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Json, LogRecord, Span
from trajscope.model.step import BaseStep, ToolStep
from trajscope.model.trajectory import Trajectory

MARKS = {True: "ok", False: "failed", None: "unknown"}


def become(*spans: Span, logs: Iterable[LogRecord] = ()) -> list[str]:
    """Return every step of all traces, indented by depth: type, name, and how a call ended."""
    return [line for t in assemble(spans, Reader(), logs) for line in _trajectory(t)]


def tools(*spans: Span, logs: Iterable[LogRecord] = ()) -> list[ToolStep]:
    """Return the tool calls of all traces, in order."""
    return [
        step
        for t in assemble(spans, Reader(), logs)
        for step in sorted(t.walk(), key=lambda s: s.order or 0)
        if isinstance(step, ToolStep)
    ]


def _trajectory(found: Trajectory) -> Iterator[str]:
    if found.root is None:
        yield from _lines(found.steps, 0)
    else:
        yield from _lines((found.root,), 0)
        yield from _lines(found.steps, 1)


def _lines(steps: Iterable[BaseStep], depth: int) -> Iterator[str]:
    for step in steps:
        ended = f" {MARKS[step.success]}" if isinstance(step, ToolStep) else ""
        yield f"{'  ' * depth}{step.step_type} {step.name}{ended}"
        yield from _lines(step.children, depth + 1)


class Record(Protocol):
    """Makes a span of one instrumentation."""

    def __call__(
        self, id: int, name: str, parent: int | None = None, /, **attributes: Any
    ) -> Span: ...


def recorder(scope: str, **resource: Json) -> Record:
    """Return a maker of spans of one instrumentation: `record(2, "name", 1, **{"key": value})`.

    A span starts at its id and ends ten later, so trees read as numbers. Names of span fields
    (`start_ns`, `status_code`, `events`, …) set these; all others are attributes.
    """

    def record(id: int, name: str, parent: int | None = None, /, **attributes: Any) -> Span:
        given = {k: attributes.pop(k) for k in _FIELDS & attributes.keys()}
        start, end = given.pop("start_ns", id), given.pop("end_ns", id + 10)
        more = {"scope_name": scope, "resource": resource, "attributes": attributes, **given}
        return open_span(id, parent, start, end_ns=end, name=name, **more)

    return record


_FIELDS = frozenset({"start_ns", "end_ns", "status_code", "status_message", "events", "trace_id"})
