"""Agno through OpenLLMetry: agents, teams and tools.

One thing a newcomer would get wrong: the status of a tool's span is OK whatever came of the call.
That stands in the output, an object of Agno's as Python prints it.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions import _openllmetry
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import MAX_REPR_CHARS, decode_json, text_of

_SCOPE = "opentelemetry.instrumentation.agno"
_OUTPUT = re.compile(
    r"status='(?P<status>\w+)' result=(?P<result>.*) error=(?P<error>.*)"
    r" updated_session_state=.*",
    re.DOTALL,
)
_OPAQUE = re.compile(r"<.* at 0x[0-9a-f]+>", re.DOTALL)
"""How Python prints an object that has no better text: its address says nothing."""

_TEAM = "agno.team.name"
VOCABULARY = _openllmetry.VOCABULARY.extended(agent_run_name=(_TEAM,))


def kind_of(span: Span) -> Kind | None:
    """Return the kind OpenLLMetry gives it; a team is an agent whose tools are agents."""
    if span.scope_name != _SCOPE:
        return None
    return step(StepType.AGENT_RUN) if _TEAM in span.attributes else _openllmetry.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Take result and failure of a tool out of what Agno's object prints."""
    text = span.attributes.get("traceloop.entity.output")
    if reading.step_type not in TOOL_STEP_TYPES or not isinstance(text, str):
        return reading
    if len(text) > MAX_REPR_CHARS or (match := _OUTPUT.fullmatch(text)) is None:
        return reading
    result = UNSET if _OPAQUE.fullmatch(match["result"]) else _literal(match["result"])
    changes: dict[str, Any] = {"result": result if result is UNSET else decode_json(result)}
    if match["status"] == "failure" and not reading.failed:
        error = text_of(_literal(match["error"]))
        changes |= {"failed": True, "failure": error or "the tool failed"}
        changes["sources"] = {**reading.sources, "failed": "status in traceloop.entity.output"}
        changes["result"] = error if changes["result"] is None else changes["result"]
    return msgspec.structs.replace(reading, **changes)


def _literal(text: str) -> Json:
    """What a field prints, where it is a literal; else the text it printed."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if value is None or isinstance(value, str) else text


CONVENTION = VocabularyConvention(
    name="agno-openllmetry",
    description="Agno agents, teams and tools as OpenLLMetry records them.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openllmetry.HINTS,
)
