"""`before`: what must have come before a step (precedence)."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need, two


def compile_before(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return what the step needs before it; the list of DECLARE names the need first."""
    if name != "before" and not isinstance(body.value, dict):
        pair = two(body)
        if pair is None:
            return ()
        earlier, later = pair
        return (need(body, later.matcher(), earlier.matchers(done=True), "before", name),)
    needs = body.part("need").matchers(done=True)
    return (need(body, body.matcher(), needs, "before", name),)


RULE = Kind(
    name="before",
    description="What must have run, ended and not failed before a step.",
    compile=compile_before,
    aliases=("precedence", "alternate_precedence", "chain_precedence"),
)
