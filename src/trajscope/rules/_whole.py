"""Decides `Limits` and `Transitions`: a trace as a whole, and which step may follow which.

One thing a newcomer would get wrong: a figure that is known to be a lower bound can break a budget,
but never keep one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from trajscope.match import compile_pattern
from trajscope.model.check import Limits, Transitions
from trajscope.model.step import AgentRunStep, HandoffStep
from trajscope.model.trajectory import Trajectory
from trajscope.rules._lines import Line, LineStep
from trajscope.rules._outcome import PENDING, Context, Hit, Outcome


class _Figure(NamedTuple):
    """A measured figure; exact is False for a lower bound, value None for an unknown one."""

    value: int | None
    exact: bool = True
    at: tuple[LineStep, ...] = ()


def decide_limits(check: Limits, line: Line, context: Context) -> Outcome:
    """Return which budgets are exceeded, and which cannot be known to be kept."""
    outcome = Outcome()
    for measure, limit in check.limits:
        figure = _measure(measure, line, context)
        told = f"{_shown(measure, figure.value)} of at most {_shown(measure, limit)}"
        if figure.value is not None and figure.value > limit:
            outcome.violated.append(Hit(figure.at, told))
        elif figure.value is None or not figure.exact:
            outcome.unknown.append(Hit((), told))
            outcome.reason = f"{measure.removesuffix('_ns')} was not recorded"
        elif line.unfinished:
            outcome.unknown.append(Hit((), told))
            outcome.reason = PENDING
    return outcome


def _shown(measure: str, value: int | None) -> str:
    if value is None:
        return f"unknown {measure.removesuffix('_ns')}"
    if measure == "duration_ns":
        return f"{value / 1_000_000_000:g} s"
    return f"{value} {measure.replace('_', ' ')}"


def _measure(measure: str, line: Line, context: Context) -> _Figure:
    ran = [item for item in line.steps if item.executed]
    if measure == "steps":
        return _Figure(len(ran))
    if measure == "tool_calls":
        return _Figure(sum(item.step.is_tool for item in ran))
    if measure == "depth":
        deepest = max(ran, key=lambda item: (item.depth, -item.rank), default=None)
        return _Figure(0) if deepest is None else _Figure(deepest.depth + 1, at=(deepest,))
    trajectories = context.traces.trajectories
    if measure == "duration_ns":
        return _duration(trajectories)
    figures = [_total(measure, trajectory) for trajectory in trajectories]
    known = [figure.value for figure in figures if figure.value is not None]
    complete = len(known) == len(figures) and all(figure.exact for figure in figures)
    return _Figure(sum(known) if known else None, complete)


def _total(measure: str, trajectory: Trajectory) -> _Figure:
    if measure == "model_calls":
        return _Figure(trajectory.model_calls)
    tokens = trajectory.tokens
    if tokens is None:
        return _Figure(None)
    if measure == "tokens":
        parts = [n for n in (tokens.input, tokens.output) if n is not None]
        return _Figure(sum(parts) if parts else None, tokens.complete)
    return _Figure(tokens.input if measure == "input_tokens" else tokens.output, tokens.complete)


def _duration(trajectories: list[Trajectory]) -> _Figure:
    if len(trajectories) == 1:
        duration = trajectories[0].total_duration_ms
        return _Figure(None if duration is None else round(duration * 1_000_000))
    steps = [step for trajectory in trajectories for step in trajectory.walk()]
    starts = [step.start_ns for step in steps if step.start_ns is not None]
    ends = [step.end_ns for step in steps if step.end_ns is not None]
    if not starts or not ends:
        return _Figure(None)
    ended = all(step.end_ns is not None for step in steps if step.start_ns is not None)
    return _Figure(max(0, max(ends) - min(starts)), ended)


def decide_transitions(check: Transitions, line: Line, context: Context) -> Outcome:
    """Return the edges that are not allowed."""
    del context
    return _agents(check, line) if check.of == "agents" else _steps(check, line)


def _agents(check: Transitions, line: Line) -> Outcome:
    outcome = Outcome(activations=0, reason="an agent's name was not recorded")
    for item, source, target in _agent_edges(line):
        if source is not None and source == target:
            continue
        outcome.activations += 1
        told = f"{source or '(unknown)'} → {target or '(unknown)'}"
        if source is None or target is None:
            outcome.unknown.append(Hit((item,), told))
        elif _leads(check.denied, source, target) or not (
            check.allowed is None or _leads(check.allowed, source, target)
        ):
            outcome.violated.append(Hit((item,), told))
    return outcome


def _agent_edges(line: Line) -> Iterator[tuple[LineStep, str | None, str | None]]:
    for item in line.steps:
        step = item.step
        if isinstance(step, HandoffStep):
            yield item, step.from_agent or item.agent, step.to_agent
        elif isinstance(step, AgentRunStep) and item.agent is not None:
            yield item, item.agent, step.name


def _leads(pairs: tuple[tuple[str, tuple[str, ...]], ...], source: str, target: str) -> bool:
    return any(
        compile_pattern(start).matches([source])
        and any(compile_pattern(end).matches([target]) for end in ends)
        for start, ends in pairs
    )


def _steps(check: Transitions, line: Line) -> Outcome:
    ran = [item for item in line.steps if item.executed]
    outcome = Outcome(activations=len(ran))
    states = _States(check)
    for item in ran:
        if not states.of(item):
            outcome.violated.append(Hit((item,), f"{item.step.name} is no state of the model"))
    if ran and states.of(ran[0]) and not states.may(ran[0], check.start):
        outcome.violated.append(Hit((ran[0],), f"{ran[0].step.name} must not come first"))
    for one, other in pairwise(ran):
        if states.of(one) and states.of(other) and not states.leads(one, other):
            told = f"{one.step.name} → {other.step.name}"
            outcome.violated.append(Hit((one, other), told))
    if ran and states.of(ran[-1]) and not states.may(ran[-1], check.end):
        hit = Hit((ran[-1],), f"{ran[-1].step.name} must not come last")
        if line.unfinished:
            outcome.unknown.append(hit)
            outcome.reason = PENDING
        else:
            outcome.violated.append(hit)
    outcome.violated.sort(key=lambda hit: hit.witnesses[-1].rank)
    return outcome


class _States:
    """The states of a model; a step is in every state whose pattern matches it."""

    def __init__(self, check: Transitions) -> None:
        pairs = check.allowed or ()
        names = [name for name, _ in pairs] + [name for _, ends in pairs for name in ends]
        names += [*(check.start or ()), *(check.end or ())]
        self._names = tuple(dict.fromkeys(names))
        self._allowed = pairs
        self._known: dict[object, frozenset[str]] = {}

    def of(self, item: LineStep) -> frozenset[str]:
        step = item.step
        key = (step.name, getattr(step, "mcp_server", None), step.is_tool, step.label)
        if key not in self._known:
            matching = (n for n in self._names if compile_pattern(n).matches_step(step))
            self._known[key] = frozenset(matching)
        return self._known[key]

    def may(self, item: LineStep, names: tuple[str, ...] | None) -> bool:
        return names is None or not self.of(item).isdisjoint(names)

    def leads(self, one: LineStep, other: LineStep) -> bool:
        here, there = self.of(one), self.of(other)
        return any(start in here and not there.isdisjoint(ends) for start, ends in self._allowed)
