"""`if … require`: what must occur somewhere if a step does (responded existence)."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need, two


def compile_if(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return a need per required step, before or after the step that asks for it."""
    if name != "if" and not isinstance(body.value, dict):
        pair = two(body)
        if pair is None:
            return ()
        condition, needed = pair
        return (need(body, condition.matcher(executed=True), needed.matchers(done=True), "any"),)
    trigger = body.matcher(executed=True)
    required = body.part("require").elements()
    return tuple(need(body, trigger, (item.matcher(done=True),), "any") for item in required)


RULE = Kind(
    name="if",
    description="What must run somewhere, before or after, if a step runs.",
    compile=compile_if,
    aliases=("responded_existence",),
    beside=("require",),
)
