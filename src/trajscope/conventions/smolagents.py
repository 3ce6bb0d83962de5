"""smolagents through OpenInference: agents that call tools as JSON or in code they write.

One thing a newcomer would get wrong: the span of a tool is named after its class (`SimpleTool`) and
an agent's is `NAME.run`; a managed agent is called like a tool but only its run is recorded; and
code calls tools by position, so the names of the arguments stand in the schema alone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json

_SCOPES = ("openinference.instrumentation.smolagents",)


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind."""
    return _openinference.kind_of(span) if span.scope_name in _SCOPES else None


def refine(span: Span, reading: Reading) -> Reading:
    """Name agents without the method that ran them, and arguments that were given by position."""
    changes: dict[str, Any] = {}
    if reading.step_type is StepType.AGENT_RUN and not reading.agent_name:
        name = span.name.removesuffix(".run") or span.name
        changes = {"name": name, "agent_name": name}
    elif reading.step_type is StepType.TOOL_CALL:
        args = _by_position(span.attributes)
        changes = {"args": args, "args_value": msgspec.UNSET} if args else {}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _by_position(attributes: dict[str, Json]) -> dict[str, Json] | None:
    """The arguments by name, where some were given by position; None where names are missing."""
    given, schema = (decode_json(attributes.get(k)) for k in ("input.value", "tool.parameters"))
    if not isinstance(given, dict) or not isinstance(schema, dict):
        return None
    positional, named = given.get("args"), given.get("kwargs")
    if not isinstance(positional, list) or not positional or not isinstance(named, dict):
        return None
    names = [name for name in schema if name not in named]
    if len(names) < len(positional):
        return None
    return {**dict(zip(names, positional, strict=False)), **named}


CONVENTION = VocabularyConvention(
    name="smolagents",
    description="smolagents as OpenInference records it.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
