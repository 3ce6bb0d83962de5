"""What answered each failed call: a retry, an argument correction, a fallback, or nothing.

One thing a newcomer would get wrong: an answer comes *after* the failure. A parallel call of the
same tool, started before the failed one ended, is no retry of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajscope.match import tool_key
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, agent_runs, was_executed
from trajscope.scorers._results import FailurePattern, PatternType
from trajscope.values import equal_json


@dataclass(slots=True)
class Failed:
    """A failed call and what answered it.

    recovered: whether the answer succeeded, or what answered that in turn; None if unknown.
    args_known: False when equal arguments could not be told from others; then it is a retry.
    """

    step: ToolStep
    agent: str | None
    type: PatternType = "failure"
    answer: ToolStep | None = None
    args_known: bool = True
    recovered: bool | None = False


def judged_calls(trajectory: Trajectory) -> list[list[Located]]:
    """Return the tool calls of each agent run, in order: those that ran or were refused.

    A call that was requested and of which nothing more is known was not made.
    """
    runs = agent_runs(trajectory).values()
    return [
        [p for p in places if was_executed(p.step) or p.step.success is False]  # type: ignore[attr-defined]
        for places in runs
    ]


def answer_failures(places: Sequence[Located]) -> list[Failed]:
    """Return the failed calls of one agent run, in order, each with its answer.

    Goes backwards, so that what became of an answer is known when it is needed.
    """
    calls = [place.step for place in places if isinstance(place.step, ToolStep)]
    of_tool: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        of_tool.setdefault(tool_key(call), []).append(index)
    by_call: dict[int, Failed] = {}
    for index in range(len(calls) - 1, -1, -1):
        call = calls[index]
        if call.success is not False:
            continue
        failed = Failed(call, places[index].agent)
        same = of_tool[tool_key(call)]
        answer = _next(calls, call, same[bisect_right(same, index) :])
        if answer is not None:
            failed.args_known = call.tool_args is not None and answer.tool_args is not None
            equal = not failed.args_known or equal_json(call.tool_args, answer.tool_args)
            failed.type = "retry" if equal else "arg_correction"
        else:
            answer = _next(calls, call, range(index + 1, len(calls)))
            failed.type = "failure" if answer is None else "fallback"
        if answer is not None:
            failed.answer = answer
            below = by_call.get(id(answer))
            failed.recovered = answer.success if below is None else below.recovered
        by_call[id(call)] = failed
    return [by_call[id(call)] for call in calls if id(call) in by_call]


def _next(calls: Sequence[ToolStep], failed: ToolStep, later: Iterable[int]) -> ToolStep | None:
    """Return the first of the later calls that did not start before the failed one ended."""
    for index in later:
        start = calls[index].start_ns
        if failed.end_ns is None or start is None or start >= failed.end_ns:
            return calls[index]
    return None


def to_patterns(failures: Sequence[Failed]) -> list[FailurePattern]:
    """Return the patterns of one agent run: failures linked by like answers are one pattern."""
    answered = {id(f.answer): f for f in failures if f.type in ("retry", "arg_correction")}
    chains: list[list[Failed]] = []
    open_chains: dict[int, list[Failed]] = {}
    for failed in failures:
        before = answered.get(id(failed.step))
        chain = open_chains.get(id(before)) if before is not None else None
        if chain is not None and before is not None and before.type == failed.type:
            chain.append(failed)
        else:
            chain = [failed]
            chains.append(chain)
        open_chains[id(failed)] = chain
    ends = {id(f.step): f for f in failures}
    return [_pattern(chain, ends) for chain in chains]


def _pattern(chain: Sequence[Failed], ends: dict[int, Failed]) -> FailurePattern:
    last = chain[-1]
    end = _end_of(last, ends)
    steps = [failed.step for failed in chain] + ([last.answer] if last.answer is not None else [])
    fell_back = end is not None and end.type == "fallback"
    alternative = end.answer.name if fell_back and end is not None and end.answer else None
    return FailurePattern(
        type=last.type,
        tool_name=chain[0].step.name,
        retry_count=len(chain) if last.type == "retry" else 0,
        fell_back_to_alternative=fell_back,
        alternative_tool=alternative,
        eventually_succeeded=False if end is not None else _last_success(last),
        failures=len(chain),
        recovered=last.recovered,
        args_known=all(failed.args_known for failed in chain),
        agent=chain[0].agent,
        span_ids=tuple(step.span_id for step in steps if step.span_id is not None),
        messages=tuple(failed.step.failure for failed in chain if failed.step.failure),
    )


def _end_of(failed: Failed, ends: dict[int, Failed]) -> Failed | None:
    """Return the failure a chain of calls of one tool ends with; None if it ends otherwise."""
    current: Failed | None = failed
    while current is not None and current.type in ("retry", "arg_correction"):
        current = ends.get(id(current.answer))
    return current


def _last_success(failed: Failed) -> bool | None:
    """Return the success of the last call of a chain that does not end with a failure."""
    return failed.answer.success if failed.answer is not None else False
