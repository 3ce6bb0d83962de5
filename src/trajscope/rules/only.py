"""`only`: the tools that may be called; all others must not."""

from __future__ import annotations

from trajscope.model.check import Check, Occurrence
from trajscope.model.rule import Matcher
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_only(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that no step of `of` (any tool) occurs but the allowed ones."""
    del name
    of = body.part("of").matcher() if body.has("of") else Matcher()
    return (Occurrence(_without(of, body.matchers()), max_count=0),)


def _without(of: Matcher, allowed: tuple[Matcher, ...]) -> Matcher:
    return Matcher(
        names=of.names,
        types=of.types,
        agents=of.agents,
        where=of.where,
        failed=of.failed,
        executed=of.executed,
        excluded=allowed,
        label=of.label,
    )


RULE = Kind(
    name="only",
    description="The tools that may be called; a call of any other is a violation.",
    compile=compile_only,
    aliases=("allow",),
)
