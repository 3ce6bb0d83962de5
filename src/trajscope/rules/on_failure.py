"""`on_failure`: what must follow a step that failed (compensation)."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need


def compile_on_failure(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return what a failed step needs after it."""
    del name
    needs = body.part("need").matchers(done=True)
    return (need(body, body.matcher(failed=True), needs, "after"),)


RULE = Kind(
    name="on_failure",
    description="What must run after a step that failed.",
    compile=compile_on_failure,
)
