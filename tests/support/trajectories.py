"""Trajectories for tests: small factories for one by hand, hypothesis strategies for many.

One thing a newcomer would get wrong: strategies draw names out of four and arguments out of five
(one of them not recorded), so repeats, retries and unknown pairs are the common case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.model.expectation import ArgsMode, ExpectedStep, TrajectoryExpectation
from trajscope.model.span import Span
from trajscope.model.step import (
    AgentRunStep,
    BaseStep,
    McpToolCallStep,
    ModelGenerationStep,
    ToolCallStep,
    WorkflowStepStep,
)
from trajscope.model.trajectory import Trajectory
from trajscope.otlp import Report, records_from_json

NAMES = ("a", "b", "c", "d")
ARGS: tuple[Any, ...] = ({}, {"q": 1}, {"q": 1.0, "n": [1, {"x": None}]}, {"q": True}, None)


def tool(name: str, ok: bool | None = True, **fields: Any) -> ToolCallStep:
    """Return a tool call; arguments and times by keyword."""
    return ToolCallStep(name=name, success=ok, **fields)


def agent(name: str, *children: BaseStep, **fields: Any) -> AgentRunStep:
    """Return an agent run with children."""
    return AgentRunStep(name=name, children=children, **fields)


def model(*children: BaseStep, **fields: Any) -> ModelGenerationStep:
    """Return a model generation with children."""
    return ModelGenerationStep(name="model", children=children, **fields)


def trajectory(*steps: BaseStep, **fields: Any) -> Trajectory:
    """Return a hand-written trajectory."""
    return Trajectory(steps=steps, **fields)


def recorded_spans(path: Path) -> list[Span]:
    """Return the spans of an OTLP JSON file."""
    records = records_from_json(path.read_bytes(), Report(Problems(strict=True)))
    return [record for record in records if isinstance(record, Span)]


def assembled(spans: Iterable[Span]) -> dict[str, Trajectory]:
    """Return the trajectories of spans by trace id."""
    return {str(t.trace_id): t for t in assemble(spans, Reader())}


def recorded(path: Path) -> dict[str, Trajectory]:
    """Return the trajectories of an OTLP JSON file by trace id."""
    return assembled(recorded_spans(path))


names = st.sampled_from(NAMES)
arguments = st.sampled_from(ARGS)


@st.composite
def tool_steps(draw: st.DrawFn) -> BaseStep:
    """A tool call of a few names, with arguments and outcome that may be unknown."""
    fields: dict[str, Any] = {
        "name": draw(names),
        "success": draw(st.sampled_from([True, True, False, None])),
        "executed": draw(st.sampled_from([True, True, True, False])),
    }
    args = draw(arguments)
    if args is not None:
        fields["tool_args"] = args
    mcp = draw(st.booleans())
    return McpToolCallStep(**fields) if mcp else ToolCallStep(**fields)


def other_steps(children: st.SearchStrategy[Any]) -> st.SearchStrategy[BaseStep]:
    """A step that is no tool, with children."""
    below = st.lists(children, max_size=4).map(tuple)
    return st.one_of(
        st.builds(AgentRunStep, name=names, children=below),
        st.builds(
            ModelGenerationStep,
            name=st.just("m"),
            children=below,
            prompt_tokens=st.none() | st.integers(0, 9),
            completion_tokens=st.none() | st.integers(0, 9),
        ),
        st.builds(WorkflowStepStep, name=names, children=below),
    )


steps = st.recursive(tool_steps(), other_steps, max_leaves=10)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """A trajectory of up to eight top-level steps, nested; totals may be unknown."""
    fields: dict[str, Any] = {"steps": tuple(draw(st.lists(steps, max_size=8)))}
    if draw(st.booleans()):
        fields["total_duration_ms"] = draw(st.floats(0, 1e6))
    if draw(st.booleans()):
        fields["root"] = AgentRunStep(name="boss", span_id="root")
    return Trajectory(**fields)


@st.composite
def expected_steps(draw: st.DrawFn) -> ExpectedStep:
    """An expected step: a name or a glob, perhaps a type, perhaps arguments."""
    fields: dict[str, Any] = {"name": draw(names | st.sampled_from(["*", "[ab]", "re:c|d"]))}
    if draw(st.booleans()):
        fields["step_type"] = draw(st.sampled_from(["tool_call", "mcp_tool_call"]))
    args = draw(arguments)
    if args is not None and draw(st.booleans()):
        fields["tool_args"] = args
        fields["args_mode"] = draw(st.sampled_from(["exact", "subset", "superset", "ignore"]))
    return ExpectedStep(**fields)


@st.composite
def expectations(
    draw: st.DrawFn,
    named: st.SearchStrategy[str] = names,
    steps: st.SearchStrategy[ExpectedStep] | None = None,
    limits: st.SearchStrategy[float] | None = None,
    args_modes: Sequence[ArgsMode | None] = (None,),
) -> TrajectoryExpectation:
    """An expectation with any of its parts; named: what it forbids, limits: its budgets."""
    step = expected_steps() if steps is None else steps
    limit = st.none() | (st.floats(0, 50) if limits is None else limits)
    sequence = st.lists(named, min_size=1, max_size=3).map(tuple)
    return TrajectoryExpectation(
        steps=draw(st.none() | st.lists(step, max_size=5).map(tuple)),
        ordering=draw(st.sampled_from([None, "strict", "relaxed", "unordered"])),
        allow_repeated_steps=draw(st.sampled_from([None, True, False])),
        max_steps=draw(limit),
        max_total_tokens=draw(limit),
        max_total_duration_ms=draw(limit),
        no_redundant_calls=draw(st.sampled_from([None, True, False])),
        blacklisted_tools=draw(st.none() | st.lists(named, max_size=3).map(tuple)),
        blacklisted_sequences=draw(st.none() | st.lists(sequence, max_size=2).map(tuple)),
        max_retries_per_tool=draw(st.sampled_from([None, 0, 0.5, 1, 2, 3])),
        scope=draw(st.sampled_from([None, "auto", "tools", "tree", "top", "agent", "session"])),
        args_mode=draw(st.sampled_from(args_modes)),
    )
