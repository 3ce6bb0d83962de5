"""Reads where a rule looks, and finds out which step types count for it.

One thing a newcomer would get wrong: tools count, and the types that the rule's own matchers name;
everything counts only with `among: all`, or when a matcher means steps of any type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import cast

from trajscope.model.check import Check, Limits, Transitions
from trajscope.model.reading import StepType
from trajscope.model.rule import TOOLS, AuditScope, Matcher, Per
from trajscope.rules._matchers import Body


def read_scope(body: Body, checks: tuple[Check, ...]) -> AuditScope:
    """Return where a rule looks; which steps count follows from its matchers, or `among: all`."""
    per: str = "trace"
    if body.has("scope"):
        per = body.part("scope").choice(("trace", "agent", "parent", "session"))
    under = body.part("under").patterns() if body.has("under") else ()
    not_under = body.part("not_under").patterns() if body.has("not_under") else ()
    if set(under) & set(not_under):
        body.part("not_under").fail(
            f"can never match: {', '.join(sorted(set(under) & set(not_under)))} is under as well"
        )
    every = body.has("among") and body.part("among").choice(("tools", "all")) == "all"
    if per in ("agent", "parent") and any(isinstance(check, Limits) for check in checks):
        body.part("scope").fail(
            f"has no budget of its own (got {per}); trace or session was expected"
        )
    return AuditScope(cast("Per", per), () if every else types_of(checks), under, not_under)


def types_of(checks: tuple[Check, ...]) -> tuple[StepType, ...]:
    """Return the step types that count for checks: tools, and those their matchers name."""
    found = dict.fromkeys(TOOLS)
    for check in checks:
        if isinstance(check, Limits) or (isinstance(check, Transitions) and check.of == "agents"):
            return ()
        for matcher in _matchers_in(check):
            if not matcher.types:
                return ()
            found |= dict.fromkeys(matcher.types)
    return tuple(found)


def _matchers_in(value: object) -> Iterator[Matcher]:
    if isinstance(value, Matcher):
        yield value
    if isinstance(value, tuple):
        for item in value:
            yield from _matchers_in(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _matchers_in(getattr(value, field.name))
