"""`no_flow`: what one step gave out must not be given to another."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._flows import compile_flow
from trajscope.rules._kind import Kind


def compile_forbidden(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that no value may flow."""
    del name
    return compile_flow(body, forbidden=True)


RULE = Kind(
    name="no_flow",
    description="What a step gave out must not turn up in what a later step is given.",
    compile=compile_forbidden,
    aliases=("taint",),
)
