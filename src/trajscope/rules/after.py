"""`after`: what must come after a step (response)."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need, two


def compile_after(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return what the step needs after it."""
    if name != "after" and not isinstance(body.value, dict):
        pair = two(body)
        if pair is None:
            return ()
        earlier, later = pair
        trigger = earlier.matcher(executed=True)
        return (need(body, trigger, later.matchers(done=True), "after", name),)
    needs = body.part("need").matchers(done=True)
    return (need(body, body.matcher(executed=True), needs, "after", name),)


RULE = Kind(
    name="after",
    description="What must run after a step has run, and not fail.",
    compile=compile_after,
    aliases=("response", "alternate_response", "chain_response"),
)
