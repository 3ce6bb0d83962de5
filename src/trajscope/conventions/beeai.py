"""BeeAI through OpenInference: agents, tools, model calls, and the events each of them sent.

One thing a newcomer would get wrong: events are spans as well, of the kind of what sent them
(`error` below the tool that failed is a TOOL, `final_answer` an AGENT). They have a path and no
class, and are no step.
"""

from __future__ import annotations

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, noise
from trajscope.model.reading import TOOL_STEP_TYPES, Reading
from trajscope.model.span import Span

_SCOPES = ("openinference.instrumentation.beeai",)


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, but noise for an event."""
    if span.scope_name not in _SCOPES:
        return None
    if "metadata.path" in span.attributes and "metadata.class_name" not in span.attributes:
        return noise("an event of the span above")
    return _openinference.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:  # noqa: ARG001
    """Take the arguments out of `{"input": …, "options": …}`."""
    args = reading.args
    if reading.step_type not in TOOL_STEP_TYPES or not isinstance(args, dict):
        return reading
    if args.keys() != {"input", "options"} or not isinstance(args["input"], dict):
        return reading
    return msgspec.structs.replace(reading, args=args["input"])


CONVENTION = VocabularyConvention(
    name="beeai",
    description="BeeAI agents, tools and model calls as OpenInference records them.",
    tier=20,
    vocabulary=_openinference.VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
