"""`not_together`: steps of which one run may have one kind only (not co-existence)."""

from __future__ import annotations

from itertools import combinations

from trajscope.model.check import Check, Conflict
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, joins


def compile_not_together(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return a conflict for every two of the steps."""
    del name
    listed = body.part("steps") if isinstance(body.value, dict) else body
    steps = [item.matcher() for item in listed.elements()]
    if len(steps) < 2:
        listed.fail(
            f"is wrong (got {listed.value!r:.80}); a list of two steps or more was expected"
        )
    return tuple(Conflict(one, other, **joins(body, 2)) for one, other in combinations(steps, 2))


RULE = Kind(
    name="not_together",
    description="Steps that must not both occur, in whatever order (conflict of interest).",
    compile=compile_not_together,
    aliases=("not_co_existence", "not_coexistence"),
)
