"""`never`: a step that must not occur."""

from __future__ import annotations

from trajscope.model.check import Check, Need, Occurrence
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_never(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return a check per alternative; with `unless`, only what lacks its excuse is forbidden."""
    del name
    forbidden = body.matchers()
    if not body.has("unless"):
        return tuple(Occurrence(matcher, max_count=0) for matcher in forbidden)
    excuse = body.part("unless")
    after = isinstance(excuse.value, dict) and excuse.has("after")
    if isinstance(excuse.value, dict) and (after or excuse.has("before")):
        excuse = excuse.part("after" if after else "before")
    needs = excuse.matchers(done=True)
    return tuple(Need(matcher, needs, "after" if after else "before") for matcher in forbidden)


RULE = Kind(
    name="never",
    description="A step that must not occur, asked for or done, at any depth.",
    compile=compile_never,
    aliases=("absence",),
)
