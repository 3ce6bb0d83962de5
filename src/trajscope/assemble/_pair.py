"""RESOLVE rule that pairs the calls a model requested with the calls that ran and their results.

One thing a newcomer would get wrong: a request without a span is not yet a call that never ran.
If the messages hold its result it ran (`executed`, known from messages); if they hold the
framework's refusal it did not (`success` false); if they hold nothing, nobody knows (null).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET

from trajscope.assemble._answers import Answer, Answers
from trajscope.assemble._draft import Draft, TraceDraft, model_parent
from trajscope.evidence import failure_of_message, is_refusal
from trajscope.model.reading import StepType, ToolRequest, ToolResponse
from trajscope.names import ends_with_tool, same_tool
from trajscope.values import equal_json


class Asked(NamedTuple):
    """One request: the model call that made it, and its place in that message."""

    model: Draft
    rank: int
    request: ToolRequest


def pair_requests(traces: Sequence[TraceDraft]) -> None:
    """Join requests, executed calls and results: within a trace, then within session or capture."""
    answers = Answers(traces)
    left = [claim_calls(list(_asked(trace)), trace) for trace in traces]
    taken: set[int] = set()
    for index, trace in enumerate(traces):
        for item in left[index]:
            answer = answers.to_request(index, item.model, item.rank)
            ran = None
            if answer is not None and answer.place != index:
                ran = ran_later(item, answer, traces[answer.place], taken)
            made = requested_draft(item, answer.response if answer and ran is None else None)
            if ran is not None:
                taken.add(id(ran))
                made.failed = made.failure = None
                made.notes.append(f"it ran later: span {ran.span.span_id} of {ran.span.trace_id}")
            item.model.children.append(made)
        for draft in trace.tools():
            if draft.tool_call_id is not None:
                response = answers.to_call(index, draft, draft.tool_call_id, draft.name)
                _borrow_result(draft, response)


def _asked(trace: TraceDraft) -> Iterator[Asked]:
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


def claim_calls(asked: list[Asked], trace: TraceDraft) -> list[Asked]:
    """Pair requests with executed calls; return those without one.

    First by call id; then by name and equal arguments; then, within the turn (before the next
    model call), by arguments that hold those asked for beside injected ones; then by name, for
    calls whose recorded arguments differ or are unknown.
    """
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
        draft.tool_call_id = draft.tool_call_id or item.request.call_id
        draft.agent_name = draft.agent_name or item.model.agent_name

    for item in asked:
        candidates = by_id.get(item.request.call_id or "", [])
        match = next((d for d in candidates if id(d) not in claimed and _named(item, d)), None)
        if match is not None:
            take(item, match)
        else:
            left.append(item)
    for compare in (_equal_call, _injected_call, _same_turn):
        still: list[Asked] = []
        bounds = _turn_ends(left, trace)
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


def _turn_ends(items: list[Asked], trace: TraceDraft) -> dict[int, float]:
    """When the next model call of the same agent starts, by model call; infinity after the last."""
    if not items:
        return {}
    starts: dict[int, list[int]] = defaultdict(list)
    for call in trace.model_calls():
        if model_parent(call) is None and call.span.start_ns is not None:
            starts[_owner(call)].append(call.span.start_ns)
    ends: dict[int, float] = {}
    for item in items:
        own = item.model.span.end_ns or item.model.span.start_ns or 0
        later = [s for s in starts[_owner(_outermost(item.model))] if s >= own]
        ends[id(item.model)] = min(later, default=float("inf"))
    return ends


def _outermost(draft: Draft) -> Draft:
    *_, last = (draft, *_nest_above(draft))
    return last


def _owner(draft: Draft) -> int:
    """Identity of the agent run a draft belongs to."""
    return next((id(a) for a in draft.ancestors() if a.step_type is StepType.AGENT_RUN), 0)


def _ids_differ(item: Asked, draft: Draft) -> bool:
    ids = (item.request.call_id, draft.reading.tool_call_id)
    return None not in ids and ids[0] != ids[1]


def _named(item: Asked, draft: Draft) -> bool:
    """Whether names allow a request and a call to be one: ids alone repeat between agents."""
    asked, ran = item.request.name, draft.name
    if draft.step_type is StepType.HANDOFF or not ran:
        return True
    same = same_tool(ran, asked, draft.mcp_server)
    return same or ends_with_tool(ran, asked) or ends_with_tool(asked, ran)


def _starts_after(item: Asked, draft: Draft) -> bool:
    asked, ran = item.model.span.start_ns, draft.span.start_ns
    return asked is None or ran is None or ran >= asked


def _equal_call(item: Asked, draft: Draft, bounds: dict[int, float]) -> bool:  # noqa: ARG001
    return (
        draft.is_tool
        and not _ids_differ(item, draft)
        and same_tool(draft.name, item.request.name, draft.mcp_server)
        and draft.args is not UNSET
        and item.request.args is not UNSET
        and equal_json(draft.args, item.request.args)
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


def _injected_call(item: Asked, draft: Draft, bounds: dict[int, float]) -> bool:
    return draft.is_tool and _covers(draft, item) and _same_turn(item, draft, bounds)


def _same_turn(item: Asked, draft: Draft, bounds: dict[int, float]) -> bool:
    if not _starts_after(item, draft) or (draft.span.start_ns or 0) > bounds[id(item.model)]:
        return False
    if draft.step_type is StepType.HANDOFF:
        return _is_handoff(item.request.name)
    return not _ids_differ(item, draft) and same_tool(
        draft.name, item.request.name, draft.mcp_server
    )


def _is_handoff(tool: str) -> bool:
    """Whether a requested tool (`transfer_to_x`, `handoff`) is one that a handoff carries out."""
    words = tool.lower().replace("-", "_")
    return any(word in words for word in ("transfer", "handoff", "hand_off"))


def ran_later(item: Asked, answer: Answer, trace: TraceDraft, taken: set[int]) -> Draft | None:
    """The span of a call that ran in another trace: the one whose messages hold the answer.

    A call that waits for a person's leave is asked for in one trace and runs in the next, which no
    request of its own speaks of. It counts where it ran; here it was only asked for.
    """
    asked = item.request
    for draft in trace.tools():
        if draft.request_rank is not None or id(draft) in taken:
            continue
        if not _named(item, draft) or (draft.span.start_ns or 0) > answer.start_ns:
            continue
        if draft.tool_call_id is not None:
            same = draft.tool_call_id == asked.call_id
        else:
            known = draft.args is not UNSET and asked.args is not UNSET
            same = bool(draft.name) and (not known or equal_json(draft.args, asked.args))
        if same:
            return draft
    return None


def requested_draft(item: Asked, response: ToolResponse | None) -> Draft:
    """Return the step of a call without a span, with what its answer says became of it."""
    request = item.request
    draft = Draft(item.model.span, item.model.reading)
    draft.request, draft.request_rank = request, item.rank
    draft.parent, draft.agent_name = item.model, item.model.agent_name
    draft.step_type = (
        StepType.PROVIDER_TOOL_CALL if request.provider_executed else StepType.TOOL_CALL
    )
    draft.is_model_call = False
    draft.name, draft.args, draft.tool_call_id = request.name, request.args, request.call_id
    draft.result, draft.failed, draft.failure = UNSET, None, None
    draft.is_mcp, draft.mcp_server = False, None
    draft.from_messages = True
    draft.executed = False
    if response is None:
        draft.failure = _refusal_around(item)
        draft.failed = True if draft.failure else None
        if draft.failed:
            draft.notes.append("failed: refused, by a span around the model call")
    else:
        found = failure_of_message(response.result)
        draft.result = response.result
        draft.failed = bool(response.failed or found.failed)
        draft.failure = (response.failure or found.message) if draft.failed else None
        said = found.evidence or ("it says so" if draft.failed else "no evidence of failure")
        draft.notes.append(f"{'failed' if draft.failed else 'ok'}: by its tool message, {said}")
        draft.executed = not (draft.failed and is_refusal(draft.failure))
    return draft


def _refusal_around(item: Asked) -> str | None:
    """A refusal of this very tool that a span around the model call ended with: a turn, a run."""
    for above in item.model.ancestors():
        text = above.reading.failure
        if above.reading.failed and text and is_refusal(text) and item.request.name in text:
            return text
        if above.step_type is StepType.AGENT_RUN:
            break
    return None


def _borrow_result(draft: Draft, response: ToolResponse | None) -> None:
    """Give an executed call the result and the failure that only the messages hold."""
    if response is None:
        return
    if draft.result is UNSET:
        draft.result = response.result
    if response.failed and draft.failed is None:
        draft.failed, draft.failure = True, response.failure
        draft.notes.append("failed: by its tool message")
