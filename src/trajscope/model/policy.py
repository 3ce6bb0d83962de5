"""A policy: rules with where they stand in their file, compiled to checks.

One thing a newcomer would get wrong: a rule of several checks has one verdict, the worst of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trajscope.errors import Location
from trajscope.model.check import Check
from trajscope.model.expectation import Selector
from trajscope.model.rule import AuditScope
from trajscope.model.score import Severity, Verdict
from trajscope.model.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Example:
    """A small trajectory with the verdict its rule must come to."""

    verdict: Verdict
    trajectories: tuple[Trajectory, ...]
    at: Location = field(default_factory=Location)


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule of a policy.

    kind: the name of the rule kind. message: a template for the findings' messages, or None for
    the kind's own words. at: where the rule stands in its file.
    """

    id: str
    kind: str
    checks: tuple[Check, ...]
    severity: Severity = Severity.ERROR
    message: str | None = None
    tags: tuple[str, ...] = ()
    select: Selector = field(default_factory=Selector)
    scope: AuditScope = field(default_factory=AuditScope)
    examples: tuple[Example, ...] = ()
    at: Location = field(default_factory=Location)


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one file, in order."""

    rules: tuple[PolicyRule, ...]
    path: str | None = None
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
