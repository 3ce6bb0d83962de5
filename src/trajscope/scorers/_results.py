"""What the scorers return: the reference's field names, and ours beside them.

One thing a newcomer would get wrong: `score` None means not evaluable, and `reason` says why;
figures that are unknown are None, never 0.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trajscope.model.expectation import Ordering, Scope
from trajscope.model.value import Value

PairStatus = Literal["matched", "unknown", "out_of_order", "mismatched", "missing", "extra"]
PatternType = Literal["failure", "retry", "arg_correction", "fallback"]


class Pair(Value):
    """One line of an alignment: an expected step, an actual step, or both, and why.

    expected, actual: names; expected_index, actual_index: positions in the expectation and in the
    steps the scope selected. A mismatched pair has one name and different data, and counts as
    missing and extra.
    """

    status: PairStatus
    expected: str | None = None
    actual: str | None = None
    expected_index: int | None = None
    actual_index: int | None = None
    span_id: str | None = None
    trace_id: str | None = None
    reasons: tuple[str, ...] = ()


class ComparisonResult(Value):
    """How the steps that were taken compare with the expected ones.

    Every expected step is matched, unknown, out of order or missing; every actual one matched,
    unknown, out of order or extra. score_low and score_high: the score if every unknown pair were
    a mismatch, or a match; score is None when they differ. alignment: one line per expected step
    and per step left over (alignment_not_shown more are not kept). repeated_steps: names that
    occur more often than expected. requested_only: calls a model asked for that never ran; they
    match nothing.
    """

    score: float | None
    matched_steps: int
    total_expected_steps: int
    total_actual_steps: int
    missing_steps: tuple[str, ...] = ()
    extra_steps: tuple[str, ...] = ()
    out_of_order_steps: tuple[str, ...] = ()
    repeated_steps: tuple[str, ...] = ()

    unknown_steps: tuple[str, ...] = ()
    mismatched_steps: tuple[str, ...] = ()
    requested_only: tuple[str, ...] = ()
    score_low: float = 0.0
    score_high: float = 1.0
    ordering: Ordering = "relaxed"
    scope: Scope = "tools"
    agent: str | None = None
    alignment: tuple[Pair, ...] = ()
    alignment_not_shown: int = 0
    reason: str = ""


class RedundantCall(Value):
    """A call that repeats an earlier one: name, position among the tool calls, spans."""

    name: str
    index: int
    span_id: str | None = None
    repeats_index: int | None = None
    repeats_span_id: str | None = None
    agent: str | None = None


class EfficiencyResult(Value):
    """Budgets and redundant calls.

    over_…: None when the figure is unknown (and no known part of it is over already).
    tokens_complete, duration_complete: False when the figure is a lower bound. dimensions: the
    score of each thing that was asked for; None where it is not evaluable. unknown_calls: calls
    whose arguments were not recorded, so that they may or may not be redundant.
    """

    score: float | None
    total_steps: int
    over_step_budget: bool | None = False
    total_tokens: int | None = None
    over_token_budget: bool | None = False
    total_duration_ms: float | None = None
    over_duration_budget: bool | None = False
    redundant_calls: tuple[RedundantCall, ...] = ()

    tokens_complete: bool = False
    duration_complete: bool = False
    unknown_calls: int = 0
    dimensions: dict[str, float | None] = Field(default_factory=dict)
    scope: Scope = "tree"
    reason: str = ""


class BlacklistHit(Value):
    """One occurrence of something forbidden: rule, raw names found, witness spans.

    requested: one of the calls was only requested and never ran. agent: the run it happened in,
    for a sequence that stands together only within that run.
    """

    rule: tuple[str, ...]
    names: tuple[str, ...]
    span_ids: tuple[str, ...] = ()
    requested: bool = False
    agent: str | None = None


class BlacklistResult(Value):
    """Which forbidden tools and sequences occurred; each rule once, its occurrences in `hits`."""

    score: float | None
    violated_tools: tuple[str, ...] = ()
    violated_sequences: tuple[tuple[str, ...], ...] = ()

    hits: tuple[BlacklistHit, ...] = ()
    hits_not_shown: int = 0
    reason: str = ""


class FailurePattern(Value):
    """Failed calls of one tool in one agent run that were answered alike, and what became of them.

    type: failure (nothing followed), retry (same tool, equal arguments), arg_correction (same
    tool, others), fallback (another tool). retry_count: how many of the failures a retry answered.
    eventually_succeeded: whether the last call of the chain of calls did; None if unknown.
    span_ids: the failed calls and the call that answered the last of them.
    """

    type: PatternType
    tool_name: str
    retry_count: int = 0
    fell_back_to_alternative: bool = False
    alternative_tool: str | None = None
    eventually_succeeded: bool | None = None

    failures: int = 1
    recovered: bool | None = False
    args_known: bool = True
    agent: str | None = None
    span_ids: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


class ToolTotals(Value):
    """The calls of one tool: how many, how many failed or have no known outcome, what followed."""

    calls: int = 0
    failed: int = 0
    unknown: int = 0
    retries: int = 0
    arg_corrections: int = 0
    fallbacks: int = 0
    unrecovered: int = 0


class ToolFailureResult(Value):
    """Failures of tool calls, their patterns, and totals per tool (by raw name).

    unrecovered: failed calls after which nothing worked. unknown_recoveries: failed calls whose
    answer has no recorded outcome; score_low and score_high take none or all of them for recovered,
    and score is None when they differ. calls, unknown_calls: all tool calls, and
    those whose outcome was not recorded; the score is over the others.
    """

    score: float | None
    patterns: tuple[FailurePattern, ...] = ()
    total_retries: int = 0
    excessive_retry_tools: tuple[str, ...] = ()

    total_failures: int = 0
    total_arg_corrections: int = 0
    total_fallbacks: int = 0
    unrecovered: int = 0
    unknown_recoveries: int = 0
    score_low: float = 0.0
    score_high: float = 1.0
    calls: int = 0
    unknown_calls: int = 0
    max_retries_per_tool: float = 2
    tools: dict[str, ToolTotals] = Field(default_factory=dict)
    reason: str = ""


class NestedResult(Value):
    """What holds of the steps below the step that matched an expected one."""

    step_name: str
    score: float | None
    accuracy: ComparisonResult | None = None
    efficiency: EfficiencyResult | None = None
    blacklist: BlacklistResult | None = None
    tool_failures: ToolFailureResult | None = None
    nested: tuple[NestedResult, ...] = ()
    found: bool = True
    span_id: str | None = None


class TrajectoryResult(Value):
    """The unified score and what it is made of.

    weights: what each dimension weighed, those left out excepted. not_evaluated: dimensions that
    were asked for and could not be evaluated, with the reason.
    """

    score: float | None
    accuracy: ComparisonResult | None = None
    efficiency: EfficiencyResult | None = None
    blacklist: BlacklistResult | None = None
    tool_failures: ToolFailureResult | None = None
    nested: tuple[NestedResult, ...] = ()
    weights: dict[str, float] = Field(default_factory=dict)
    not_evaluated: dict[str, str] = Field(default_factory=dict)
    reason: str = ""


NestedResult.model_rebuild()
