"""What events tell of whatever call they belong to, without the span: messages and exceptions.

One thing a newcomer would get wrong: such a reading has no convention and is no step. Whether a
message holds the result of a tool's span or the request of a model's is for its span to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajscope.conventions._build import build_reading
from trajscope.conventions._kind import step
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span, SpanEvent, StatusCode

_NO_WORDS = Vocabulary()
_TOOL, _MODEL = step(StepType.TOOL_CALL), step(StepType.MODEL_GENERATION)


def of_events(events: Sequence[SpanEvent], status_code: StatusCode = "UNSET") -> Reading:
    """Return what events tell, for `model.completing`; empty if they are of another kind.

    status_code: of their span; an exception that was got over is no failure.
    """
    span = Span(trace_id="", span_id="", status_code=status_code, events=tuple(events))
    tool = build_reading(span, _NO_WORDS, _TOOL, "", 0)
    model = build_reading(span, _NO_WORDS, _MODEL, "", 0)
    return Reading(
        args=tool.args,
        args_value=tool.args_value,
        result=tool.result,
        failed=tool.failed,
        failure=tool.failure,
        not_failure=tool.not_failure,
        requests=model.requests,
        responses=model.responses,
        sources={**model.sources, **tool.sources},
    )
