"""RESOLVE rule that pairs the calls a model requested with the calls that ran and their results.

One thing a newcomer would get wrong: a request without a span is not yet a call that never ran.
If the messages hold its result it ran (`executed`, known from messages); if they hold the
framework's refusal it did not (`success` false); if they hold nothing, nobody knows (null).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec import UNSET

from trajscope.assemble._answers import Answer, Answers
from trajscope.assemble._claim import Asked, asked_of, claim_calls, names_allow, turn_ends
from trajscope.assemble._draft import Draft, TraceDraft, owner_of
from trajscope.evidence import failure_of_message, is_refusal
from trajscope.model.reading import StepType, ToolResponse
from trajscope.values import equal_json

_QUOTED = re.compile(r"['\"`][\w.:-]+['\"`]")
"""A name in a refusal: of the tool, mostly."""


def pair_requests(traces: Sequence[TraceDraft]) -> None:
    """Join requests, executed calls and results: within a trace, then within session or capture."""
    answers = Answers(traces)
    left = [claim_calls(list(asked_of(trace)), trace) for trace in traces]
    taken: set[int] = set()
    for index, trace in enumerate(traces):
        runs = _Runs(trace, left[index])
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
            elif made.failed is None and (run := runs.of(item)) is not None:
                made.executed, made.failed, made.failure = True, bool(run.failed), run.failure
                made.notes.append(f"ran: as the agent run {run.span.span_id}")
            item.model.children.append(made)
        for draft in trace.tools():
            if draft.tool_call_id is not None:
                response = answers.to_call(index, draft, draft.tool_call_id, draft.name)
                _borrow_result(draft, response)


class _Runs:
    """The agent runs of a trace that may have carried a request out: agents called like a tool."""

    def __init__(self, trace: TraceDraft, left: list[Asked]) -> None:
        asked = {item.request.name for item in left}
        self._named: dict[str, list[Draft]] = defaultdict(list)
        for run in trace.drafts:
            if run.step_type is StepType.AGENT_RUN and run.name in asked and run.span.ended:
                self._named[run.name].append(run)
        self._ends = turn_ends([item for item in left if item.request.name in self._named], trace)

    def of(self, item: Asked) -> Draft | None:
        """Return the first run of this name by the same agent, within the turn of the request."""
        owner, ended = owner_of(item.model), item.model.span.end_ns or 0
        for run in self._named.get(item.request.name, ()):
            in_turn = ended <= (run.span.start_ns or 0) <= self._ends[id(item.model)]
            if in_turn and owner_of(run) == owner:
                return run
        return None


def ran_later(item: Asked, answer: Answer, trace: TraceDraft, taken: set[int]) -> Draft | None:
    """The span of a call that ran in another trace: the one whose messages hold the answer.

    A call that waits for a person's leave is asked for in one trace and runs in the next, which no
    request of its own speaks of. It counts where it ran; here it was only asked for.
    """
    asked = item.request
    for draft in trace.tools():
        if draft.request_rank is not None or id(draft) in taken:
            continue
        if not names_allow(item, draft) or (draft.span.start_ns or 0) > answer.start_ns:
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
    """A refusal that a span around the model call ended with, a turn or a run, of this very tool.

    One that quotes no name is of the only call that was asked for inside that span.
    """
    for above in item.model.ancestors():
        text = above.reading.failure
        if above.reading.failed and text and is_refusal(text):
            is_its_own = item.request.name in text
            if is_its_own or (not _QUOTED.search(text) and _is_only_request(above, item)):
                return text
        if above.step_type is StepType.AGENT_RUN:
            break
    return None


def _is_only_request(above: Draft, item: Asked) -> bool:
    stack, found = [above], 0
    while stack and found <= 1:
        node = stack.pop()
        if node.request is None:
            found += len(node.reading.requests) if node.is_model_call else 0
            stack += node.children
    return found == 1 == len(item.model.reading.requests)


def _borrow_result(draft: Draft, response: ToolResponse | None) -> None:
    """Give an executed call the result and the failure that only the messages hold."""
    if response is None:
        return
    if draft.result is UNSET:
        draft.result = response.result
    if response.failed and draft.failed is None:
        draft.failed, draft.failure = True, response.failure
        draft.notes.append("failed: by its tool message")
