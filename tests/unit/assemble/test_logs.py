"""Log records join spans: laws first, then what the parts of a record become."""

import random
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.logs import OTHER_TRACE, READ, again, known_spans, records, repeated_records
from tests.support.spans import TRACE_ID, span
from trajscope.assemble import assemble, join_logs
from trajscope.model.reading import Reading
from trajscope.model.span import LogRecord, Span, SpanEvent
from trajscope.model.step import ToolStep


def log(event: str = "", at: int | None = 0, **more: Any) -> LogRecord:
    known = {"trace_id": None, "span_id": None, "body": None}
    own = {k: more.pop(k) for k in known if k in more}
    return LogRecord(time_ns=at, event_name=event, attributes=more, **{**known, **own})


def in_order(found: list[Span]) -> list[Span]:
    return sorted(found, key=lambda s: (s.trace_id, s.span_id))


@given(known_spans, repeated_records, st.randoms())
def test_the_order_of_spans_and_records_is_nothing(
    known: list[Span], logs: list[LogRecord], rng: random.Random
) -> None:
    mixed, shuffled = rng.sample(known, len(known)), rng.sample(logs, len(logs))
    assert in_order(join_logs(known, logs, READ)) == in_order(join_logs(mixed, shuffled, READ))


@given(known_spans, repeated_records)
def test_joining_again_changes_nothing(known: list[Span], logs: list[LogRecord]) -> None:
    once = join_logs(known, logs, READ)
    assert in_order(join_logs(once, logs, READ)) == in_order(once)


@given(known_spans, records)
def test_a_span_gains_events_and_nothing_else_changes(
    known: list[Span], logs: list[LogRecord]
) -> None:
    joined = {(s.trace_id, s.span_id): s for s in join_logs(known, logs, READ)}
    for one in known:
        after = joined[one.trace_id, one.span_id]
        assert {*map(repr, one.events)} <= {*map(repr, after.events)}
        assert (after.attributes, after.parent_span_id) == (one.attributes, one.parent_span_id)


@given(known_spans, records)
def test_a_call_with_an_id_is_one_step_at_most(known: list[Span], logs: list[LogRecord]) -> None:
    """What spans record stays; each record adds a call only if no span has taken it."""
    tools = [s for s in known if s.attributes.get("kind") == "tool_call"]
    stands = [r for r in logs if r.attributes.get("kind") == "tool_call"]
    steps = [s for t in assemble(known, READ, logs) for s in t.walk() if isinstance(s, ToolStep)]
    found = [s for s in steps if not s.from_messages]  # messages may ask for calls that never ran
    assert len(tools) <= len(found) <= len(tools) + len(stands)


@given(known_spans, records, st.sampled_from(["resource", "fuller"]))
def test_a_call_that_is_recorded_twice_is_one_step(
    known: list[Span], logs: list[LogRecord], other: str
) -> None:
    stands = [
        log(
            at=r.time_ns,
            trace_id=r.trace_id,
            **{**r.attributes, "number": number},
        )
        for number, r in enumerate(logs)
        if r.attributes.get("kind") in ("tool_call", "model_generation") and r.attributes["id"]
    ]
    once = join_logs(known, stands, READ)
    twice = join_logs(known, [*stands, *(again(r, other) for r in stands)], READ)
    assert len(twice) == len(once)
    assert [s.step_type for t in assemble(twice, READ) for s in t.walk()] == [
        s.step_type for t in assemble(once, READ) for s in t.walk()
    ]


@given(known_spans)
def test_without_records_nothing_is_done(known: list[Span]) -> None:
    def fails(of: Span) -> Reading:
        raise AssertionError(of)

    assert join_logs(known, [], fails) == known


def test_a_record_about_a_span_becomes_its_event() -> None:
    own = SpanEvent("start", 1)
    record = log(
        "event src/x.rs:9",
        5,
        trace_id=TRACE_ID,
        span_id=f"{1:016x}",
        body={"content": "hi", "n": 1},
        **{"event.name": "gen_ai.user.message", "n": 2},
    )
    (joined,) = join_logs([span(1, events=(own,))], [record], READ)
    assert joined.events[0] == own
    assert joined.events[1].name == "gen_ai.user.message"
    assert joined.events[1].attributes["content"] == "hi"
    assert joined.events[1].attributes["n"] == 2  # attributes go before the body


def test_a_body_that_is_no_object_is_kept_whole() -> None:
    record = log("said", 5, trace_id=TRACE_ID, span_id=f"{1:016x}", body="plain text")
    (joined,) = join_logs([span(1)], [record], READ)
    assert joined.events == (SpanEvent("said", 5, {"body": "plain text"}),)


def test_records_of_other_spans_and_of_none_are_left_out() -> None:
    logs = [log("a"), log("b", trace_id=OTHER_TRACE, span_id=f"{1:016x}")]
    assert join_logs([span(1)], logs, READ) == [span(1)]


def calls(known: list[Span], *logs: LogRecord) -> list[tuple[str | None, Any]]:
    found = (s for t in assemble(known, READ, logs) for s in t.walk())
    return [(s.span_id, s.tool_result) for s in found if isinstance(s, ToolStep)]


def call(id: int, call_id: str, **more: Any) -> Span:
    return span(id, attributes={"kind": "tool_call", "name": "n", "id": call_id}, **more)


def about(call_id: str, number: int, **more: Any) -> LogRecord:
    return log("call", kind="tool_call", name="n", id=call_id, number=number, **more)


def test_of_calls_with_one_id_the_span_beside_the_record_is_meant() -> None:
    known = [call(1, "a"), call(2, "a", parent=4), call(3, "a"), span(4)]
    for named in (2, 4):
        record = about("a", 1, result="x", trace_id=TRACE_ID, span_id=f"{named:016x}")
        assert [s for s, result in calls(known, record) if result == "x"] == [f"{2:016x}"]


def test_two_records_with_one_id_are_about_two_calls() -> None:
    known = [call(1, "a"), call(2, "a")]
    logs = [about("a", n, at=n, result=n, trace_id=TRACE_ID) for n in (1, 2)]
    assert sorted(r for _, r in calls(known, *logs)) == [1, 2]


def test_what_lies_below_a_record_lies_below_the_fuller_one_of_its_call() -> None:
    outer, inner = about("a", 1), about("b", 2, at=1, above="log-1")
    (trace,) = assemble([], READ, [outer, again(outer, "fuller"), inner])
    (found,) = trace.steps
    assert (found.span_id, [s.span_id for s in found.children]) == ("log-1 again", ["log-2"])


def test_calls_with_other_ids_or_at_other_times_stay_two() -> None:
    first = about("a", 1, at=1)
    for second in (
        about("a", 2, at=2),
        about("b", 2, at=1),
        about("a", 2, at=1, trace_id=TRACE_ID),
    ):
        assert len(calls([], first, second)) == 2
    assert len(calls([], first, about("a", 2, at=1))) == 1


def test_a_call_without_a_span_lies_where_its_record_was_written() -> None:
    record = about("b", 1, at=5, trace_id=TRACE_ID, span_id=f"{2:016x}")
    (trace,) = assemble([span(1), call(2, "a", parent=1)], READ, [record])
    (outer,) = trace.steps
    assert [(s.name, s.start_ns) for s in outer.children] == [("n", 5)]
    assert trace.orphans == ()


def test_a_name_that_differs_is_another_call() -> None:
    record = log("call", kind="tool_call", name="other", id="a", number=1, trace_id=TRACE_ID)
    assert len(calls([call(1, "a")], record)) == 2


def test_steps_of_a_kind_that_spans_record_are_taken_from_spans_alone() -> None:
    model: dict[str, Any] = {"kind": "model_generation", "name": "m"}
    record = log("x", number=1, **model)
    (with_span,) = assemble([span(1, attributes=model)], READ, [record])
    (without,) = assemble([], READ, [record])
    assert (with_span.model_calls, without.model_calls) == (1, 1)


def test_later_records_of_a_session_join_earlier_ones() -> None:
    """Spans made from records are no authority: they do not silence what comes later."""
    first, second = (log("x", n, kind="model_generation", number=n) for n in (1, 2))
    earlier = join_logs([], [first], READ)
    assert len(join_logs(earlier, [second], READ)) == 2


def test_a_parent_no_record_stands_for_is_no_missing_parent() -> None:
    record = about("a", 1, above="nobody")
    (trace,) = assemble([], READ, [record])
    assert trace.missing_parents == ()


def test_a_reader_of_spans_alone_still_gets_events() -> None:
    read: Callable[[Span], Reading] = READ.__call__
    record = about("a", 1, trace_id=TRACE_ID, span_id=f"{1:016x}")
    (joined,) = join_logs([span(1)], [record], read)
    assert [e.name for e in joined.events] == ["call"]
