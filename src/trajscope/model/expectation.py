"""What the user says should hold: the reference's TrajectoryExpectation, plus selectors.

One thing a newcomer would get wrong: a data field on an expected step counts when it is *set*
(`model_fields_set`), so an explicit null is compared and an absent one is not.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import (
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.model.step import STEP_CLASSES
from trajscope.model.value import Value

Ordering = Literal["strict", "relaxed", "unordered"]
Scope = Literal["auto", "tools", "tree", "top", "agent", "session"]
ArgsMode = Literal["exact", "subset", "superset", "ignore"]

Limit = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
"""A budget: a finite number of at least 0."""
Name = Annotated[str, Field(strict=True, min_length=1)]
"""A name, a glob (`delete_*`) or a regular expression (`re:delete_.+`)."""


class ArgMatcher(Value):
    """How one argument compares; exactly one of the three is set.

    regex: the whole text must match. tolerance: how far a number may lie from the expected one.
    any: the argument must be there, whatever its value.
    """

    model_config = ConfigDict(extra="forbid")

    regex: StrictStr | None = None
    tolerance: Limit | None = None
    any: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> ArgMatcher:
        if sum(getattr(self, name) is not None for name in ("regex", "tolerance", "any")) != 1:
            raise PydanticCustomError(
                "one_comparator", "exactly one of regex, tolerance and any: true was expected"
            )
        return self


class ExpectedStep(Value):
    """One step that should occur. Data fields of the step type compare when they are set.

    args_mode: how `tool_args` compare; default the expectation's, else exact. args_match: per
    argument, overriding the mode; keys are argument names, or dotted paths into nested objects.
    children: what should hold of the steps below the step that matches this one.
    duration_ms and metadata are taken, so that a recorded step can be pasted, and never compared.
    """

    model_config = ConfigDict(extra="forbid")

    name: Name
    step_type: StepType | None = None
    children: TrajectoryExpectation | None = None
    args_mode: ArgsMode | None = None
    args_match: dict[str, ArgMatcher] | None = None

    tool_args: Json = None
    tool_result: Json = None
    success: Json = None
    mcp_server: Json = None
    model_id: Json = None
    prompt_tokens: Json = None
    completion_tokens: Json = None
    finish_reason: Json = None
    agent_id: Json = None
    workflow_id: Json = None
    status: Json = None
    step_id: Json = None
    output: Json = None
    condition_count: Json = None
    selected_steps: Json = None
    branch_count: Json = None
    parallel_steps: Json = None
    loop_type: Json = None
    total_iterations: Json = None
    sleep_duration_ms: Json = None
    sleep_type: Json = None
    event_name: Json = None
    event_received: Json = None
    processor_id: Json = None
    query: Json = None
    triggered: Json = None
    from_agent: Json = None
    to_agent: Json = None

    duration_ms: Json = None
    metadata: Json = None

    @property
    def data(self) -> dict[str, Json]:
        """The data fields that are set, by snake_case name."""
        return {name: getattr(self, name) for name in sorted(self._set_data())}

    def _set_data(self) -> set[str]:
        return self.model_fields_set - _NO_DATA

    @field_validator("step_type", mode="before")
    @classmethod
    def _any_case(cls, value: Json) -> Json:
        return value.lower() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_its_type(self) -> ExpectedStep:
        if self.step_type is not None:
            fields = STEP_CLASSES[self.step_type].model_fields
            for name in sorted(self._set_data() - set(fields)):
                raise PydanticCustomError(
                    "no_such_field",
                    "a step of type {step_type} has no such field",
                    {"field": to_camel(name), "step_type": self.step_type.value},
                )
        for key, matcher in (self.args_match or {}).items():
            if matcher.tolerance is not None and not _is_number(at_path(self.tool_args, key)):
                raise PydanticCustomError(
                    "tolerance_without_number",
                    "a tolerance needs a number for {argument} in toolArgs",
                    {"argument": key, "field": "argsMatch"},
                )
        return self


_NO_DATA = frozenset(
    {"name", "step_type", "children", "args_mode", "args_match", "duration_ms", "metadata"}
)


def at_path(value: Json, path: str) -> Json:
    """Return what lies at a dotted path of an object; a key that is the whole path wins.

    >>> at_path({"a": {"b": 1}}, "a.b"), at_path({"a.b": 2}, "a.b"), at_path({}, "a")
    (1, 2, None)
    """
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    return at_path(value.get(head), rest) if dot else None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class TrajectoryExpectation(Value):
    """The reference's fields, all optional; `scope` and `args_mode` are ours."""

    model_config = ConfigDict(extra="forbid")

    steps: tuple[ExpectedStep, ...] | None = None
    ordering: Ordering | None = None
    allow_repeated_steps: StrictBool | None = None
    max_steps: Limit | None = None
    max_total_tokens: Limit | None = None
    max_total_duration_ms: Limit | None = None
    no_redundant_calls: StrictBool | None = None
    blacklisted_tools: tuple[Name, ...] | None = None
    blacklisted_sequences: tuple[Annotated[tuple[Name, ...], Field(min_length=1)], ...] | None = (
        None
    )
    max_retries_per_tool: Limit | None = None
    scope: Scope | None = None
    args_mode: ArgsMode | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether no field that could hold or not hold is set."""
        checked = set(type(self).model_fields) - {"scope", "args_mode", "ordering"}
        return all(getattr(self, name) is None for name in checked)


class TimeRange(Value):
    """Traces that started in [since, until): ISO 8601 text (UTC if it names no zone) or ns."""

    model_config = ConfigDict(extra="forbid")

    since: StrictStr | StrictInt | None = None
    until: StrictStr | StrictInt | None = None

    @field_validator("since", "until")
    @classmethod
    def _is_time(cls, value: str | int | None) -> str | int | None:
        if isinstance(value, str):
            try:
                datetime.fromisoformat(value)
            except ValueError as error:
                raise PydanticCustomError(
                    "no_time", "an ISO 8601 time (2026-03-04T05:06:07Z) or nanoseconds was expected"
                ) from error
        return value

    def contains(self, start_ns: int) -> bool:
        """Return whether a trace that started at `start_ns` lies in the range."""
        since, until = _to_ns(self.since), _to_ns(self.until)
        return (since is None or start_ns >= since) and (until is None or start_ns < until)


def _to_ns(value: str | int | None) -> int | None:
    if not isinstance(value, str):
        return value
    moment = datetime.fromisoformat(value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


class Selector(Value):
    """Which traces an expectation is for; every field that is set must hold.

    Texts are names, globs or `re:` patterns. attributes: equal on any span of the trace.
    """

    model_config = ConfigDict(extra="forbid")

    trace_id: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    session_id: Name | None = None
    agent: Name | None = None
    root_name: Name | None = None
    service: Name | None = None
    attributes: dict[str, Json] | None = None
    time: TimeRange | None = None


class NamedExpectation(Value):
    """One entry of an expectation file: a name, the traces it is for, and what should hold."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    select: Selector = Field(default_factory=Selector)
    expect: TrajectoryExpectation


class Weights(Value):
    """How much each dimension weighs in the unified score; the reference's defaults."""

    model_config = ConfigDict(extra="forbid")

    accuracy: Limit = 0.4
    efficiency: Limit = 0.3
    tool_failures: Limit = 0.2
    blacklist: Limit = 0.1


ExpectedStep.model_rebuild()  # it names a class that comes after it; who looks at fields sees types
