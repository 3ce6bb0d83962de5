"""DSPy through OpenInference: modules, ReAct agents, and calls written as text.

One thing a newcomer would get wrong: the model does not call tools here, it *writes* that it would
(`[[ ## next_tool_name ## ]]`, or a JSON object), and `finish` is a tool like any other.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._flat import unflattened
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import Reading, StepType, ToolRequest
from trajscope.model.span import Json, Span
from trajscope.values import decode_arguments, decode_json, text_of

_SCOPES = ("openinference.instrumentation.dspy",)
_CALL = re.compile(r"\.(?:__call__|__acall__|acall|forward|aforward)\Z")
_AGENTS = frozenset({"ReAct", "ReActV2", "CodeAct"})
_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]")
_MAX_CHARS = 200_000


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with the modules that run tools read as agents."""
    if span.scope_name not in _SCOPES:
        return None
    if span.attributes.get("openinference.span.kind") == "CHAIN" and _is_agent(span):
        return step(StepType.AGENT_RUN)
    return _openinference.kind_of(span)


def _is_agent(span: Span) -> bool:
    """A ReAct module by its class, or (for a class of the user's) by the trajectory it returns."""
    if _CALL.sub("", span.name) in _AGENTS:
        return True
    output = span.attributes.get("output.value")
    if not isinstance(output, str) or not output.startswith('{"trajectory"'):
        return False
    decoded = decode_json(output)
    trajectory = decoded.get("trajectory") if isinstance(decoded, dict) else None
    return isinstance(trajectory, dict) and "tool_name_0" in trajectory


def refine(span: Span, reading: Reading) -> Reading:
    """Name tools and agents after the object that was called; read the call a model wrote."""
    changes: dict[str, Any] = {}
    named = reading.step_type in (StepType.TOOL_CALL, StepType.AGENT_RUN)
    if named and reading.name in ("", span.name):
        changes["name"] = _CALL.sub("", span.name)
        changes["sources"] = {**reading.sources, "name": "span name"}
    elif reading.is_model_call and not reading.requests:
        written = _written(span)
        request = _request_in(written) if written else None
        if request is not None:
            changes["requests"] = (request,)
            changes["sources"] = {**reading.sources, "requests": "llm.output_messages.*.content"}
    return msgspec.structs.replace(reading, **changes) if changes else reading


def _written(span: Span) -> str | None:
    messages = unflattened(span.attributes, ("llm.output_messages.",))
    last = messages[-1] if messages else None
    text = text_of(last.get("content")) if isinstance(last, dict) else None
    return text if text and len(text) <= _MAX_CHARS else None


def _request_in(text: str) -> ToolRequest | None:
    """The tool call written in a completion, as marked fields or as a JSON object."""
    _, *parts = _FIELD.split(text)
    fields: dict[str, Json] = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    if not fields:
        found = decode_json(text)
        fields = found if isinstance(found, dict) else {}
    name = text_of(fields.get("next_tool_name"))
    if name is None:
        return None
    raw = fields.get("next_tool_args", UNSET)
    return ToolRequest(name.strip(), args=decode_arguments(raw).args if raw is not UNSET else UNSET)


CONVENTION = VocabularyConvention(
    name="dspy",
    description="DSPy modules and ReAct agents as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints={
        **_openinference.HINTS,
        "tokens": "add the OpenInference instrumentation of litellm: DSPy's own spans count none",
    },
)
