"""Policies as such: what each rule asks for in words, and whether its own examples come out.

One thing a newcomer would get wrong: an example is decided by the engine in memory, which is the
definition; that the engine over a store agrees is held by tests, not by examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import NamedTuple

from trajscope.errors import Location
from trajscope.model.check import Transitions
from trajscope.model.policy import Policy, PolicyRule
from trajscope.model.rule import Matcher, RuleResult
from trajscope.model.score import Severity, Verdict
from trajscope.rules import NO_EVIDENCE, Evidence, audit_rule, rule_in_words


class ExplainedRule(NamedTuple):
    """One rule in words: what it asks for, and where it looks."""

    id: str
    kind: str
    severity: Severity
    words: str
    at: Location
    example_count: int


def explain_policy(policy: Policy) -> list[ExplainedRule]:
    """Return each rule in words, in the order of the file."""
    return [
        ExplainedRule(
            rule.id, rule.kind, rule.severity, rule_in_words(rule), rule.at, len(rule.examples)
        )
        for rule in policy.rules
    ]


class ExampleResult(NamedTuple):
    """What became of one example of a rule; number: from 1, in the order of the file."""

    rule: str
    number: int
    expected: Verdict
    result: RuleResult
    at: Location

    @property
    def passed(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.result.verdict is self.expected


def run_examples(policy: Policy, evidence: Evidence = NO_EVIDENCE) -> Iterator[ExampleResult]:
    """Yield the result of every example of every rule, in the order of the file."""
    for rule in policy.rules:
        for number, example in enumerate(rule.examples, 1):
            result = audit_rule(rule, example.trajectories, evidence)
            yield ExampleResult(rule.id, number, example.verdict, result, example.at)


def names_of(rule: PolicyRule) -> tuple[str, ...]:
    """Return every name and pattern of steps a rule speaks of, in order, once.

    >>> from trajscope.rules import parse_policy
    >>> names_of(parse_policy("- before: {tool: delete_*, need: approve}").rules[0])
    ('delete_*', 'approve')
    """
    return tuple(dict.fromkeys(_names_in(rule.checks)))


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, Matcher):
        yield from value.names
        yield from _names_in(value.excluded)
    elif isinstance(value, Transitions):
        if value.of == "steps":
            for name, following in value.allowed or ():
                yield from (name, *following)
    elif isinstance(value, tuple):
        for item in value:
            yield from _names_in(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _names_in(getattr(value, field.name))
