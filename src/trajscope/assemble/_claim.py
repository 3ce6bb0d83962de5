"""Which of the calls that ran a requested call is: by id, by name and arguments, by turn.

One thing a newcomer would get wrong: a call is claimed once. Requests go in the order of time, the
surest way of telling first, so that a doubtful pair takes nothing from a certain one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from msgspec import UNSET

from trajscope.assemble._draft import Draft, TraceDraft, model_parent, owner_of
from trajscope.model.reading import StepType, ToolRequest
from trajscope.names import ends_with_tool, same_tool
from trajscope.values import equal_json, known_equal


class Asked(NamedTuple):
    """One request: the model call that made it, and its place in that message."""

    model: Draft
    rank: int
    request: ToolRequest


def asked_of(trace: TraceDraft) -> Iterator[Asked]:
    """Yield the requests of every model call once, though a nest of spans repeats them."""
    used: set[int] = set()
    seen: set[str] = set()
    asked: list[Asked] = []
    for draft in reversed(list(trace.model_calls())):  # inner spans come before outer ones
        requests = draft.reading.requests
        if not requests or id(draft) in used:
            continue
        asked += [Asked(draft, rank, r) for rank, r in enumerate(requests)]
        for above in _nest_above(draft):
            if id(above) in used:  # and so is all that is above it
                break
            used.add(id(above))
    for item in sorted(asked, key=lambda a: (a.model.time_key, a.rank)):
        key = f"{item.request.call_id}\0{item.request.name}"
        if item.request.call_id is None or key not in seen:
            seen.add(key)
            yield item


def _nest_above(draft: Draft) -> Iterator[Draft]:
    above = model_parent(draft)
    while above is not None:
        yield above
        above = model_parent(above)


class _Bounds(NamedTuple):
    """What keeps a request and a call apart: when turns end, and the ids of all requests."""

    ends: dict[int, float]
    ids: set[str | None]


def claim_calls(asked: list[Asked], trace: TraceDraft) -> list[Asked]:
    """Pair requests with executed calls; return those without one.

    First by call id; then by name and equal arguments; then, within the turn (before the next
    model call), by arguments that hold those asked for beside injected ones; then by name, for
    calls whose recorded arguments differ or are unknown. An id that no request has is of another
    kind, a run's own perhaps, and keeps no pair apart.
    """
    ids = {item.request.call_id for item in asked}
    ran = [d for d in trace.drafts if d.is_tool or d.step_type is StepType.HANDOFF]
    by_id: dict[str, list[Draft]] = defaultdict(list)
    for draft in ran:
        if draft.tool_call_id is not None:
            by_id[draft.tool_call_id].append(draft)
    claimed: set[int] = set()
    left: list[Asked] = []

    def take(item: Asked, draft: Draft) -> None:
        claimed.add(id(draft))
        draft.request_rank = item.rank
        if draft.args is UNSET or _covers(draft, item):
            draft.args = item.request.args
        if draft.tool_call_id not in ids:
            draft.tool_call_id = item.request.call_id or draft.tool_call_id
        draft.agent_name = draft.agent_name or item.model.agent_name

    for item in asked:
        candidates = by_id.get(item.request.call_id or "", [])
        match = next((d for d in candidates if id(d) not in claimed and names_allow(item, d)), None)
        if match is not None:
            take(item, match)
        else:
            left.append(item)
    for compare in (_equal_call, _injected_call, _same_turn):
        still: list[Asked] = []
        bounds = _Bounds(turn_ends(left, trace), ids)
        free = [d for d in ran if id(d) not in claimed]
        for item in left:
            match = next(
                (d for d in free if id(d) not in claimed and compare(item, d, bounds)), None
            )
            if match is not None:
                take(item, match)
            else:
                still.append(item)
        left = still
    return left


def turn_ends(items: list[Asked], trace: TraceDraft) -> dict[int, float]:
    """When the next model call of the same agent starts, by model call; infinity after the last."""
    if not items:
        return {}
    starts: dict[int, list[int]] = defaultdict(list)
    for call in trace.model_calls():
        if model_parent(call) is None and call.span.start_ns is not None:
            starts[owner_of(call)].append(call.span.start_ns)
    for of_owner in starts.values():
        of_owner.sort()
    ends: dict[int, float] = {}
    for item in items:
        own = item.model.span.end_ns or item.model.span.start_ns or 0
        of_owner = starts[owner_of(_outermost(item.model))]
        later = bisect_left(of_owner, own)
        ends[id(item.model)] = of_owner[later] if later < len(of_owner) else inf
    return ends


def _outermost(draft: Draft) -> Draft:
    *_, last = (draft, *_nest_above(draft))
    return last


def _ids_differ(item: Asked, draft: Draft, bounds: _Bounds) -> bool:
    asked, ran = item.request.call_id, draft.reading.tool_call_id
    return asked is not None and asked != ran and ran in bounds.ids and ran is not None


def names_allow(item: Asked, draft: Draft) -> bool:
    """Whether names allow a request and a call to be one: ids alone repeat between agents."""
    asked, ran = item.request.name, draft.name
    if draft.step_type is StepType.HANDOFF or not ran:
        return True
    same = same_tool(ran, asked, draft.mcp_server)
    return same or ends_with_tool(ran, asked) or ends_with_tool(asked, ran)


def _starts_after(item: Asked, draft: Draft) -> bool:
    asked, ran = item.model.span.start_ns, draft.span.start_ns
    return asked is None or ran is None or ran >= asked


def _equal_call(item: Asked, draft: Draft, bounds: _Bounds) -> bool:
    return (
        draft.is_tool
        and not _ids_differ(item, draft, bounds)
        and same_tool(draft.name, item.request.name, draft.mcp_server)
        and known_equal(draft.args, item.request.args)
        and _starts_after(item, draft)
    )


def _covers(draft: Draft, item: Asked) -> bool:
    """Whether a call ran with more than the arguments asked for: the framework put some in.

    A context object or a state is no argument of the model's; the call counts as what was asked.
    """
    ran, asked = draft.args, item.request.args
    if not isinstance(ran, dict) or not isinstance(asked, dict) or len(ran) <= len(asked):
        return False
    return all(key in ran and equal_json(ran[key], value) for key, value in asked.items())


def _injected_call(item: Asked, draft: Draft, bounds: _Bounds) -> bool:
    return draft.is_tool and _covers(draft, item) and _same_turn(item, draft, bounds)


def _same_turn(item: Asked, draft: Draft, bounds: _Bounds) -> bool:
    if not _starts_after(item, draft) or (draft.span.start_ns or 0) > bounds.ends[id(item.model)]:
        return False
    if draft.step_type is StepType.HANDOFF:
        return _is_handoff(item.request.name)
    return not _ids_differ(item, draft, bounds) and same_tool(
        draft.name, item.request.name, draft.mcp_server
    )


def _is_handoff(tool: str) -> bool:
    """Whether a requested tool (`transfer_to_x`, `handoff`) is one that a handoff carries out."""
    words = tool.lower().replace("-", "_")
    return any(word in words for word in ("transfer", "handoff", "hand_off"))
