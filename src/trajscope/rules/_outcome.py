"""What a check finds on one line, before it becomes findings of a rule.

One thing a newcomer would get wrong: an unknown hit names a step that *may* break the rule; it is
no weaker violation, and never counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trajscope.model.rule import Matcher
from trajscope.model.score import Verdict
from trajscope.rules._lines import Line, LineStep, Traces
from trajscope.rules._match import Tests, Values, any_of

PENDING = "the trace has not ended"
NOT_RECORDED = "what the rule asks for was not recorded"


class Hit(NamedTuple):
    """Steps that prove (or may prove) a violation, in order.

    detail: what they prove, in words. span_ids: set where others than the witnesses' are meant.
    """

    witnesses: tuple[LineStep, ...]
    detail: str = ""
    span_ids: tuple[str, ...] | None = None


@dataclass(slots=True)
class Outcome:
    """What one check found on one line.

    reason: why something is unknown. activations: steps that made the check apply.
    """

    violated: list[Hit] = field(default_factory=list)
    unknown: list[Hit] = field(default_factory=list)
    activations: int = 1
    reason: str = NOT_RECORDED

    @property
    def verdict(self) -> Verdict:
        """The verdict of the check on the line."""
        if self.violated:
            return Verdict.VIOLATED
        if self.unknown:
            return Verdict.UNKNOWN
        return Verdict.SATISFIED if self.activations else Verdict.VACUOUS


class Context(NamedTuple):
    """What checks are decided with."""

    tests: Tests
    values: Values
    traces: Traces

    def matched(self, line: Line, matchers: Sequence[Matcher]) -> list[bool | None]:
        """Return, by rank, whether any of the matchers means the step (None: possibly)."""
        tests = [self.tests.of(matcher) for matcher in matchers]
        if len(tests) == 1:
            return [tests[0](item) for item in line.steps]
        return [any_of(test(item) for test in tests) for item in line.steps]


def beyond(certain: Sequence[Hit], possible: Sequence[Hit]) -> list[Hit]:
    """Return the hits of the possible pass whose last witness no certain hit ends with."""
    known = {hit.witnesses[-1].rank for hit in certain if hit.witnesses}
    return [hit for hit in possible if hit.witnesses[-1].rank not in known]


def within(earlier: LineStep, later: LineStep, limit_ns: int | None) -> bool | None:
    """Return whether two steps start at most so far apart; None if a start is not known."""
    if limit_ns is None:
        return True
    one, other = earlier.step.start_ns, later.step.start_ns
    return None if one is None or other is None else abs(other - one) <= limit_ns


def counts_as(result: bool | None, *, certain: bool) -> bool:
    """Return whether a three-valued result counts in a pass: only if sure, or if possible too."""
    return result is True if certain else result is not False
