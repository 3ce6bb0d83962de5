"""OpenAI Agents SDK through OTel's own instrumentation (`openai-agents-v2`).

One thing a newcomer would get wrong: its scope is the one OpenLLMetry uses as well; the trace is an
`invoke_agent` without a name, spans that belong to no agent name one "OpenAI Agent", and a call
that was asked for stands in a text, as a Python repr.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._messages import find_requests
from trajscope.conventions._reprs import objects_in
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span

_SCOPES = ("opentelemetry.instrumentation.openai_agents",)
_NOBODY = "OpenAI Agent"
_OUTPUT = "gen_ai.output.messages"


def kind_of(span: Span) -> Kind | None:
    """Return the kind by operation; one that is unknown there is the SDK's own glue."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if span.scope_name not in _SCOPES or operation is None or "traceloop.span.kind" in attributes:
        return None
    if operation == "unknown":
        return noise("a task or turn of the OpenAI Agents SDK")
    if operation == "invoke_agent" and "gen_ai.agent.name" not in attributes:
        return step(StepType.WORKFLOW_RUN)
    return _genai.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Forget the agent that is none, and read the calls a model asked for in a text."""
    reading = _genai.refine(span, reading)
    changes: dict[str, Any] = {}
    if reading.agent_name == _NOBODY and reading.step_type is not StepType.AGENT_RUN:
        changes["agent_name"] = None
    if reading.is_model_call and not reading.requests:
        calls = objects_in(span.attributes.get(_OUTPUT), "ResponseFunctionToolCall")
        changes["requests"] = find_requests([{"function_call": call} for call in calls])
    return msgspec.structs.replace(reading, **changes) if changes else reading


CONVENTION = VocabularyConvention(
    name="openai-agents-otel",
    description="OpenAI Agents SDK as OTel's own instrumentation records it.",
    tier=20,
    vocabulary=GEN_AI,
    kind_of=kind_of,
    refine=refine,
    hints=_genai.HINTS,
)
