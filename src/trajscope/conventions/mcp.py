"""Model Context Protocol spans (mcp SDK, fastmcp, OTel MCP conventions): `mcp.method.name`.

One thing a newcomer would get wrong: one call of a tool leaves up to four such spans (client,
transport, server), and the tool's name often stands only in the span name (`tools/call add`).
"""

from __future__ import annotations

import msgspec

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span

VOCABULARY = GEN_AI.extended(session=(), mcp_server=("mcp.server.name", "fastmcp.server.name"))


_SILENT = "MCP send "
"""Spans of the SDK's transport: they never carry an error, whatever the server answers."""


def kind_of(span: Span) -> Kind | None:
    """Return a tool call for `tools/call`, noise for every other method."""
    method = span.attributes.get("mcp.method.name")
    if not isinstance(method, str):
        return None
    if method == "tools/call":
        return step(StepType.MCP_TOOL_CALL)
    return noise(f"MCP {method} is protocol traffic")


def refine(span: Span, reading: Reading) -> Reading:
    """Take the tool's name from the span name; say where no outcome is ever recorded."""
    if reading.step_type is None:
        return reading
    name = reading.name
    sources = reading.sources
    if not name:
        name = span.name.partition("tools/call ")[2].strip()
        sources = {**sources, "name": "span name"}
    silent = span.name.startswith(_SILENT) and reading.failed is None
    return msgspec.structs.replace(
        reading, name=name, is_mcp=True, is_silent=silent, sources=sources
    )


CONVENTION = VocabularyConvention(
    name="mcp",
    description="Model Context Protocol client and server spans: mcp.method.name.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={
        "content": "instrument the agent as well: MCP spans record neither arguments nor results",
        "outcomes": "instrument the server as well: a client's transport spans tell no outcome",
    },
)
