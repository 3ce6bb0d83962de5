"""GitHub Copilot in VS Code and on the command line: GenAI operations with its own attributes.

Written from its documentation (code.visualstudio.com/docs, "Monitor agent usage with
OpenTelemetry"); no recording of a run exists here. One thing a newcomer would get wrong: content is
off by default, so arguments and results are mostly unknown; `gen_ai.tool.type` = extension marks a
tool of an MCP server, and the server's name may be recorded only as a hash.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading
from trajscope.model.span import Span
from trajscope.values import text_of

_SERVICES = frozenset({"copilot-chat", "github-copilot"})
_PREFIXES = ("github.copilot.", "copilot_chat.")
_PARAMETERS = "github.copilot.tool.parameters."

VOCABULARY = GEN_AI.extended(
    session=("gen_ai.conversation.id", "copilot_chat.chat_session_id"),
    mcp_server=(_PARAMETERS + "mcp_server_name",),
)


def kind_of(span: Span) -> Kind | None:
    """Return the GenAI kind of a span of Copilot's services, or with its attributes."""
    own = any(key.startswith(_PREFIXES) for key in span.attributes)
    if span.service_name not in _SERVICES and not own:
        return None
    if span.attributes.get("gen_ai.operation.name") == "execute_hook":
        return noise("a hook is no step")
    return _genai.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Mark tools of MCP servers; the model calls them by the recorded name, with its prefix."""
    if reading.step_type not in TOOL_STEP_TYPES:
        return reading
    attributes = span.attributes
    is_mcp = attributes.get("gen_ai.tool.type") == "extension" or any(
        _PARAMETERS + key in attributes for key in ("mcp_tool_name", "mcp_server_name_hash")
    )
    changes: dict[str, Any] = {"is_mcp": reading.is_mcp or is_mcp}
    if not reading.name and (tool := text_of(attributes.get(_PARAMETERS + "mcp_tool_name"))):
        changes["name"] = tool
    return msgspec.structs.replace(reading, **changes)


CONVENTION = VocabularyConvention(
    name="github-copilot",
    description="GitHub Copilot: GenAI operations with github.copilot.* and copilot_chat.*.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={"content": "switch on captureContent in the OTel settings of Copilot Chat"},
)
