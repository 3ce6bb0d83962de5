"""Places drafts: from resolved drafts to a nested, ordered Trajectory.

One thing a newcomer would get wrong: siblings are sorted after noise is gone, so a step that moved
up past its wrapper still stands at its own place in time.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from trajscope.assemble._draft import Draft, TraceDraft
from trajscope.assemble._tokens import Below, count_tokens, to_totals
from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory

_CONTAINERS = (StepType.AGENT_RUN, StepType.WORKFLOW_RUN)
_OUTPUT_TYPES = (StepType.WORKFLOW_STEP, StepType.RETRIEVAL)


class _Placed:
    """A kept draft with its kept children."""

    __slots__ = ("agent", "children", "draft", "order")

    def __init__(self, draft: Draft, agent: Draft | None) -> None:
        self.draft = draft
        self.agent = agent
        self.children: list[_Placed] = []
        self.order = 0


def place(trace: TraceDraft) -> Trajectory:
    """Return the trajectory of one resolved trace."""
    tokens = count_tokens(trace)
    tops, placed = _kept(trace)
    for rank, item in enumerate(sorted(placed, key=lambda p: p.draft.time_key)):
        item.order = rank
    steps = _build(placed, tokens)
    root, top_steps = _unwrap(tops, steps)
    forest = trace.forest
    starts = [d.span.start_ns for d in trace.drafts if d.span.start_ns is not None]
    values: dict[str, Any] = {
        "steps": top_steps,
        "trace_id": forest.trace_id,
        "session_id": trace.session_id(),
        "root_span_ids": tuple(n.span.span_id for n in forest.roots),
        "orphans": tuple(n.span.span_id for n in forest.orphans),
        "missing_parents": tuple(forest.missing_parents),
        "agents": _agents(placed),
        "span_count": len(trace.drafts),
        "noise_span_count": sum(d.step_type is None for d in trace.drafts),
        "start_ns": min(starts, default=None),
        "repairs": tuple(forest.repairs),
        **_duration(trace),
        **_totals(trace, tokens),
    }
    if root is not None:
        values["root"] = root
    return Trajectory.model_construct(**values)


def _kept(trace: TraceDraft) -> tuple[list[_Placed], list[_Placed]]:
    """Return the top-level kept drafts, and all of them."""
    tops: list[_Placed] = []
    every: list[_Placed] = []
    stack: list[tuple[Draft, _Placed | None, Draft | None]] = [
        (d, None, None) for d in reversed(trace.drafts) if d.parent is None
    ]
    while stack:
        draft, above, agent = stack.pop()
        if draft.step_type is not None:
            item = _Placed(draft, agent)
            (above.children if above else tops).append(item)
            every.append(item)
            above = item
            if draft.step_type is StepType.AGENT_RUN:
                agent = draft
        stack.extend((c, above, agent) for c in reversed(draft.children))
    for item in every:
        item.children.sort(key=lambda p: p.draft.time_key)
    tops.sort(key=lambda p: p.draft.time_key)
    return tops, every


def _build(placed: list[_Placed], tokens: dict[int, Below]) -> dict[int, BaseStep]:
    """Build steps bottom up: `placed` is in walking order, so children come after parents."""
    steps: dict[int, BaseStep] = {}
    for item in reversed(placed):
        values = _common(item)
        children = tuple(steps[id(c)] for c in item.children)
        if children:
            values["children"] = children
        draft = item.draft
        if draft.is_tool:
            values |= _tool_values(draft)
        elif draft.step_type is StepType.MODEL_GENERATION:
            values |= _model_values(draft, tokens[id(draft)])
        elif draft.step_type is StepType.AGENT_RUN:
            values |= {"agent_id": draft.reading.agent_id} if draft.reading.agent_id else {}
        elif draft.step_type is StepType.WORKFLOW_RUN:
            values["workflow_id"] = draft.name
        elif draft.step_type is StepType.WORKFLOW_STEP:
            values["step_id"] = draft.name
        values |= draft.reading.fields if draft.request is None else {}
        assert draft.step_type is not None  # noqa: S101 - kept drafts have one; for the type checker
        steps[id(item)] = build_step(draft.step_type, values)
    return steps


def _common(item: _Placed) -> dict[str, Any]:
    draft = item.draft
    span = draft.span
    values: dict[str, Any] = {
        "name": draft.name or span.name,
        "span_id": span.span_id,
        "trace_id": span.trace_id,
        "label": span.name,
        "order": item.order,
    }
    if draft.request is None:
        if span.duration_ns is not None:
            values["duration_ms"] = span.duration_ns / 1_000_000
        values |= {"start_ns": span.start_ns, "end_ns": span.end_ns}
    agent = item.agent.name if item.agent else draft.agent_name
    if agent and draft.step_type is not StepType.AGENT_RUN:
        values["agent"] = agent
    if item.agent is not None:
        values["agent_span_id"] = item.agent.span.span_id
    if draft.failed is not None:
        values["failed"] = draft.failed
    if draft.failed and draft.failure:
        values["failure"] = draft.failure
    return values


def _tool_values(draft: Draft) -> dict[str, Any]:
    values: dict[str, Any] = {"executed": draft.executed, "from_messages": draft.from_messages}
    if draft.args is not UNSET:
        values["tool_args"] = draft.args
    if draft.result is not UNSET:
        values["tool_result"] = draft.result
    if draft.failed is not None:
        values["success"] = not draft.failed
    if draft.tool_call_id:
        values["tool_call_id"] = draft.tool_call_id
    if draft.mcp_server and draft.step_type is StepType.MCP_TOOL_CALL:
        values["mcp_server"] = draft.mcp_server
    return values


def _model_values(draft: Draft, below: Below) -> dict[str, Any]:
    reading, found = draft.reading, below.nest
    inner = _first_inner(draft)
    values: dict[str, Any] = {"model_calls": found.calls}
    if model := reading.model or (inner and inner.reading.model):
        values["model_id"] = model
        if not draft.name:
            values["name"] = model
    if found.known:
        values |= {
            "prompt_tokens": found.input,
            "completion_tokens": found.output,
            "cached_prompt_tokens": found.cached,
        }
    if reason := reading.finish_reason:
        values["finish_reason"] = reason
    return values


def _first_inner(draft: Draft) -> Draft | None:
    """The first model call of the nest that names its model, for generations that do not."""
    stack = list(reversed(draft.children))
    while stack:
        node = stack.pop()
        if node.step_type is not None:
            continue
        if node.is_model_call and node.reading.model:
            return node
        stack.extend(reversed(node.children))
    return None


def _unwrap(
    tops: list[_Placed], steps: dict[int, BaseStep]
) -> tuple[BaseStep | None, tuple[BaseStep, ...]]:
    """Unwrap the single agent or workflow run at the top; orphans stay at their place in time."""
    proper = [p for p in tops if not _under_orphan(p.draft)]
    if len(proper) != 1 or proper[0].draft.step_type not in _CONTAINERS:
        return None, tuple(steps[id(p)] for p in tops)
    run = proper[0]
    others = [p for p in tops if p is not run]
    inside = sorted([*run.children, *others], key=lambda p: p.draft.time_key)
    root = steps[id(run)].model_copy(update={"children": ()})
    root.__pydantic_fields_set__.discard("children")
    return root, tuple(steps[id(p)] for p in inside)


def _under_orphan(draft: Draft) -> bool:
    *_, top = (draft, *draft.ancestors())
    return top.is_orphan


def _duration(trace: TraceDraft) -> dict[str, float]:
    roots = trace.forest.roots
    duration = roots[0].span.duration_ns if len(roots) == 1 else None
    return {} if duration is None else {"total_duration_ms": duration / 1_000_000}


def _agents(placed: list[_Placed]) -> tuple[str, ...]:
    """Names of agent runs, and of agents whose own span is missing, in order of appearance."""
    names: dict[str, None] = {}
    for item in sorted(placed, key=lambda p: p.draft.time_key):
        draft = item.draft
        if draft.step_type is StepType.AGENT_RUN:
            names.setdefault(draft.name or draft.span.name)
        elif item.agent is None and draft.agent_name:
            names.setdefault(draft.agent_name)
    return tuple(names)


def _totals(trace: TraceDraft, tokens: dict[int, Below]) -> dict[str, Any]:
    found = Below().total()
    for draft in trace.drafts:
        if draft.parent is None:
            found = found.plus(tokens[id(draft)].total())
    # An agent run without model calls mostly means that nobody recorded them.
    silent = any(
        d.step_type is StepType.AGENT_RUN and d.reading.model_calls is None for d in trace.drafts
    )
    calls = None if silent and found.calls == 0 else found.calls
    return {"model_calls": calls, "tokens": to_totals(found)}
