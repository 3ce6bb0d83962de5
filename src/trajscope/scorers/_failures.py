"""Failures of one trajectory: totals, score and findings.

One thing a newcomer would get wrong: retries are limited per tool over the whole trace, whichever
agent run they happened in.
"""

from __future__ import annotations

from trajscope.match import tool_key
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scorers._answers import Failed, answer_failures, judged_calls, to_patterns
from trajscope.scorers._results import FailurePattern, ToolFailureResult, ToolTotals

_EXCESS_PENALTY = 0.2
_FALLBACK_SHARE = 0.5
DEFAULT_MAX_RETRIES = 2
"""Retries of one tool that cost nothing, as in the reference."""


def analyze(trajectory: Trajectory, expectation: TrajectoryExpectation) -> ToolFailureResult:
    """Return the failures of a trajectory under the retry limit of an expectation."""
    given = expectation.max_retries_per_tool
    limit = float(DEFAULT_MAX_RETRIES) if given is None else given
    runs = judged_calls(trajectory)
    calls = [p.step for run in runs for p in run if isinstance(p.step, ToolStep)]
    failures: list[Failed] = []
    patterns: list[FailurePattern] = []
    for run in runs:
        answered = answer_failures(run)
        failures += answered
        patterns += to_patterns(answered)
    tools, retries = _totals(calls, failures)
    excessive = {name: count - limit for name, count in retries.items() if count > limit}
    known = sum(call.success is not None for call in calls)
    excess = sum(excessive.values())
    low, high = (_score(failures, known, excess, taken_for=taken) for taken in (False, True))
    return ToolFailureResult(
        score=low if known and low == high else None,
        patterns=tuple(patterns),
        total_retries=sum(f.type == "retry" for f in failures),
        excessive_retry_tools=tuple(excessive),
        total_failures=len(failures),
        total_arg_corrections=sum(f.type == "arg_correction" for f in failures),
        total_fallbacks=sum(f.type == "fallback" for f in failures),
        unrecovered=sum(f.recovered is False for f in failures),
        unknown_recoveries=sum(f.recovered is None for f in failures),
        score_low=low,
        score_high=high,
        calls=len(calls),
        unknown_calls=len(calls) - known,
        max_retries_per_tool=limit,
        tools=tools,
        reason=_reason(len(calls), known, failures, list(excessive)),
    )


def _score(failures: list[Failed], known: int, excess: float, *, taken_for: bool) -> float:
    """Return the score with unknown recoveries taken for recovered, or not."""
    lost = 0.0
    for failed in failures:
        recovered = taken_for if failed.recovered is None else failed.recovered
        lost += _FALLBACK_SHARE if recovered and failed.type == "fallback" else not recovered
    return max(0.0, 1 - lost / max(1, known) - _EXCESS_PENALTY * excess)


def _totals(
    calls: list[ToolStep], failures: list[Failed]
) -> tuple[dict[str, ToolTotals], dict[str, int]]:
    """Return totals and retries per tool, under the raw name each tool was first called by."""
    names: dict[str, str] = {}
    counts: dict[str, dict[str, int]] = {}
    for call in calls:
        name = names.setdefault(tool_key(call), call.name)
        count = counts.setdefault(name, dict.fromkeys(ToolTotals.model_fields, 0))
        count["calls"] += 1
        count["failed"] += call.success is False
        count["unknown"] += call.success is None
    fields = {"retry": "retries", "arg_correction": "arg_corrections", "fallback": "fallbacks"}
    for failed in failures:
        count = counts[names[tool_key(failed.step)]]
        count["unrecovered"] += failed.recovered is False
        if failed.type in fields:
            count[fields[failed.type]] += 1
    totals = {name: ToolTotals(**count) for name, count in counts.items()}
    return totals, {name: count["retries"] for name, count in counts.items()}


def _reason(calls: int, known: int, failures: list[Failed], excessive: list[str]) -> str:
    if not calls:
        return "no tool calls"
    if not known:
        return "the outcome of no tool call was recorded"
    lost = sum(failed.recovered is False for failed in failures)
    undecided = sum(failed.recovered is None for failed in failures)
    parts = [f"{len(failures)} of {known} tool calls failed" if failures else "no tool call failed"]
    if failures:
        parts.append(f"{lost} without recovery")
    if undecided:
        parts.append(f"whether {undecided} were recovered was not recorded")
    if calls > known:
        parts.append(f"the outcome of {calls - known} more is unknown")
    if excessive:
        parts.append(f"too many retries: {', '.join(excessive)}")
    return "; ".join(parts)


def find_failures(result: ToolFailureResult, trajectory: Trajectory) -> list[Finding]:
    """Return a finding for every pattern, and for every tool that was retried too often."""
    findings = [_finding(pattern, trajectory) for pattern in result.patterns]
    for name in result.excessive_retry_tools:
        said = f"tool {name!r} was retried {result.tools[name].retries} times"
        spans = [s for p in result.patterns if p.tool_name == name for s in p.span_ids]
        findings.append(
            Finding(
                rule="tool-failures",
                message=f"{said}, at most {result.max_retries_per_tool:g} allowed",
                trace_id=trajectory.trace_id,
                steps=(name,),
                span_ids=tuple(dict.fromkeys(spans)),
            )
        )
    return findings


def _finding(pattern: FailurePattern, trajectory: Trajectory) -> Finding:
    """Return the finding of a pattern: an error without recovery, else for information."""
    times = f"{pattern.failures} times" if pattern.failures > 1 else "once"
    answers = {
        "failure": "and no call followed",
        "retry": "and was retried",
        "arg_correction": "and was called with other arguments",
        "fallback": f"and {pattern.alternative_tool!r} followed",
    }
    outcomes = {True: "", None: ", recovery unknown", False: ", without recovery"}
    outcome = outcomes[pattern.recovered]
    said = f": {pattern.messages[-1]}" if pattern.messages else ""
    verdicts = {True: Verdict.SATISFIED, None: Verdict.UNKNOWN, False: Verdict.VIOLATED}
    mild = pattern.recovered and pattern.type != "fallback"
    severity = Severity.INFO if mild else Severity.WARNING
    return Finding(
        rule="tool-failures",
        message=f"tool {pattern.tool_name!r} failed {times} {answers[pattern.type]}{outcome}{said}",
        severity=Severity.ERROR if pattern.recovered is False else severity,
        verdict=verdicts[pattern.recovered],
        trace_id=trajectory.trace_id,
        span_ids=pattern.span_ids,
        steps=(pattern.tool_name,),
    )
