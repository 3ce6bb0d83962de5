"""OpenAI Agents SDK through OpenInference: agents, handoffs and turns.

One thing a newcomer would get wrong: the outermost AGENT span is the trace (`Agent workflow`), not
an agent; a handoff is recorded as a TOOL, and `llm.finish_reason` says stop on tool calls.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

_SCOPES = (
    "openinference.instrumentation.openai_agents",
    "openinference-instrumentation-openai-agents",
)
_HANDOFF = "handoff to "
_HANDOFF_TOOL = "handoff_to_"


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, mended for the trace's own span and for handoffs."""
    kind = span.attributes.get("openinference.span.kind")
    is_handoff = kind == "TOOL" and _is_handoff(span)
    if span.scope_name not in _SCOPES and "openai-agents" not in span.scope_name:
        # Where the scope was lost, a handoff is still one by its label.
        return step(StepType.HANDOFF) if is_handoff and not span.scope_name else None
    if kind == "AGENT" and not any(k in span.attributes for k in ("agent.name", "graph.node.id")):
        return step(StepType.WORKFLOW_RUN)
    return step(StepType.HANDOFF) if is_handoff else _openinference.kind_of(span)


def _is_handoff(span: Span) -> bool:
    tool = text_of(span.attributes.get("tool.name")) or ""
    return tool.startswith(_HANDOFF_TOOL) or (not tool and span.name.startswith(_HANDOFF))


def refine(span: Span, reading: Reading) -> Reading:
    """Name handoffs after their target, and say who hands over to whom."""
    attributes = span.attributes
    if reading.step_type is StepType.HANDOFF:
        fields = {
            "from_agent": text_of(attributes.get("input.value")),
            "to_agent": text_of(attributes.get("output.value"))
            or span.name.removeprefix(_HANDOFF).removeprefix(_HANDOFF_TOOL),
        }
        known = {k: v for k, v in fields.items() if v}
        return msgspec.structs.replace(reading, name=known["to_agent"], fields=known)
    return reading


CONVENTION = VocabularyConvention(
    name="openai-agents",
    description="OpenAI Agents SDK as OpenInference records it.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
