"""Evaluations as `gen_ai.evaluation.result` log events of the OpenTelemetry semantic conventions.

One thing a newcomer would get wrong: an event without a parent takes that of the running program,
so a context is always given. Ids that OTLP cannot carry (stored records have any text) go into
attributes instead.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    INVALID_SPAN_ID,
    INVALID_TRACE_ID,
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from trajscope.pipeline.evaluations import Evaluation, Level

EVENT_NAME = "gen_ai.evaluation.result"
"""The event, of semantic conventions 1.38."""

_LEVELS: dict[Level, SeverityNumber] = {
    "INFO": SeverityNumber.INFO,
    "WARN": SeverityNumber.WARN,
    "ERROR": SeverityNumber.ERROR,
}
_TRACE_ID = re.compile("(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile("(?!0{16})[0-9a-f]{16}")

Attributes = dict[str, str | float | list[str]]


def to_log_record(evaluation: Evaluation) -> ReadableLogRecord:
    """Return the evaluation as a log record, its parent the span that was judged."""
    return ReadableLogRecord(
        LogRecord(
            timestamp=evaluation.time_ns,
            context=_context(evaluation),
            severity_number=_LEVELS[evaluation.level],
            severity_text=evaluation.level,
            attributes=attributes(evaluation),
            event_name=EVENT_NAME,
        ),
        resource=Resource.create({"service.name": "trajscope", "service.version": own_version()}),
        instrumentation_scope=InstrumentationScope("trajscope", own_version()),
    )


def attributes(evaluation: Evaluation) -> Attributes:
    """Return the attributes of the event; what is not known is left out."""
    said: Attributes = {"gen_ai.evaluation.name": _text(evaluation.name)}
    if evaluation.value is not None:
        said["gen_ai.evaluation.score.value"] = float(evaluation.value)
    if evaluation.label is not None:
        said["gen_ai.evaluation.score.label"] = evaluation.label
    if evaluation.explanation is not None:
        said["gen_ai.evaluation.explanation"] = _text(evaluation.explanation)
    if evaluation.error_type is not None:
        said["error.type"] = _text(evaluation.error_type)
    for key, value in evaluation.attributes.items():
        if value:
            said[key] = _text(value) if isinstance(value, str) else list(map(_text, value))
    said["trajscope.key"] = evaluation.key
    trace_id, span_id = _ids(evaluation)
    if evaluation.trace_id is not None and trace_id == INVALID_TRACE_ID:
        said["trajscope.trace_id"] = _text(evaluation.trace_id)
    if evaluation.span_id is not None and span_id == INVALID_SPAN_ID:
        said["trajscope.span_id"] = _text(evaluation.span_id)
    return said


def own_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("trajscope")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "unknown"


def _context(evaluation: Evaluation) -> Context:
    trace_id, span_id = _ids(evaluation)
    judged = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(1))
    return set_span_in_context(NonRecordingSpan(judged), Context())


def _ids(evaluation: Evaluation) -> tuple[int, int]:
    """Return trace and span id as numbers, 0 for one that is unknown or no OTLP id."""
    trace_id, span_id = evaluation.trace_id or "", evaluation.span_id or ""
    if not _TRACE_ID.fullmatch(trace_id):
        return INVALID_TRACE_ID, INVALID_SPAN_ID
    if not _SPAN_ID.fullmatch(span_id):
        return int(trace_id, 16), INVALID_SPAN_ID
    return int(trace_id, 16), int(span_id, 16)


def _text(text: str) -> str:
    """Return text that UTF-8 can hold; the SDK would drop the whole attribute otherwise."""
    return text.encode("utf-8", "replace").decode()
