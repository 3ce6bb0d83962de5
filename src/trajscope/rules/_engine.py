"""Decides rules over traces in memory: lines, checks, verdicts, findings.

One thing a newcomer would get wrong: what is given is what a rule is decided over, one trace or the
traces of one session. Which traces a rule is for (`select`) is asked before, by `audit_traces`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from trajscope.evals.select import TraceFacts, facts_of, selects
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
from trajscope.model.rule import MAX_FINDINGS, MAX_WITNESSES, RuleResult, worst
from trajscope.model.score import Finding, Verdict
from trajscope.model.trajectory import Trajectory
from trajscope.ports import Queries
from trajscope.rules._chain import decide_chain
from trajscope.rules._count import decide_conflict, decide_edge, decide_occurrence, decide_repeat
from trajscope.rules._flowing import decide_flow
from trajscope.rules._lines import Line, Traces, lines_of, runs_of
from trajscope.rules._match import Attributes, Tests, Values
from trajscope.rules._need import decide_need
from trajscope.rules._outcome import Context, Hit, Outcome
from trajscope.rules._outside import decide_predicate, decide_query
from trajscope.rules._say import finding_message, result_message
from trajscope.rules._whole import decide_limits, decide_transitions

_DECIDE: Mapping[type, Callable[[Any, Line, Context], Outcome]] = {
    Occurrence: decide_occurrence,
    Chain: decide_chain,
    Need: decide_need,
    Conflict: decide_conflict,
    Edge: decide_edge,
    Repeat: decide_repeat,
    Flow: decide_flow,
    Limits: decide_limits,
    Transitions: decide_transitions,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule may ask beyond the trajectories.

    attributes: of the span of a step; without them a condition on `attr` looks at the `metadata` of
    hand-written steps. queries: runs the SQL of `sql` rules; without it these are unknown.
    """

    attributes: Attributes | None = None
    queries: Queries | None = None


class Judged(NamedTuple):
    """One trajectory with what the selectors of rules may ask."""

    trajectory: Trajectory
    facts: TraceFacts


def judged(trajectory: Trajectory) -> Judged:
    """Return a trajectory with the facts it knows itself."""
    return Judged(trajectory, facts_of(trajectory))


NO_EVIDENCE = Evidence()


def audit_traces(
    rules: Sequence[PolicyRule], found: Iterable[Judged], evidence: Evidence = NO_EVIDENCE
) -> Iterator[RuleResult]:
    """Yield what every rule says of every trace it selects, then of every session.

    A session rule looks at all traces of a session of which it selects any; a trace without a
    session id is a session of its own.
    """
    auditor = Auditor(evidence)
    by_trace = [rule for rule in rules if rule.scope.per != "session"]
    by_session = [rule for rule in rules if rule.scope.per == "session"]
    sessions: dict[object, list[Judged]] = {}
    for item in found:
        asked = [rule for rule in by_trace if selects(rule.select, item.facts)]
        yield from auditor.decide(asked, [item.trajectory])
        if by_session:
            session = item.trajectory.session_id
            sessions.setdefault(session if session is not None else id(item), []).append(item)
    for items in sessions.values():
        asked = [rule for rule in by_session if any(selects(rule.select, i.facts) for i in items)]
        yield from auditor.decide(asked, [item.trajectory for item in items])


def audit_rule(
    rule: PolicyRule, trajectories: Sequence[Trajectory], evidence: Evidence = NO_EVIDENCE
) -> RuleResult:
    """Return what a rule says of one trace, or of the traces of one session, selected or not."""
    [result] = Auditor(evidence).decide([rule], trajectories)
    return result


class Auditor:
    """Decides rules over one run after the other; what is compiled is kept between them."""

    def __init__(self, evidence: Evidence = NO_EVIDENCE) -> None:
        self._evidence = evidence
        self._values = Values(evidence.attributes)
        self._tests = Tests(self._values)

    def decide(
        self, rules: Sequence[PolicyRule], trajectories: Sequence[Trajectory]
    ) -> Iterator[RuleResult]:
        """Yield what each rule says of one trace, or of the traces of one session."""
        traces = Traces(trajectories)
        context = Context(self._tests, self._values, traces)
        for rule in rules:
            yield _decide(rule, context, self._evidence)


def _decide(rule: PolicyRule, context: Context, evidence: Evidence) -> RuleResult:
    traces = context.traces
    lines = lines_of(traces, rule.scope)
    decided: list[tuple[Check, Outcome]] = []
    for check in rule.checks:
        if isinstance(check, Query):
            decided.append((check, decide_query(check, traces, evidence.queries)))
        elif isinstance(check, Predicate):
            decided.append((check, decide_predicate(check, traces)))
        elif isinstance(check, Limits):
            decided.append((check, decide_limits(check, _whole(lines, traces), context)))
        else:
            decide = _DECIDE[type(check)]
            empty = isinstance(check, Occurrence) and check.min_count > 0
            runs = isinstance(check, Chain) and check.per_run
            cut = [run for line in lines for run in runs_of(line)] if runs else lines
            decided += [
                (check, decide(check, line, context)) for line in cut if line.steps or empty
            ]
    return _to_result(rule, traces, lines, decided)


def _whole(lines: list[Line], traces: Traces) -> Line:
    """Return all counting steps as one line, for what is measured over a trace."""
    if len(lines) == 1:
        return lines[0]
    return Line([step for line in lines for step in line.steps], traces.unfinished)


def _to_result(
    rule: PolicyRule, traces: Traces, lines: list[Line], decided: list[tuple[Check, Outcome]]
) -> RuleResult:
    verdict = worst(outcome.verdict for _, outcome in decided)
    hits = [
        (check, hit)
        for check, outcome in decided
        for hit in (outcome.violated if verdict is Verdict.VIOLATED else outcome.unknown)
    ]
    first = traces.trajectories[0] if traces.trajectories else Trajectory()
    single = rule.scope.per != "session"
    # A trace without a session id is a session of its own, known by its trace id alone.
    trace_id = first.trace_id if single or first.session_id is None else None
    different = _different(hits)
    findings = tuple(
        _to_finding(rule, check, hit, verdict, trace_id) for check, hit in different[:MAX_FINDINGS]
    )
    reasons = [o.reason for _, o in decided if o.verdict is Verdict.UNKNOWN]
    return RuleResult(
        rule=rule.id,
        severity=rule.severity,
        verdict=verdict,
        message=result_message(rule, verdict, [f.message for f in findings], reasons),
        trace_id=trace_id,
        session_id=first.session_id,
        findings=findings,
        findings_not_shown=len(different) - len(findings),
        counts={
            "lines": sum(bool(line.steps) for line in lines),
            "steps": sum(len(line.steps) for line in lines),
            "activations": sum(outcome.activations for _, outcome in decided),
            "violations": sum(len(outcome.violated) for _, outcome in decided),
            "unknown": sum(len(outcome.unknown) for _, outcome in decided),
        },
    )


def _different(hits: list[tuple[Check, Hit]]) -> list[tuple[Check, Hit]]:
    """Return every hit once: a chain looked for in the line and in its runs is found twice."""
    found: dict[object, tuple[Check, Hit]] = {}
    for check, hit in hits:
        what: object = id(check)
        if isinstance(check, Chain):
            what = tuple(matcher.names for matcher in check.steps)
        steps = tuple(id(item.step) for item in hit.witnesses)
        found.setdefault((what, steps or id(hit), hit.detail), (check, hit))
    return list(found.values())


def _to_finding(
    rule: PolicyRule, check: Check, hit: Hit, verdict: Verdict, trace_id: str | None
) -> Finding:
    shown = hit.witnesses[:MAX_WITNESSES]
    steps = [item.step for item in shown]
    return Finding(
        rule=rule.id,
        message=finding_message(rule, check, hit, verdict),
        severity=rule.severity,
        verdict=verdict,
        trace_id=trace_id if trace_id is not None else (steps[0].trace_id if steps else None),
        span_ids=hit.span_ids
        if hit.span_ids is not None
        else tuple(step.span_id for step in steps if step.span_id is not None),
        steps=tuple(step.name for step in steps),
    )
