"""RESOLVE rules that settle names and success once everything else is joined."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from trajscope.assemble._draft import Draft, TraceDraft
from trajscope.evidence import failure_of_mcp_result
from trajscope.model.reading import StepType
from trajscope.names import ends_with_tool, mcp_parts, same_tool


def name_agents(traces: Sequence[TraceDraft]) -> None:
    """Name an unnamed agent run after what its own spans say of their agent, else its label."""
    for trace in traces:
        for draft in trace.drafts:
            if draft.step_type is StepType.AGENT_RUN and not draft.agent_name:
                found = _agent_named_below(draft)
                if found:
                    draft.name = found
                    draft.notes.append("name: from a span below")


def _agent_named_below(draft: Draft) -> str | None:
    stack = list(reversed(draft.children))
    while stack:
        node = stack.pop()
        if node.step_type is StepType.AGENT_RUN:
            continue
        if node.reading.agent_name:
            return node.reading.agent_name
        stack.extend(reversed(node.children))
    return None


def mark_mcp(traces: Sequence[TraceDraft]) -> None:
    """Make a tool call an MCP tool call where its name or an inner span says so."""
    for trace in traces:
        for draft in trace.drafts:
            for tool in (draft, *(c for c in draft.children if c.request is not None)):
                if tool.is_tool:
                    _mark(tool)


def _mark(tool: Draft) -> None:
    server = mcp_parts(tool.name)
    if server is not None:
        tool.is_mcp, tool.mcp_server = True, tool.mcp_server or server[0]
    if tool.is_mcp and tool.step_type is StepType.TOOL_CALL:
        tool.step_type = StepType.MCP_TOOL_CALL


def judge_mcp_texts(traces: Sequence[TraceDraft]) -> None:
    """Fail an MCP tool call whose result is the MCP SDK's fixed error text for that very tool."""
    for trace in traces:
        for draft in trace.drafts:
            if draft.step_type is not StepType.MCP_TOOL_CALL or draft.failed is not None:
                continue
            found, tool = failure_of_mcp_result(draft.result)
            if found.failed and (tool is None or _is_same(draft, tool)):
                draft.failed, draft.failure = True, found.message
                draft.notes.append(f"failed: by {found.evidence}")


def _is_same(draft: Draft, tool: str) -> bool:
    return same_tool(draft.name, tool, draft.mcp_server) or ends_with_tool(draft.name, tool)


def settle_success(traces: Sequence[TraceDraft]) -> None:
    """An ended tool span without evidence of failure succeeded; an unended one is unknown.

    So is one whose recorder never says how a call ended, unless its result is known.
    """
    for trace in traces:
        for draft in trace.drafts:
            silent = draft.is_silent and draft.result is UNSET
            if draft.is_tool and draft.failed is None and draft.span.ended and not silent:
                draft.failed = False
