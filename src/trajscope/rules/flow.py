"""`flow`: what a step is given must have come from an earlier one."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._flows import compile_flow
from trajscope.rules._kind import Kind


def compile_required(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that a value must flow."""
    del name
    return compile_flow(body, forbidden=False)


RULE = Kind(
    name="flow",
    description="What a step is given must have come out of an earlier step.",
    compile=compile_required,
)
