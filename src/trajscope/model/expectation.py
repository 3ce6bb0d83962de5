"""What the user says should hold: the reference's TrajectoryExpectation, plus selectors.

One thing a newcomer would get wrong: a data field on an expected step counts when it is *set*
(`model_fields_set`), so an explicit null is compared and an absent one is not.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.model.step import Value

Ordering = Literal["strict", "relaxed", "unordered"]
Scope = Literal["auto", "tools", "tree", "top", "agent", "session"]
ArgsMode = Literal["exact", "subset", "superset", "ignore"]


class ExpectedStep(Value):
    """One step that should occur. Fields of the step type compare when they are present.

    args_mode: how `tool_args` compare; default exact. args_match: per key, overriding the mode:
    {"regex": …}, {"tolerance": …}, {"any": true}.
    """

    model_config = ConfigDict(extra="allow")

    name: str
    step_type: StepType | None = None
    children: TrajectoryExpectation | None = None
    args_mode: ArgsMode | None = None
    args_match: dict[str, Json] | None = None


class TrajectoryExpectation(Value):
    """The reference's fields, all optional; `scope` and `args_mode` are ours."""

    model_config = ConfigDict(extra="forbid")

    steps: tuple[ExpectedStep, ...] | None = None
    ordering: Ordering | None = None
    allow_repeated_steps: bool | None = None
    max_steps: float | None = None
    max_total_tokens: float | None = None
    max_total_duration_ms: float | None = None
    no_redundant_calls: bool | None = None
    blacklisted_tools: tuple[str, ...] | None = None
    blacklisted_sequences: tuple[tuple[str, ...], ...] | None = None
    max_retries_per_tool: float | None = None
    scope: Scope | None = None
    args_mode: ArgsMode | None = None


class TimeRange(Value):
    """Traces that started in [since, until): ISO 8601 text or nanoseconds, as given."""

    since: str | int | None = None
    until: str | int | None = None


class Selector(Value):
    """Which traces an expectation is for; every field that is set must hold.

    Texts are names or globs. attributes: equal on any span of the trace.
    """

    model_config = ConfigDict(extra="forbid")

    trace_id: str | tuple[str, ...] | None = None
    session_id: str | None = None
    agent: str | None = None
    root_name: str | None = None
    service: str | None = None
    attributes: dict[str, Json] | None = None
    time: TimeRange | None = None


class NamedExpectation(Value):
    """One entry of an expectation file: a name, the traces it is for, and what should hold."""

    model_config = ConfigDict(extra="forbid")

    name: str
    select: Selector = Field(default_factory=Selector)
    expect: TrajectoryExpectation


ExpectedStep.model_rebuild()
