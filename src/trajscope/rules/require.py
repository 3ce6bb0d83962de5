"""`require`: steps that must occur."""

from __future__ import annotations

from trajscope.model.check import Check, Occurrence
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_require(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return a check per step: each of them must have run and not failed."""
    del name
    return tuple(Occurrence(item.matcher(done=True), min_count=1) for item in body.elements())


RULE = Kind(
    name="require",
    description="Steps that must occur, and not fail.",
    compile=compile_require,
    aliases=("existence",),
)
