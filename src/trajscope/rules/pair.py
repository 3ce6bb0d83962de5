"""`pair`: two steps of which neither may stand without the other, in order (succession)."""

from __future__ import annotations

from dataclasses import replace

from trajscope.model.check import Check
from trajscope.model.rule import Join
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, need, two


def compile_pair(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return both directions: what opens needs what closes after it, and the other way round."""
    listed = body.part("steps") if isinstance(body.value, dict) else body
    pair = two(listed)
    if pair is None:
        return ()
    opening, closing = pair
    after = need(body, opening.matcher(executed=True), closing.matchers(done=True), "after", name)
    before = replace(
        after,
        trigger=closing.matcher(),
        needs=opening.matchers(done=True),
        direction="before",
        same=_turned(after.same),
        differ=_turned(after.differ),
    )
    return (after, before)


def _turned(joins: tuple[Join, ...]) -> tuple[Join, ...]:
    return tuple(Join(join.paths[::-1]) for join in joins)


RULE = Kind(
    name="pair",
    description="Two steps of which neither may stand without the other, in order.",
    compile=compile_pair,
    aliases=("succession", "alternate_succession", "chain_succession"),
)
