"""What `flow` and `no_flow` share."""

from __future__ import annotations

from trajscope.model.check import Flow
from trajscope.model.rule import Matcher, ValuePath
from trajscope.ports import RuleBody
from trajscope.rules._kind import order


def compile_flow(body: RuleBody, *, forbidden: bool) -> tuple[Flow, ...]:
    """Return a flow that is forbidden, or asked for; the latter of values of any length."""
    sources, targets = _ends(body.part("from")), _ends(body.part("to"))
    default = 8 if forbidden else 1
    size = body.part("min_chars").integer(1) if body.has("min_chars") else default
    unless = None
    if forbidden and body.has("unless"):
        unless = body.part("unless").matcher(done=True)
    return (Flow(sources, targets, forbidden, size, unless, order(body)),)


def _ends(body: RuleBody) -> tuple[tuple[Matcher, ValuePath], ...]:
    if body.value == []:
        body.fail("is empty; at least one was expected")
    return tuple(item.source() for item in body.elements())
