"""Every span of a trace with what it became: the view behind `tree --noise` and `explain`.

One thing a newcomer would get wrong: noise is not lost. A span that is no step is here with the
reason, be it its convention's (`noise_reason`) or RESOLVE's (folded into another span).
"""

from __future__ import annotations

from typing import NamedTuple

from trajscope.assemble._draft import Draft, TraceDraft
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span


class OutlineRow(NamedTuple):
    """One span (or requested call) in walking order.

    step_type: None for noise, with `reason`. requested: the call has no span of its own; `span` and
    `reading` are then those of the model call that asked for it. executed: False for a requested
    call that never ran. notes: what RESOLVE found for this span elsewhere.
    """

    depth: int
    span: Span
    reading: Reading
    step_type: StepType | None
    name: str
    reason: str
    failed: bool | None
    failure: str | None
    is_orphan: bool
    requested: bool
    notes: tuple[str, ...]
    executed: bool
    tool_call_id: str | None
    is_model_call: bool


def outline(trace: TraceDraft) -> list[OutlineRow]:
    """Return every draft of a resolved trace, depth first, in time order."""
    rows: list[OutlineRow] = []
    stack = [(d, 0) for d in reversed(trace.drafts) if d.parent is None]
    while stack:
        draft, depth = stack.pop()
        rows.append(_row(draft, depth))
        children = sorted(draft.children, key=lambda d: d.time_key, reverse=True)
        stack.extend((c, depth + 1) for c in children)
    return rows


def _row(draft: Draft, depth: int) -> OutlineRow:
    return OutlineRow(
        depth,
        draft.span,
        draft.reading,
        draft.step_type,
        draft.name or draft.span.name,
        draft.dropped or draft.reading.noise_reason if draft.step_type is None else "",
        draft.failed,
        draft.failure,
        draft.is_orphan,
        draft.request is not None,
        tuple(draft.notes),
        draft.executed,
        draft.tool_call_id,
        draft.is_model_call,
    )
