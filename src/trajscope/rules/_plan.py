"""Which set-wise statements decide a check; each kind of check is one method.

One thing a newcomer would get wrong: what a statement does not look at (what steps share, guards,
order within a session) must make it name more candidates, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

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
from trajscope.model.rule import Matcher, ValuePath
from trajscope.model.step import BaseStep
from trajscope.ports import Queries
from trajscope.rules._lines import Line, LineStep, Traces
from trajscope.rules._match import Tests, Values
from trajscope.rules._outcome import Context
from trajscope.rules._whole import decide_transitions


class Work(Protocol):
    """The audit a plan belongs to; see `SetWise`."""

    kinds: list[tuple[int, BaseStep]]
    removed: list[str]
    queries: Queries | None

    def run(self, statement: str, **params: object) -> None:
        """Run a statement."""

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        """Return its rows."""

    def fill(
        self, statement: str, columns: Mapping[str, Sequence[object]], **params: object
    ) -> None:
        """Run a statement on rows."""

    def matcher(self, matcher: Matcher) -> int:
        """Return the number of a matcher whose hits are there."""

    def tools(self) -> tuple[list[int], list[int]]:
        """Return the kinds, and a number for each that is equal for one tool."""


class Plan:
    """The statements of one rule."""

    def __init__(self, work: Work, rule: int, scope: int, *, sessions: bool) -> None:
        self._work = work
        self._rule = {"rule_no": rule}
        self._place = {"rule_no": rule, "scope_no": scope}
        self._sessions = sessions

    def add(self, check: Check) -> None:
        """Run what decides one check."""
        _PLANS[type(check)](self, check)

    def _run(self, statement: str, **params: object) -> None:
        self._work.run(statement, **self._place, **params)

    def _ids(self, matchers: Sequence[Matcher]) -> list[int]:
        return [self._work.matcher(matcher) for matcher in matchers]

    def _activated(self, matchers: Sequence[Matcher]) -> list[int]:
        ids = self._ids(matchers)
        self._run("active_matches", matchers=ids)
        return ids

    def _all_active(self) -> None:
        self._work.run("candidates_active", **self._rule)

    def occurrence(self, check: Occurrence) -> None:
        matcher = self._work.matcher(check.matcher)
        self._run("active_steps")
        if check.min_count:
            self._work.run("active_all", **self._rule, sessions=self._sessions)
            self._run(
                "candidates_few",
                matcher=matcher,
                min_count=check.min_count,
                sessions=self._sessions,
            )
        if check.max_count is None:
            return
        if check.within_ns is None or self._sessions:
            self._run("candidates_many", matcher=matcher, max_count=check.max_count)
        else:
            self._run(
                "candidates_many_within",
                matcher=matcher,
                max_count=check.max_count,
                within_ns=check.within_ns,
            )

    def chain(self, check: Chain) -> None:
        ids = self._ids(check.steps)
        self._run("active_matches", matchers=ids[:1])
        if self._sessions:
            self._run("candidates_together", matchers=ids)
            return
        # What follows in an agent's run follows in the whole line too, but further on.
        by_end = check.order == "end" and not check.per_run
        place = {"scope_no": self._place["scope_no"], "by_end": by_end}
        self._work.run("chain_start", **place, matcher=ids[0])
        for matcher in ids[1:]:
            gap = None if check.per_run else check.max_gap
            self._work.run("chain_next", **place, matcher=matcher, max_gap=gap)
        self._work.run("candidates_chain", **self._rule)

    def need(self, check: Need) -> None:
        triggers = self._activated([check.trigger])
        plain = check.within_ns is None and not (check.same or check.differ)
        if self._sessions or check.each or check.immediately or not plain:
            self._all_active()
            return
        self._run(
            "candidates_need",
            triggers=triggers,
            needs=self._ids(check.needs),
            direction=check.direction,
            by_end=check.order == "end",
        )

    def conflict(self, check: Conflict) -> None:
        one, other = self._activated([check.one, check.other])
        if one == other:
            self._all_active()
        else:
            self._run("candidates_both", one=one, other=other)

    def edge(self, check: Edge) -> None:
        self._run("active_executed")
        if self._sessions:
            self._all_active()
            return
        self._run(
            "candidates_edge", matchers=self._ids(check.matchers), is_first=check.at == "first"
        )

    def repeat(self, check: Repeat) -> None:
        [matcher] = self._activated([check.matcher])
        kinds, tools = self._work.tools()
        by_tool = ValuePath("tool") in check.same
        self._work.fill(
            "candidates_repeat",
            {"kind_no": kinds, "tool_no": tools if by_tool else [0] * len(kinds)},
            **self._place,
            matcher=matcher,
            times=check.times,
            by_args=ValuePath("args") in check.same,
            removed=self._work.removed,
        )

    def flow(self, check: Flow) -> None:
        targets = self._activated([matcher for matcher, _ in check.targets])
        if self._sessions or not check.forbidden:
            self._all_active()
            return
        self._run(
            "candidates_flow",
            sources=self._ids([matcher for matcher, _ in check.sources]),
            targets=targets,
            by_end=check.order == "end",
        )

    def limits(self, check: Limits) -> None:
        self._work.run("active_all", **self._rule, sessions=self._sessions)
        if self._sessions:
            self._all_active()
            return
        measures = ("steps", "tool_calls", "depth", "model_calls", "tokens", "input_tokens")
        every = (*measures, "output_tokens", "duration_ns")
        limits: dict[str, object] = dict.fromkeys(every)
        limits.update(check.limits)
        self._run("candidates_limits", **limits)

    def transitions(self, check: Transitions) -> None:
        if check.of == "agents":
            self._run("candidates_agents")
            return
        self._run("active_executed")
        if self._sessions:
            self._all_active()
            return
        steps = dict(self._work.kinds)
        bad = [
            (one, other)
            for one, other in self._work.rows("read_pairs", scope_no=self._place["scope_no"])
            if _is_bad(check, steps.get(one), steps.get(other))
        ]
        self._work.fill(
            "candidates_pairs",
            {"kind_no": [one for one, _ in bad], "next_no": [other for _, other in bad]},
            **self._place,
        )

    def query(self, check: Query) -> None:
        if self._work.queries is None:
            self.everything(check)
            return
        self._work.run("active_all", **self._rule, sessions=self._sessions)
        found = list(self._work.queries.findings(check.sql))
        self._work.run("candidates_ids", **self._rule, trace_ids=found, sessions=self._sessions)

    def everything(self, _check: Check) -> None:
        self._work.run("candidates_all", **self._rule, sessions=self._sessions)


_NO_CONTEXT = Context(Tests(Values()), Values(), Traces([]))


def _is_bad(check: Transitions, one: BaseStep | None, other: BaseStep | None) -> bool:
    """Whether a step must not follow another; None is the start or the end of a line."""
    steps = [LineStep(step) for step in (one, other) if step is not None]
    for rank, item in enumerate(steps):
        item.rank = rank
    asked = replace(
        check,
        start=check.start if one is None else None,
        end=check.end if other is None else None,
    )
    return bool(decide_transitions(asked, Line(steps, unfinished=False), _NO_CONTEXT).violated)


_PLANS: dict[type, Callable[[Plan, Any], None]] = {
    Occurrence: Plan.occurrence,
    Chain: Plan.chain,
    Need: Plan.need,
    Conflict: Plan.conflict,
    Edge: Plan.edge,
    Repeat: Plan.repeat,
    Flow: Plan.flow,
    Limits: Plan.limits,
    Transitions: Plan.transitions,
    Query: Plan.query,
    Predicate: Plan.everything,
}
