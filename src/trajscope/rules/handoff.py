"""`handoff`: which agent may call, or hand over to, which other one."""

from __future__ import annotations

from trajscope.model.check import Check, Transitions
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind

Pairs = tuple[tuple[str, tuple[str, ...]], ...]


def compile_handoff(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the edges between agents that are allowed, or denied."""
    del name
    allowed = _pairs(body.part("allow")) if body.has("allow") else None
    denied = _pairs(body.part("deny")) if body.has("deny") else ()
    if allowed is None and not denied:
        body.fail(f"says nothing (got {body.value!r:.80}); allow or deny was expected")
    return (Transitions("agents", allowed, denied),)


def _pairs(body: RuleBody) -> Pairs:
    return tuple((name, ends.patterns() if ends.value else ()) for name, ends in body.entries())


RULE = Kind(
    name="handoff",
    description="Which agent may call, or hand over to, which other one.",
    compile=compile_handoff,
)
