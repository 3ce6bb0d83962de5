"""What answered each failed call: a retry, an argument correction, a fallback, or nothing.

One thing a newcomer would get wrong: an answer comes *after* the failure. A parallel call of the
same tool, started before the failed one ended, is no retry of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

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
    later, later_of = _Later(), defaultdict[str, _Later](_Later)
    by_call: dict[int, Failed] = {}
    for place in reversed(places):
        call = place.step
        if not isinstance(call, ToolStep):
            continue
        of_tool = later_of[tool_key(call)]
        if call.success is False:
            failed = by_call[id(call)] = _answered(Failed(call, place.agent), of_tool, later)
            below = by_call.get(id(failed.answer))
            if below is not None:
                failed.recovered = below.recovered
        of_tool.add(call)
        later.add(call)
    return [*reversed(by_call.values())]


def _answered(failed: Failed, of_tool: _Later, later: _Later) -> Failed:
    call = failed.step
    failed.answer = answer = of_tool.first_after(call)
    if answer is not None:
        failed.args_known = call.tool_args is not None and answer.tool_args is not None
        equal = not failed.args_known or equal_json(call.tool_args, answer.tool_args)
        failed.type = "retry" if equal else "arg_correction"
    else:
        failed.answer = answer = later.first_after(call)
        failed.type = "failure" if answer is None else "fallback"
    if answer is not None:
        failed.recovered = answer.success
    return failed


class _Later:
    """The calls after a place that could be the first to start after some time.

    A call that starts no later than one before it never is. So their starts increase, from the
    nearest call on, and are searched by halves, however many calls run side by side.
    """

    def __init__(self) -> None:
        self._calls: list[ToolStep] = []
        self._starts: list[float] = []
        """Negated, and the nearest call last: the search wants them to increase."""

    def add(self, call: ToolStep) -> None:
        """Add the call right before those that are here. One of unknown start answers anything."""
        start = -inf if call.start_ns is None else -call.start_ns
        while self._starts and self._starts[-1] >= start:
            self._starts.pop()
            self._calls.pop()
        self._starts.append(start)
        self._calls.append(call)

    def first_after(self, failed: ToolStep) -> ToolStep | None:
        """Return the first call that did not start before the failed one ended."""
        end = failed.end_ns
        at = len(self._starts) if end is None else bisect_right(self._starts, -end)
        return self._calls[at - 1] if at else None


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
    ends = _ends(failures)
    return [_pattern(chain, ends[id(chain[-1])]) for chain in chains]


def _ends(failures: Sequence[Failed]) -> dict[int, Failed | None]:
    """Return, for each failure, the one that the calls of its tool end with; None if otherwise."""
    by_call = {id(failed.step): failed for failed in failures}
    ends: dict[int, Failed | None] = {}
    for failed in reversed(failures):
        if failed.type in ("failure", "fallback"):
            ends[id(failed)] = failed
        else:
            onward = by_call.get(id(failed.answer))
            ends[id(failed)] = None if onward is None else ends[id(onward)]
    return ends


def _pattern(chain: Sequence[Failed], end: Failed | None) -> FailurePattern:
    last = chain[-1]
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


def _last_success(failed: Failed) -> bool | None:
    """Return the success of the last call of a chain that does not end with a failure."""
    return failed.answer.success if failed.answer is not None else False
