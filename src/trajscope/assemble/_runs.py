"""RESOLVE rules that find runs and steps which a span alone does not show.

One thing a newcomer would get wrong: these rules only confirm what a reading already offers
(`candidate`, `is_part`, `opens_agent`); nothing becomes a step because of its place alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trajscope.assemble._draft import Draft, TraceDraft, lift
from trajscope.model.reading import StepType


def lift_parts(traces: Sequence[TraceDraft]) -> None:
    """Give a step the evidence of the spans that are parts of it (its execution, its wait)."""
    for trace in traces:
        for draft in trace.drafts:
            if draft.reading.is_part and draft.parent is not None:
                lift(draft, draft.parent)


def open_agents(traces: Sequence[TraceDraft]) -> None:
    """Make the part of a tool call in which a sub-agent's steps lie that sub-agent's run."""
    for trace in traces:
        for draft in trace.drafts:
            name = draft.parent.reading.opens_agent if draft.parent is not None else None
            if name and draft.reading.is_part and draft.children:
                draft.step_type = StepType.AGENT_RUN
                draft.name = draft.agent_name = name
                draft.failed, draft.failure = None, None
                draft.notes.append("type: the tool call around it opens a sub-agent")


def confirm_workflows(traces: Sequence[TraceDraft]) -> None:
    """Make candidates workflow runs and steps where parent or children agree.

    Runs first: a chain directly around workflow steps is their run, and a chain directly in a run
    is a step of it.
    """
    for trace in traces:
        for draft in trace.drafts:
            offers_run = draft.reading.candidate is StepType.WORKFLOW_RUN
            if draft.step_type is None and offers_run and any(map(_is_step, draft.children)):
                _confirm(draft, StepType.WORKFLOW_RUN)
        for draft in trace.drafts:
            offers_step = draft.reading.candidate is StepType.WORKFLOW_STEP
            above = draft.parent.step_type if draft.parent is not None else None
            if draft.step_type is None and offers_step and above is StepType.WORKFLOW_RUN:
                _confirm(draft, StepType.WORKFLOW_STEP)


def _is_step(draft: Draft) -> bool:
    return draft.step_type is StepType.WORKFLOW_STEP


def borrow_agents(traces: Sequence[TraceDraft]) -> None:
    """Say which agent a step outside any agent run belongs to, after the glue around it.

    An agent without a span of its own is named by the spans of its machinery; a tool call then
    takes the agent of the model call that asked for it (see `pair_requests`).
    """
    for trace in traces:
        glue: dict[int, str | None] = {}  # by draft: the agent named nearest above it
        for draft in trace.drafts:
            above = draft.parent
            if above is None or above.step_type is StepType.AGENT_RUN:
                continue
            name = above.agent_name or glue.get(id(above))
            glue[id(draft)] = name
            lacks = draft.agent_name is None and draft.step_type is not StepType.AGENT_RUN
            if lacks and draft.step_type is not None:
                draft.agent_name = name


def complete_handoffs(traces: Sequence[TraceDraft]) -> None:
    """Say between whom a handoff passed where its span does not: its own agent, the next run."""
    for trace in traces:
        runs = [d for d in trace.drafts if d.step_type is StepType.AGENT_RUN]
        runs.sort(key=lambda d: d.time_key)
        for draft in trace.drafts:
            if draft.step_type is not StepType.HANDOFF:
                continue
            known = draft.reading.fields
            above = next((a for a in draft.ancestors() if a.step_type is StepType.AGENT_RUN), None)
            later = (r for r in runs if r.time_key > draft.time_key and not _is_in(r, above))
            found = {
                "from_agent": known.get("from_agent") or (above.name if above else None),
                "to_agent": known.get("to_agent") or next((r.name for r in later), None),
            }
            fields = {**known, **{k: v for k, v in found.items() if v}}
            if fields != known:
                draft.reading = msgspec.structs.replace(draft.reading, fields=fields)
                draft.name = fields.get("to_agent") or draft.name
                draft.notes.append("handoff: completed by the runs around it")


def _is_in(draft: Draft, outer: Draft | None) -> bool:
    return draft is outer or any(above is outer for above in draft.ancestors())


def _confirm(draft: Draft, step_type: StepType) -> None:
    draft.step_type = step_type
    draft.name = draft.name or draft.span.name
    draft.notes.append("type: confirmed by the spans around it")
