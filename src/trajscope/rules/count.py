"""`count`: how often a step may or must run, perhaps within a time."""

from __future__ import annotations

from trajscope.model.check import Check, Occurrence
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, within_ns


def compile_count(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the bounds; a time applies to the upper one only."""
    del name
    matcher = body.matcher(executed=True)
    low = body.part("min").integer() if body.has("min") else 0
    high = body.part("max").integer() if body.has("max") else None
    within = within_ns(body)
    if body.has("exactly"):
        low = high = body.part("exactly").integer()
    if high is None and low == 0:
        body.fail("bounds nothing; min, max or exactly was expected")
    if high is not None and low > high:
        body.fail(f"can never hold: min {low} is more than max {high}")
    if within is not None and low:
        body.part("within").fail("bounds a rate, which has a max and no min")
    return (Occurrence(matcher, low, high, within),)


RULE = Kind(
    name="count",
    description="How often a step may or must run: min, max, exactly; max also within a time.",
    compile=compile_count,
    aliases=("exactly", "rate_limit"),
)
