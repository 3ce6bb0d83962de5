"""RESOLVE rules that fold wrappers and duplicates: one thing recorded by several spans.

One thing a newcomer would get wrong: the outermost span is kept and takes the evidence of the inner
ones; nothing the inner spans know is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from trajscope.assemble._draft import Draft, TraceDraft, model_parent
from trajscope.model.reading import StepType
from trajscope.names import ends_with_tool, same_tool


def fold_tools(traces: Sequence[TraceDraft]) -> None:
    """Fold a tool span into the tool span around it that records the same call.

    Agent tool > MCP client > transport > server, in two services perhaps: the same name (or the
    same behind a server prefix), no agent run or model call between.
    """
    for trace in traces:
        for draft in trace.drafts:
            if draft.is_tool and (outer := _tool_around(draft)) is not None:
                _lift(draft, outer)
                draft.fold(f"same call as {outer.span.span_id}")


def _tool_around(draft: Draft) -> Draft | None:
    for above in draft.ancestors():
        if above.is_model_call or above.step_type is StepType.AGENT_RUN:
            return None
        if above.is_tool:
            same = same_tool(above.name, draft.name, draft.mcp_server)
            behind = draft.is_mcp and (not draft.name or ends_with_tool(above.name, draft.name))
            return above if same or behind else None
    return None


def _lift(inner: Draft, outer: Draft) -> None:
    if outer.args is UNSET:
        outer.args = inner.args
    if outer.result is UNSET:
        outer.result = inner.result
    if inner.failed and not outer.reading.not_failure:
        if not outer.failed:
            outer.notes.append(f"failed: by its inner span {inner.span.span_id}")
        outer.failed = True
        outer.failure = outer.failure or inner.failure
    outer.mcp_server = outer.mcp_server or inner.mcp_server
    outer.is_mcp = outer.is_mcp or inner.is_mcp
    outer.tool_call_id = outer.tool_call_id or inner.tool_call_id


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
                draft.fold(f"same response as {other.span.span_id}")
                draft.is_model_call = False


def _nested(inner: Draft, outer: Draft) -> bool:
    return any(above is outer for above in inner.ancestors())


def fold_agents(traces: Sequence[TraceDraft]) -> None:
    """Fold an agent run directly inside an agent run of the same name: a wrapper of one run."""
    for trace in traces:
        for draft in trace.drafts:
            if draft.step_type is not StepType.AGENT_RUN:
                continue
            outer = next((a for a in draft.ancestors() if a.step_type is not None), None)
            if outer is None or outer.step_type is not StepType.AGENT_RUN:
                continue
            if draft.name == outer.name:
                draft.fold(f"same run as {outer.span.span_id}")
