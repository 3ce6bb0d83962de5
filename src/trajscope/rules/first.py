"""`first`: what the first step must be."""

from __future__ import annotations

from trajscope.model.check import Check, Edge
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_first(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that the first executed step is one of these."""
    del name
    return (Edge(body.matchers(), "first"),)


RULE = Kind(
    name="first",
    description="What the first step that runs must be.",
    compile=compile_first,
    aliases=("init",),
)
