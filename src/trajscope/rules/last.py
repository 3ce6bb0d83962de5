"""`last`: what the last step must be."""

from __future__ import annotations

from trajscope.model.check import Check, Edge
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_last(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that the last executed step is one of these."""
    del name
    return (Edge(body.matchers(), "last"),)


RULE = Kind(
    name="last",
    description="What the last step that runs must be.",
    compile=compile_last,
    aliases=("end",),
)
