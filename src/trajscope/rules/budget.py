"""`budget`: how much a trace or session may use."""

from __future__ import annotations

from trajscope.model.check import Check, Limits, Measure
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind

_COUNTS: tuple[Measure, ...] = (
    "steps",
    "tool_calls",
    "model_calls",
    "tokens",
    "input_tokens",
    "output_tokens",
    "depth",
)


def compile_budget(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the limits that are set."""
    del name
    limits: list[tuple[Measure, int]] = [
        (measure, body.part(measure).integer()) for measure in _COUNTS if body.has(measure)
    ]
    if body.has("duration"):
        limits.append(("duration_ns", body.part("duration").duration_ns()))
    if not limits:
        body.fail(
            f"limits nothing (got {body.value!r:.80}); one of {', '.join(_COUNTS)} or duration "
            "was expected"
        )
    return (Limits(tuple(limits)),)


RULE = Kind(
    name="budget",
    description="Limits of steps, tool calls, model calls, tokens, duration and depth.",
    compile=compile_budget,
)
