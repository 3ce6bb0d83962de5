"""LangChain.js through Traceloop's node SDK (scope `@traceloop/instrumentation-langchain`).

One thing a newcomer would get wrong: every span is a trace of its own, and a tool's span is named
after its class; the tool's name stands in the tool message it returned, if it returned one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise
from trajscope.model.reading import TOOL_STEP_TYPES, Reading
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, decode_result, text_of

_SCOPE = "@traceloop/instrumentation-langchain"
_CLASSES = frozenset({"DynamicStructuredTool", "StructuredTool", "DynamicTool", "Tool"})
_GLUE = ("Runnable", "Channel")


def kind_of(span: Span) -> Kind | None:
    """Return the OpenLLMetry kind; what LangChain puts around nodes and prompts is glue."""
    if span.scope_name != _SCOPE:
        return None
    name = text_of(span.attributes.get("traceloop.workflow.name")) or ""
    if name.startswith(_GLUE):
        return noise("a runnable is glue around steps")
    return _openllmetry.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name a tool by its message, and take its arguments out of the list of what it was given."""
    if reading.step_type not in TOOL_STEP_TYPES:
        return reading
    changes: dict[str, Any] = {}
    told = decode_result(span.attributes.get("traceloop.entity.output"))
    if reading.name in _CLASSES and told.name:
        changes = {"name": told.name, "sources": {**reading.sources, "name": "its tool message"}}
    given = _given(span.attributes.get("traceloop.entity.input"))
    if given is not None:
        changes["args"] = given
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _given(value: Json) -> dict[str, Json] | None:
    """The one object a tool was given, which is JSON text in a list in JSON text."""
    value = decode_json(value)
    listed = value.get("args") if isinstance(value, dict) and len(value) == 1 else None
    found = decode_json(listed[0]) if isinstance(listed, list) and len(listed) == 1 else None
    return found if isinstance(found, dict) else None


CONVENTION = VocabularyConvention(
    name="langchain-js-openllmetry",
    description="LangChain.js as Traceloop's node SDK records it.",
    tier=20,
    vocabulary=_openllmetry.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openllmetry.HINTS,
)
