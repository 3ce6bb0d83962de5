"""Which steps of a trajectory a scorer looks at, and in which order.

One thing a newcomer would get wrong: the order of `tools` is by start over all depths, not by
nesting; a sub-agent's call stands between those of its parent. Hand-written trajectories record
no starts, and there the order of the document counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from trajscope.model.expectation import ExpectedStep, Scope
from trajscope.model.reading import TOOL_STEP_TYPES
from trajscope.model.step import AgentRunStep, BaseStep, ToolStep
from trajscope.model.trajectory import TokenTotals, Trajectory


class Located(NamedTuple):
    """A step and the agent run it belongs to: a key that is equal within one run, and its name."""

    step: BaseStep
    run: object
    agent: str | None


def resolve_scope(scope: Scope | None, steps: Sequence[ExpectedStep] = ()) -> Scope:
    """Return the scope that `auto` (and None) stands for, given the expected steps.

    `tools` when every expected step is untyped or a tool and expects nothing below it; else `tree`.
    `session` looks at the steps of a merged session as `auto` does.

    >>> resolve_scope("auto"), resolve_scope("top")
    ('tools', 'top')
    """
    if scope not in (None, "auto", "session"):
        return scope
    tools = all(
        (step.step_type is None or step.step_type in TOOL_STEP_TYPES) and step.children is None
        for step in steps
    )
    return "tools" if tools else "tree"


def locate_steps(trajectory: Trajectory) -> list[Located]:
    """Return every step, depth first, the unwrapped root first, with the run it belongs to.

    The run of a recorded step is its `agent_span_id`, or what its agent is called if that span is
    missing; of a hand-written step, the nearest agent run around it.
    """
    located: list[Located] = []
    root = trajectory.root
    outer: tuple[object, str | None] = (None, None)
    if root is not None:
        located.append(Located(root, *outer))
        if isinstance(root, AgentRunStep):
            outer = _run_of(root)
    stack = [(step, outer) for step in reversed(trajectory.steps)]
    while stack:
        step, around = stack.pop()
        if step.trace_id is not None:
            around = ((step.trace_id, step.agent_span_id or step.agent), step.agent)
        located.append(Located(step, *around))
        inner = _run_of(step) if isinstance(step, AgentRunStep) else around
        stack.extend((child, inner) for child in reversed(step.children))
    return located


def _run_of(run: AgentRunStep) -> tuple[object, str | None]:
    key: object = (run.trace_id, run.span_id) if run.span_id is not None else id(run)
    return key, run.name


def locate_tools(trajectory: Trajectory) -> list[Located]:
    """Return the tool steps at any depth in the order they were called."""
    return in_order([place for place in locate_steps(trajectory) if place.step.is_tool])


def tool_steps(trajectory: Trajectory) -> list[ToolStep]:
    """Return the tool calls of a trajectory in their order, those only requested too."""
    return [p.step for p in locate_tools(trajectory) if isinstance(p.step, ToolStep)]


def in_order(places: Sequence[Located]) -> list[Located]:
    """Return steps by their recorded order; traces of a session one after the other.

    Without recorded orders, by start; where a start is unknown too, as they stand.
    """
    traces: dict[str | None, int] = {}
    for place in places:
        traces.setdefault(place.step.trace_id, len(traces))
    steps = [place.step for place in places]
    if all(step.order is not None for step in steps):
        keys: list[Any] = [(traces[step.trace_id], step.order) for step in steps]
    elif all(step.start_ns is not None for step in steps):
        keys = [step.start_ns for step in steps]
    else:
        return list(places)
    return [place for _, place in sorted(zip(keys, places, strict=True), key=lambda pair: pair[0])]


def select_steps(trajectory: Trajectory, scope: Scope = "tree") -> list[BaseStep]:
    """Return the executed steps a scope holds, in its order.

    tools: tool calls at any depth. tree: every step, depth first, the unwrapped root included.
    top: the top-level steps, as the reference looks at them. `auto` and `session` are `tools`
    here; `agent` is for `agent_runs`, which keeps runs apart, and `tree` here. A call that was
    only requested is no step that was taken, and is left out.
    """
    scope = resolve_scope(scope)
    if scope == "top":
        steps: Iterable[BaseStep] = trajectory.steps
    elif scope == "tools":
        steps = (place.step for place in locate_tools(trajectory))
    else:
        steps = trajectory.walk()
    return [step for step in steps if was_executed(step)]


def agent_runs(trajectory: Trajectory) -> dict[object, list[Located]]:
    """Return the tool steps by the agent run they belong to, in order of the first call."""
    runs: dict[object, list[Located]] = {}
    for place in locate_tools(trajectory):
        runs.setdefault(place.run, []).append(place)
    return runs


def was_executed(step: BaseStep) -> bool:
    """Return whether the step was taken; False for a tool call that was only requested."""
    return not isinstance(step, ToolStep) or step.executed


def below(step: BaseStep) -> Trajectory:
    """Return what happened below a step as a trajectory of its own."""
    values: dict[str, Any] = {"steps": step.children, "trace_id": step.trace_id}
    if step.duration_ms is not None:
        values["total_duration_ms"] = step.duration_ms
    if step.start_ns is not None:
        values["start_ns"] = step.start_ns
    return Trajectory.model_construct(**values)


def merge_session(trajectories: Iterable[Trajectory]) -> Trajectory:
    """Return the traces of one session as one trajectory, in order of their start.

    Unwrapped roots become steps again, so that each agent run keeps its own calls. Totals are
    sums where every trace knows them; duration is left unknown, since the pauses between the turns
    of a conversation are nobody's work.
    """
    turns = sorted(
        trajectories, key=lambda t: (t.start_ns is None, t.start_ns or 0, t.trace_id or "")
    )
    steps = [step for turn in turns for step in _with_root(turn)]
    values: dict[str, Any] = {
        "steps": tuple(steps),
        "session_id": next((t.session_id for t in turns if t.session_id), None),
        "orphans": tuple(o for t in turns for o in t.orphans),
        "missing_parents": tuple(p for t in turns for p in t.missing_parents),
        "root_span_ids": tuple(r for t in turns for r in t.root_span_ids),
        "agents": tuple(dict.fromkeys(a for t in turns for a in t.agents)),
        "repairs": tuple(r for t in turns for r in t.repairs),
    }
    for field in ("model_calls", "span_count", "noise_span_count"):
        known = [getattr(turn, field) for turn in turns]
        values[field] = sum(known) if known and None not in known else None
    if any(turn.tokens is not None for turn in turns):
        values["tokens"] = _sum_tokens(turns)
    if turns and turns[0].start_ns is not None:
        values["start_ns"] = turns[0].start_ns
    return Trajectory.model_construct(**values)


def _with_root(turn: Trajectory) -> tuple[BaseStep, ...]:
    if turn.root is None:
        return turn.steps
    return (turn.root.model_copy(update={"children": turn.steps}),)


def _sum_tokens(turns: Sequence[Trajectory]) -> TokenTotals:
    """Return the sums over the turns; a turn without counts makes them lower bounds."""
    counted = [turn.tokens for turn in turns if turn.tokens is not None]
    sums: dict[str, Any] = {}
    for field in ("input", "output", "total", "cached_input"):
        known = [n for n in (getattr(tokens, field) for tokens in counted) if n is not None]
        sums[field] = sum(known) if known else None
    complete = all(turn.tokens is not None and turn.tokens.complete for turn in turns)
    return TokenTotals(**sums, complete=complete)
