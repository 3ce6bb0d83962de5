"""Log records for tests: a program that logs its calls, and records of few spans and calls.

One thing a newcomer would get wrong: of the ids that records name, some are of no span on purpose.
"""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.support.spans import MISSING, TRACE_ID, span
from trajscope.assemble import stood_for
from trajscope.model.reading import Reading, StepType, ToolRequest, ToolResponse
from trajscope.model.span import Json, LogRecord, Span
from trajscope.pipeline.taking import record_key
from trajscope.store import LogRow, Record

OTHER_TRACE = "f" * 32
IDS = tuple(f"{n:016x}" for n in range(1, 6))


class Logged:
    """Reads spans and records of a program that logs its calls.

    A record whose event is a kind of step stands for one; attributes give name and call id.
    """

    KINDS = ("tool_call", "model_generation", "agent_run")

    def __call__(self, of: Span) -> Reading:
        kind = of.attributes.get("kind")
        if kind not in self.KINDS:
            return Reading(noise_reason="no step")
        kind = StepType(str(kind))
        call_id, name = of.attributes.get("id"), of.attributes.get("name")
        asks, answers = [
            [str(e.attributes[word]) for e in of.events if word in e.attributes]
            for word in ("asks", "answers")
        ]
        return Reading(
            convention="logged",
            step_type=kind,
            is_model_call=kind is StepType.MODEL_GENERATION,
            name=str(name or ""),
            tool_call_id=str(call_id) if call_id else None,
            response_id=str(call_id) if call_id and kind is StepType.MODEL_GENERATION else None,
            session_id=str(of.attributes.get("session", "s")),
            requests=tuple(ToolRequest("n", call_id) for call_id in asks),
            responses=tuple(ToolResponse(call_id, "n", "answer") for call_id in answers),
            result=next((e.attributes["result"] for e in of.events if "result" in e.attributes), 0),
        )

    def span_of_log(self, record: LogRecord) -> Span | None:
        kind = record.attributes.get("kind")
        if kind not in self.KINDS:
            return None
        return Span(
            trace_id=f"logged-{record.attributes.get('session', 's')}",
            span_id=f"log-{record.attributes.get('number')}",
            parent_span_id=record.attributes.get("above"),
            name=str(kind),
            start_ns=record.time_ns,
            end_ns=record.time_ns,
            attributes=record.attributes,
        )


READ = Logged()


def row_of(sent: Span | LogRecord) -> Record | LogRow:
    """Return what goes into a store for a span or a record of that program."""
    if isinstance(sent, Span):
        return sent, READ(sent)
    standin = stood_for(sent, READ)
    return LogRow(sent, record_key(sent), standin, None if standin is None else READ(standin))


CALL_IDS = st.sampled_from(["", "a", "b"])
KINDS = st.sampled_from([None, "message", *Logged.KINDS])
TRACES = st.sampled_from([TRACE_ID, OTHER_TRACE])
MADE_TRACE = "logged-s"
MADE_IDS = ("log-0", "log-1")
"""Of spans made of records: few, so that several records would be one span, and some name it."""
SESSIONS = st.sampled_from(["s", "s", "t"])


def record_of(number: int, drawn: tuple[Any, ...]) -> LogRecord:
    """Return a record that stands for a call, or is a mere event."""
    kind, call_id, trace_id, span_id, above, time_ns, body, session, made = drawn
    stands = {"kind": kind, "number": made, "id": call_id, "above": above, "name": "n"}
    stands |= {"session": session, "result": number}
    messages = {"asks" if number % 2 else "answers": call_id} if call_id else {}
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time_ns=time_ns,
        event_name="e",
        body=body,
        attributes={"result": number, **messages} if kind is None else stands,
    )


def again(record: LogRecord, other: Json) -> LogRecord:
    """The same record as another route brings it; of a call it would be another span."""
    number = record.attributes.get("number")
    twice = {} if number is None else {"number": f"{number} again"}
    attributes = {**record.attributes, **twice, **({"more": 1} if other == "fuller" else {})}
    return msgspec.structs.replace(record, resource={"route": 2}, attributes=attributes)


def span_of(id: str, drawn: tuple[Any, ...]) -> Span:
    """Return a span that is a call, or noise."""
    kind, call_id, at, trace_id, parent, session = drawn
    call = {"kind": kind, "id": call_id, "name": "n", "session": session}
    attributes = {} if kind is None else call
    return span(id, parent, at, trace_id=trace_id, attributes=attributes)


records = st.lists(
    st.tuples(
        KINDS,
        CALL_IDS,
        st.sampled_from([None, TRACE_ID, OTHER_TRACE, MADE_TRACE]),
        st.sampled_from([None, *MADE_IDS, *IDS, *MISSING]),
        st.sampled_from([None, *MADE_IDS, *IDS, *MISSING]),
        st.none() | st.integers(0, 4),
        st.sampled_from([None, "text", 1, {"content": "hi"}, {"kind": "agent_run"}]),
        SESSIONS,
        st.integers(0, 3),
    ),
    max_size=8,
).map(lambda drawn: [record_of(number, one) for number, one in enumerate(drawn)])
"""Records about few spans, of which some are missing; some stand for calls of few ids."""

OTHERS = st.sampled_from([None, None, None, "resource", "fuller"])

repeated_records = st.tuples(records, st.lists(OTHERS, min_size=8, max_size=8)).map(
    lambda drawn: [
        *drawn[0],
        *(again(one, other) for one, other in zip(*drawn, strict=False) if other is not None),
    ]
)
"""The same, some of them twice with a difference that does not matter."""


_STEPS = st.sampled_from(["tool_call", "model_generation"])
_NEITHER = st.none()

loose_records = st.lists(
    st.tuples(
        *(_STEPS, CALL_IDS, st.sampled_from([None, None, TRACE_ID, OTHER_TRACE])),
        *(_NEITHER, _NEITHER, st.integers(0, 2), _NEITHER, st.sampled_from(["s", "t"])),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=3,
).map(lambda drawn: [record_of(number, one) for number, one in enumerate(drawn)])
"""Records that stand for calls and mostly name no trace: what spans say decides their place."""


def _spans(parents: st.SearchStrategy[str | None]) -> st.SearchStrategy[list[Span]]:
    drawn = st.tuples(KINDS, CALL_IDS, st.integers(0, 4), TRACES, parents, SESSIONS)
    return st.dictionaries(st.sampled_from(IDS), drawn, max_size=5).map(
        lambda found: [span_of(id, one) for id, one in found.items()]
    )


known_spans = _spans(st.none())
"""Spans with distinct ids, some of which are calls with the ids that records speak of."""

nested_spans = _spans(st.sampled_from([None, *IDS]))
"""The same, some below others, some in cycles."""

call_spans = st.dictionaries(
    st.sampled_from(IDS[:2]),
    st.tuples(_STEPS, CALL_IDS, st.integers(0, 4), TRACES, _NEITHER, st.sampled_from(["s", "t"])),
    min_size=1,
).map(lambda found: [span_of(id, one) for id, one in found.items()])
"""One or two spans that are calls."""
