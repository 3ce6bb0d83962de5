"""`together`: steps that occur all or not at all (co-existence)."""

from __future__ import annotations

from trajscope.model.check import Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need


def compile_together(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that each step needs the next one of the list, and the last one the first."""
    del name
    listed = body.part("steps") if isinstance(body.value, dict) else body
    steps = [item.matcher(executed=True) for item in listed.elements()]
    if len(steps) < 2:
        listed.fail(
            f"is wrong (got {listed.value!r:.80}); a list of two steps or more was expected"
        )
        return ()
    following = [*steps[1:], steps[0]]
    return tuple(need(body, a, (b,), "any") for a, b in zip(steps, following, strict=True))


RULE = Kind(
    name="together",
    description="Steps that run all or not at all, in any order.",
    compile=compile_together,
    aliases=("co_existence", "coexistence"),
)
