"""RESOLVE rules that fold wrappers and duplicates: one thing recorded by several spans.

One thing a newcomer would get wrong: the outermost span is kept and takes the evidence of the inner
ones; nothing the inner spans know is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import UNSET

from trajscope.assemble._draft import Draft, TraceDraft, lift, model_parent
from trajscope.model.reading import StepType, Usage
from trajscope.names import ends_with_tool, same_tool
from trajscope.values import known_equal

_RUNS = (StepType.AGENT_RUN, StepType.WORKFLOW_RUN)


def fold_tools(traces: Sequence[TraceDraft]) -> None:
    """Fold a tool span into the tool span around it that records the same call.

    Agent tool > MCP client > transport > server, in two services perhaps: the same name (or the
    same behind a server prefix), no agent run or model call between.
    """
    for trace in traces:
        around: dict[int, Draft] = {}  # by draft: the tool call it may be a part of
        for draft in trace.drafts:
            outer = _tool_around(draft, around)
            if outer is None:
                continue
            around[id(draft)] = outer
            if draft.is_tool and _is_same_call(draft, outer):
                lift(draft, outer)
                draft.fold(f"same call as {outer.span.span_id}")


def _tool_around(draft: Draft, around: dict[int, Draft]) -> Draft | None:
    """The nearest tool call above, with no agent run or model call between; parents come first."""
    above = draft.parent
    if above is None or above.is_model_call or above.step_type is StepType.AGENT_RUN:
        return None
    return above if above.is_tool else around.get(id(above))


def _is_same_call(draft: Draft, outer: Draft) -> bool:
    """By name; two ids that differ are two calls: an agent tool may call itself."""
    ids = (draft.tool_call_id, outer.tool_call_id)
    if None not in ids and ids[0] != ids[1]:
        return False
    if same_tool(outer.name, draft.name, draft.mcp_server):
        return True
    return draft.is_mcp and (not draft.name or ends_with_tool(outer.name, draft.name))


def fold_model_calls(traces: Sequence[TraceDraft]) -> None:
    """Fold a generation inside a generation: wrappers, and a client's own span of the same call."""
    for trace in traces:
        for draft in trace.drafts:
            if draft.step_type is not StepType.MODEL_GENERATION:
                continue
            outer = model_parent(draft)
            if outer is not None:
                draft.fold(f"part of the model call {outer.span.span_id}")


def drop_repeated_responses(traces: Sequence[TraceDraft]) -> None:
    """Drop a model call beside another one with the same response id: two libraries, one call."""
    for trace in traces:
        first: dict[str, Draft] = {}
        for draft in sorted(trace.model_calls(), key=lambda d: d.time_key):
            response_id = draft.reading.response_id
            if response_id is None:
                continue
            other = first.setdefault(response_id, draft)
            if other is not draft and not _nested(draft, other) and not _nested(other, draft):
                first[response_id] = _drop_twin(draft, other)


def drop_calls_within_calls(traces: Sequence[TraceDraft]) -> None:
    """Drop the model call that another library recorded beside a span of the same call.

    Where one of two libraries makes no span current, its span lies beside the other's. They are one
    call if one lies within the time of the other, with the same model and the same token counts; of
    a call that failed neither may have counts. Each span is of one call: the tightest around it.
    """
    for trace in traces:
        beside: dict[int, list[Draft]] = defaultdict(list)
        for draft in trace.model_calls():
            if draft.step_type is not None and draft.span.ended:
                beside[id(draft.parent)].append(draft)
        for calls in beside.values():
            if len({draft.span.scope_name for draft in calls}) > 1:
                for inner, outer in _twins(calls):
                    _drop_twin(inner, outer)


def _twins(calls: list[Draft]) -> Iterator[tuple[Draft, Draft]]:
    """Yield each call that lies within another one with that one; none is of two pairs."""
    alone: list[Draft] = []  # those that are open when the next one starts
    for inner in sorted(calls, key=lambda d: (d.span.start_ns or 0, -_length(d))):
        start = inner.span.start_ns or 0
        alone = [outer for outer in alone if (outer.span.end_ns or 0) >= start]
        around = [outer for outer in alone if _is_within(inner, outer)]
        if around:
            outer = min(around, key=_length)
            alone.remove(outer)
            yield inner, outer
        else:
            alone.append(inner)


def _length(draft: Draft) -> int:
    return (draft.span.end_ns or 0) - (draft.span.start_ns or 0)


def _is_within(inner: Draft, outer: Draft) -> bool:
    """Whether one call ended within another that began before it, and nothing sets them apart."""
    one, other = inner.reading, outer.reading
    if inner.span.scope_name == outer.span.scope_name or one.model != other.model:
        return False
    if None not in (one.response_id, other.response_id) and one.response_id != other.response_id:
        return False
    if one.usage is None and other.usage is None and not (inner.failed or outer.failed):
        return False
    is_inside = (inner.span.end_ns or 0) <= (outer.span.end_ns or 0)
    return is_inside and _counts(one.usage) == _counts(other.usage)


def _counts(usage: Usage | None) -> tuple[int | None, int | None]:
    return (None, None) if usage is None else (usage.input, usage.output)


def _drop_twin(one: Draft, other: Draft) -> Draft:
    """Return the span of one call that tells more of what was asked for or given; `other` if equal.

    The one that goes leaves what it knows of a failure.
    """
    told = [bool(d.reading.requests) + bool(d.reading.responses) for d in (one, other)]
    kept, dropped = (one, other) if told[0] > told[1] else (other, one)
    if dropped.failed and kept.failed is None:
        kept.failed, kept.failure = True, dropped.failure
    dropped.fold(f"same model call as {kept.span.span_id}")
    dropped.is_model_call = False
    return kept


def drop_repeated_calls(traces: Sequence[TraceDraft]) -> None:
    """Drop a tool call beside the same one of another library: one id, one name, one time.

    The same library writes an id twice only when it tries again, or when a call was suspended and
    resumed, which is one call: the second half has the result. Ids repeat between agents.
    """
    for trace in traces:
        first: dict[tuple[str, str], list[Draft]] = {}
        halves: dict[tuple[str, str], list[Draft]] = {}
        for draft in sorted(trace.tools(), key=lambda d: d.time_key):
            if draft.tool_call_id is None:
                continue
            key = (draft.tool_call_id, draft.name)
            alike = first.setdefault(key, [])
            twin = next((other for other in alike if _is_twin(draft, other)), None)
            if twin is not None:
                lift(draft, twin)
                draft.fold(f"same call as {twin.span.span_id}")
            elif draft.result is UNSET:
                alike.append(draft)
                halves.setdefault(key, []).append(draft)
            else:
                waiting = halves.get(key, [])
                half = next((other for other in waiting if _is_resumed(draft, other)), None)
                if half is None:
                    alike.append(draft)
                else:
                    half.fold(f"suspended, and resumed as {draft.span.span_id}")
                    alike[alike.index(half)] = draft
                    waiting.remove(half)


def _is_twin(later: Draft, earlier: Draft) -> bool:
    """Whether another library's span lies within the time of the earlier one."""
    start, end = later.span.start_ns, earlier.span.end_ns
    if later.span.scope_name == earlier.span.scope_name or start is None or end is None:
        return False
    return start < end or (later.span.end_ns or start) <= end


def _is_resumed(later: Draft, earlier: Draft) -> bool:
    """Whether the earlier span ended with nothing to show, and the later one has the result."""
    ended, start = earlier.span.end_ns, later.span.start_ns
    if ended is None or start is None or start < ended:
        return False
    return earlier.result is UNSET and not earlier.failed and known_equal(earlier.args, later.args)


def _nested(inner: Draft, outer: Draft) -> bool:
    return any(above is outer for above in inner.ancestors())


def fold_runs(traces: Sequence[TraceDraft]) -> None:
    """Fold the second span of one run: inside a run of the same name, or beside it.

    A wrapper around a run whose context was lost lies beside it: it holds nothing, and a run of
    the same name starts next to it while it is open.
    """
    for trace in traces:
        for draft, outer in trace.with_kept_above():
            if draft.step_type not in _RUNS:
                continue
            if outer is not None and _same_run(draft, outer):
                _fold_run(draft, outer)
            elif not draft.children and (twin := _run_beside(draft)) is not None:
                _fold_run(draft, twin)


def _fold_run(draft: Draft, kept: Draft) -> None:
    if draft.failed and kept.failed is None:
        kept.failed, kept.failure = True, draft.failure
    draft.fold(f"same run as {kept.span.span_id}")


def _run_beside(draft: Draft) -> Draft | None:
    start, end = draft.span.start_ns, draft.span.end_ns
    if draft.parent is None or start is None or end is None:
        return None
    for other in draft.parent.children:
        begun = other.span.start_ns
        if other is draft or not other.children or not _same_run(draft, other):
            continue
        if begun is not None and start <= begun <= end:
            return other
    return None


def _same_run(one: Draft, other: Draft) -> bool:
    """By name; agents that are named by a label alone are one only where nothing lies between."""
    if one.step_type is not other.step_type or one.name != other.name:
        return False
    is_named = one.step_type is not StepType.AGENT_RUN or one.agent_name is not None
    return is_named or one.parent is other or one.parent is other.parent


def fold_wrappers(traces: Sequence[TraceDraft]) -> None:
    """Fold a run that only wraps another one.

    A workflow run that holds nothing but one agent run of the same name is its runner; an agent run
    without a name that is all that a named one holds is that agent's own.
    """
    for trace in traces:
        held: dict[int, list[tuple[Draft, Draft]]] = {}
        for draft, outer in trace.with_kept_above():
            if draft.step_type is not None and outer is not None:
                held.setdefault(id(outer), []).append((draft, outer))
        for pairs in held.values():
            run, outer = pairs[0]
            if len(pairs) > 1 or run.step_type is not StepType.AGENT_RUN:
                continue
            if outer.step_type is StepType.WORKFLOW_RUN and run.name == outer.name:
                _fold_run(outer, run)
            elif outer.step_type is StepType.AGENT_RUN and outer.agent_name and not run.agent_name:
                _fold_run(run, outer)
