"""ATIF documents, as the `atif` format hands them over: GenAI attributes and `atif.schema_version`.

One thing a newcomer would get wrong: ATIF has no word for a failed call, and its spans have no end.
A call with a result did run, and how it ended is told by the result's fields or, since that text is
all there is, by its prose, as for calls known from messages alone.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from trajscope.conventions import _genai
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.evidence import failure_of_message
from trajscope.model.reading import TOOL_STEP_TYPES, Reading
from trajscope.model.span import Span


def kind_of(span: Span) -> Kind | None:
    """Return the kind by the operation; only spans of ATIF documents have a schema version."""
    return _genai.kind_of(span) if "atif.schema_version" in span.attributes else None


def refine(span: Span, reading: Reading) -> Reading:  # noqa: ARG001 - the shape refine has
    """Judge a tool call by its result, as a message."""
    if reading.step_type not in TOOL_STEP_TYPES or reading.failed or reading.result is UNSET:
        return reading
    found = failure_of_message(reading.result)
    sources = {**reading.sources, "failed": found.evidence or "a result is there"}
    return msgspec.structs.replace(
        reading, failed=bool(found.failed), failure=found.message, sources=sources
    )


CONVENTION = VocabularyConvention(
    name="atif",
    description="ATIF documents: agent runs, model calls and tool calls with their results.",
    tier=20,
    vocabulary=GEN_AI,
    kind_of=kind_of,
    refine=refine,
)
