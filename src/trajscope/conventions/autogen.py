"""AutoGen AgentChat through OpenInference: agents, teams, tools and model calls.

One thing a newcomer would get wrong: AutoGen's own spans (`invoke_agent`, `execute_tool`) lie
around and below these; and a failed call is told by `is_error` in the next request alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._flat import unflattened
from trajscope.conventions._kind import Kind
from trajscope.conventions._messages import find_responses
from trajscope.model.reading import Reading
from trajscope.model.span import Json, Span
from trajscope.values import decode_json

_SCOPES = ("openinference.instrumentation.autogen_agentchat",)
_INPUT = "llm.input_messages."


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind."""
    return _openinference.kind_of(span) if span.scope_name in _SCOPES else None


def refine(span: Span, reading: Reading) -> Reading:
    """Read the results a model was given: JSON texts in a message of the role `function`."""
    if not reading.is_model_call or reading.responses:
        return reading
    found = find_responses(list(_results(span)))
    if not found:
        return reading
    sources = {**reading.sources, "responses": _INPUT + "*.function"}
    return msgspec.structs.replace(reading, responses=found, sources=sources)


def _results(span: Span) -> Iterator[Json]:
    for message in unflattened(span.attributes, (_INPUT,)):
        results = message.get("function") if isinstance(message, dict) else None
        for text in results if isinstance(results, list) else ():
            result = decode_json(text)
            if isinstance(result, dict):
                yield {"role": "function", **result}


CONVENTION = VocabularyConvention(
    name="autogen",
    description="AutoGen AgentChat as OpenInference records it.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
