"""Checks in words: what a matcher means, and what a check asks for, one sentence each.

One thing a newcomer would get wrong: these sentences explain a rule; what is said of a trace that
breaks it is in `_say`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from reprlib import Repr

from trajscope.model.check import (
    Chain,
    Check,
    Conflict,
    Edge,
    Flow,
    Limits,
    Need,
    Occurrence,
    Predicate,
    Query,
    Repeat,
    Transitions,
)
from trajscope.model.policy import PolicyRule
from trajscope.model.rule import TOOLS, AuditScope, Condition, Join, Matcher

_repr = Repr()
_repr.maxstring = _repr.maxother = 60
_repr.maxlevel = 2

_OPERATORS = {
    "eq": "is",
    "ne": "is not",
    "gt": ">",
    "ge": "≥",
    "lt": "<",
    "le": "≤",
    "in": "is one of",
    "not_in": "is none of",
    "matches": "matches",
    "contains": "contains",
}
_UNITS = ((86_400_000_000_000, "d"), (3_600_000_000_000, "h"), (60_000_000_000, "m"))


def duration(nanoseconds: int) -> str:
    """Return a duration as people write it.

    >>> duration(300_000_000_000), duration(1_500_000_000), duration(5_000_000)
    ('5 m', '1.5 s', '5 ms')
    """
    for size, unit in _UNITS:
        if nanoseconds >= size and nanoseconds % size == 0:
            return f"{nanoseconds // size} {unit}"
    if nanoseconds >= 1_000_000_000:
        return f"{nanoseconds / 1_000_000_000:g} s"
    return f"{nanoseconds / 1_000_000:g} ms"


def either(words: Sequence[str]) -> str:
    """Return alternatives as a phrase.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


def condition(found: Condition) -> str:
    """Return one comparison in words."""
    if found.operator == "exists":
        return f"{found.path} {'is there' if found.value else 'is not there'}"
    return f"{found.path} {_OPERATORS[found.operator]} {_repr.repr(found.value)}"


def matcher(found: Matcher) -> str:
    """Return which steps a matcher means.

    >>> matcher(Matcher(names=("rm", "drop_*"), failed=True))
    'failed rm or drop_*'
    """
    names = [name for name in found.names if name != "*"]
    kinds = "tool" if found.types == TOOLS else either([t.value for t in found.types]) or "step"
    said = either(names) if names else f"any {kinds}"
    if names and found.types not in (TOOLS, ()):
        said = f"{kinds} {said}"
    if found.failed is not None:
        said = f"{'failed' if found.failed else 'successful'} {said}"
    if found.executed is False:
        said = f"merely requested {said}"
    if found.agents:
        said += f" of agent {either(found.agents)}"
    if found.where:
        said += f" where {' and '.join(map(condition, found.where))}"
    if found.excluded:
        said += f" other than {either([matcher(other) for other in found.excluded])}"
    return said


def _joined(same: Sequence[Join], differ: Sequence[Join]) -> str:
    said = [f"the same {_paths(join)}" for join in same]
    said += [f"another {_paths(join)}" for join in differ]
    return f" with {' and '.join(said)}" if said else ""


def _paths(join: Join) -> str:
    return " = ".join(dict.fromkeys(map(str, join.paths)))


def _within(limit_ns: int | None) -> str:
    return "" if limit_ns is None else f" within {duration(limit_ns)}"


@singledispatch
def check(found: Check) -> str:
    """Return what a check asks for, without a full stop."""
    raise TypeError(type(found))


@check.register
def _(found: Occurrence) -> str:
    what = matcher(found.matcher)
    said = []
    if found.min_count:
        said.append(f"must occur at least {_times(found.min_count)}")
    if found.max_count == 0:
        said.append("must not occur")
    elif found.max_count is not None:
        said.append(f"must occur at most {_times(found.max_count)}{_within(found.within_ns)}")
    return f"{what} {' and '.join(said)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@check.register
def _(found: Chain) -> str:
    said = ", then ".join(map(matcher, found.steps))
    if found.max_gap == 0:
        said += ", directly one after the other"
    elif found.max_gap is not None:
        said += f", with at most {found.max_gap} steps between"
    said += f"{_within(found.within_ns)}{_joined(found.same, found.differ)} must not occur"
    if found.order == "start":
        said += " (by the order of starts)"
    if found.unless is not None:
        said += f", unless {matcher(found.unless)} lies between"
    return said


_WHERE = {"before": "before it", "after": "after it", "any": "somewhere"}


@check.register
def _(found: Need) -> str:
    needs = either([matcher(need) for need in found.needs])
    own = "its own " if found.each else ""
    place = _WHERE[found.direction]
    if found.immediately:
        place = f"directly {place}"
    said = f"every {matcher(found.trigger)} needs {own}{needs} {place}"
    return f"{said}{_within(found.within_ns)}{_joined(found.same, found.differ)}"


@check.register
def _(found: Conflict) -> str:
    both = f"{matcher(found.one)} and {matcher(found.other)}"
    return f"{both}{_joined(found.same, found.differ)} must not both occur"


@check.register
def _(found: Edge) -> str:
    return f"the {found.at} step must be {either([matcher(m) for m in found.matchers])}"


@check.register
def _(found: Repeat) -> str:
    row = " in a row" if found.consecutive else ""
    same = either([str(path) for path in found.same]).replace(" or ", " and ")
    times = _times(found.times)
    return (
        f"{matcher(found.matcher)} must not occur {times}{row} with the same {same}"
        f"{_within(found.within_ns)}"
    )


@check.register
def _(found: Flow) -> str:
    sources, targets = (
        either([f"{matcher(m)} ({path})" for m, path in ends])
        for ends in (found.sources, found.targets)
    )
    size = f" of {found.min_chars} characters or more"
    if not found.forbidden:
        return f"every {targets} needs a value{size} that an earlier {sources} gave out"
    said = f"no value{size} of {sources} must turn up in a later {targets}"
    return f"{said}, unless {matcher(found.unless)} lies between" if found.unless else said


@check.register
def _(found: Limits) -> str:
    said = [
        f"at most {duration(limit)}"
        if measure == "duration_ns"
        else f"at most {limit} {measure.replace('_', ' ')}"
        for measure, limit in found.limits
    ]
    return ", ".join(said)


@check.register
def _(found: Transitions) -> str:
    said = []
    if found.start is not None:
        said.append(f"{either(found.start)} comes first")
    if found.of == "agents":
        said += [f"{a} may hand over to {either(b) or 'nobody'}" for a, b in found.allowed or ()]
        said += [f"{a} must not hand over to {either(b)}" for a, b in found.denied]
        said += ["nobody else to anybody"] if found.allowed is not None else []
    else:
        said += [f"after {a} comes {either(b)}" for a, b in found.allowed or () if b]
    if found.end is not None:
        said.append(f"{either(found.end)} comes last")
    return "; ".join(said)


@check.register
def _(found: Query) -> str:
    return f"this query returns no row: {' '.join(found.sql.split())}"


@check.register
def _(found: Predicate) -> str:
    return f"{found.function} of {found.path} holds"


def rule_in_words(rule: PolicyRule) -> str:
    """Return what a rule asks for, and where it looks, as sentences.

    >>> from trajscope.rules import parse_policy
    >>> rule_in_words(parse_policy("- {never: rm, not_under: sandbox}").rules[0])
    'rm must not occur. Looks not below sandbox.'
    """
    said = dict.fromkeys(check(found) for found in rule.checks)
    place = scope(rule.scope)
    whole = f"{'; '.join(said)}."
    return f"{whole} Looks {place}." if place else whole


def scope(found: AuditScope) -> str:
    """Return where a rule looks, in words; empty for the whole trace."""
    said = {
        "trace": "",
        "agent": "in each agent run",
        "parent": "among the children of each step",
        "session": "over all traces of a session",
    }[found.per]
    if found.under:
        said += f" below {either(found.under)}"
    if found.not_under:
        said += f" not below {either(found.not_under)}"
    if not found.types:
        said += " (all steps count)"
    return said.strip()
