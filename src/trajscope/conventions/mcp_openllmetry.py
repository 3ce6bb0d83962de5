"""MCP clients and servers through OpenLLMetry: calls of tools, and the protocol's traffic.

One thing a newcomer would get wrong: what a tool was given is wrapped together with its name, and
what it answered in a `result`; the server's name stands on its own spans as that of a workflow.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions import _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import decode_arguments, decode_json, text_of

_SCOPE = "opentelemetry.instrumentation.mcp"
_SERVER = ".mcp"


def kind_of(span: Span) -> Kind | None:
    """Return a tool call by `traceloop.span.kind`, noise for whatever else goes over the wire."""
    if not span.scope_name.startswith(_SCOPE):
        return None
    if span.attributes.get("traceloop.span.kind") == "tool":
        return step(StepType.MCP_TOOL_CALL)
    return noise("MCP protocol traffic")


def refine(span: Span, reading: Reading) -> Reading:
    """Take arguments and result out of what they are wrapped in; name the server."""
    if reading.step_type is None:
        return reading
    changes: dict[str, Any] = {"is_mcp": True}
    given = decode_json(span.attributes.get("traceloop.entity.input"))
    if isinstance(given, dict) and given.keys() == {"tool_name", "arguments"}:
        changes["args"] = decode_arguments(given["arguments"] or {}).args
    said = reading.result
    if isinstance(said, dict) and "result" in said and said.keys() <= {"result", "is_error"}:
        changes["result"] = said["result"]
    elif isinstance(said, list):
        changes["result"] = UNSET  # the content as it goes over the wire: the client has the value
    server = text_of(span.attributes.get("traceloop.workflow.name"))
    if server is not None and server.endswith(_SERVER):
        changes["mcp_server"] = server.removesuffix(_SERVER)
    return msgspec.structs.replace(reading, **changes)


CONVENTION = VocabularyConvention(
    name="mcp-openllmetry",
    description="MCP clients and servers as OpenLLMetry records them.",
    tier=20,
    vocabulary=_openllmetry.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": _openllmetry.HINTS["content"]},
)
