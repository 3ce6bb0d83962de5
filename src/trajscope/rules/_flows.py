"""What `flow` and `no_flow` share."""

from __future__ import annotations

from trajscope.model.check import Flow
from trajscope.ports import RuleBody
from trajscope.rules._kind import order


def compile_flow(body: RuleBody, *, forbidden: bool) -> tuple[Flow, ...]:
    """Return a flow that is forbidden, or asked for; the latter of values of any length."""
    sources = tuple(item.source() for item in body.part("from").elements())
    targets = tuple(item.source() for item in body.part("to").elements())
    default = 8 if forbidden else 1
    size = body.part("min_chars").integer(1) if body.has("min_chars") else default
    unless = None
    if forbidden and body.has("unless"):
        unless = body.part("unless").matcher(done=True)
    return (Flow(sources, targets, forbidden, size, unless, order(body)),)
