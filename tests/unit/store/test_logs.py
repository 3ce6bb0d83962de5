"""Log records as rows: nothing of them is lost, and what goes with them when traces go."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.logs import READ, row_of
from tests.support.spans import TRACE_ID, span
from tests.support.stores import capture, empty_store, select
from trajscope.conventions import Reader
from trajscope.model.span import Json, LogRecord, Span
from trajscope.pipeline.dropping import Dropper
from trajscope.pipeline.taking import Taker
from trajscope.store import Store, placing
from trajscope.store import logs as logs_of_store

SPAN_ID = f"{1:016x}"
DEEP: list[Json] = []
for _ in range(5_000):
    DEEP = [DEEP]


def ingest(store: Store, *records: Span | LogRecord, name: str = "capture") -> Any:
    return store.ingest(capture(name), map(row_of, records), READ)


@pytest.mark.parametrize(
    "record",
    [
        LogRecord(),
        LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, time_ns=5, event_name="e", severity="INFO"),
        LogRecord(time_ns=2**63 + 5, scope_name="s", resource={"service.name": "x", "n": 1}),
        LogRecord(time_ns=-(2**63), body={"a": [1, 2.0, None, True, {"b": "ä"}], "n": 2**70}),
        LogRecord(body=False, attributes={"k": 0, "l": "", "m": None}),
        LogRecord(trace_id="", span_id="", body=""),
        LogRecord(trace_id=TRACE_ID, body="NUL \0 and 'quotes'"),
        LogRecord(attributes={"inf": float("inf")}),
    ],
)
def test_what_is_stored_and_loaded_is_what_was_there(record: LogRecord) -> None:
    with empty_store() as store:
        assert ingest(store, record).logs == 1
        assert list(store.iter_logs()) == [record]
        assert store.captures()[0].logs == 1


@pytest.mark.parametrize("body", ["half \ud800 of a pair", {"k\udc00": ["\ud800"]}, DEEP])
def test_what_no_column_can_hold_is_no_crash(body: Json) -> None:
    record = LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, body=body)
    with empty_store() as store:
        ingest(store, record, span(1))
        [kept] = store.iter_logs()
        [(_, [(joined, _)])] = store.iter_traces()
    assert kept.span_id == SPAN_ID
    assert len(joined.events) == 1


def test_records_are_read_back_a_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [LogRecord(trace_id=f"t{n % 2}", time_ns=n) for n in range(7)]
    with empty_store() as store:
        ingest(store, *records)
        found = logs_of_store.iter_logs(store._connection, size=2)
        assert list(found) == records
        assert list(store.iter_logs(["t1"])) == records[1::2]
        assert (store.log_count(), store.log_count(["t1"])) == (7, 3)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_spans_and_records_may_be_mixed_in_any_way(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajscope.store.core.capture_batches", _batches_of(size))
    about = [LogRecord(trace_id=TRACE_ID, span_id=f"{n:016x}", time_ns=n) for n in range(1, 6)]
    mixed: list[Span | LogRecord] = [
        about[0],
        span(1),
        span(2),
        about[1],
        about[2],
        about[3],
        span(3),
        about[4],
        span(4),
    ]
    with empty_store() as store:
        report = ingest(store, *mixed)
        [(_, found)] = store.iter_traces()
    assert (report.spans, report.logs, report.added) == (4, 5, 4)
    assert sorted((s.span_id, len(s.events)) for s, _ in found) == [
        (f"{n:016x}", 1) for n in range(1, 5)
    ]


def _batches_of(size: int) -> Any:
    return lambda records: logs_of_store.capture_batches(records, size)


def test_records_of_no_trace_go_by_their_own_time() -> None:
    here = LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, time_ns=1)
    old, young, undated = (LogRecord(trace_id="gone", time_ns=n) for n in (1, 60, None))
    with empty_store() as store:
        ingest(store, here, span(1, None, 80, 90), name="with a span")
        ingest(store, old, name="old")
        ingest(store, young, undated, name="young")
        gone = store.prune(50, read=READ)
        assert (gone.log_records, gone.captures, gone.traces) == (1, 1, 0)
        assert list(store.iter_logs()) == [here, young, undated]
        gone = store.prune(81, read=READ)
        assert (gone.log_records, gone.captures, gone.traces) == (2, 1, 1)
        assert list(store.iter_logs()) == [undated]


def test_scores_stay_where_a_record_changes_no_step() -> None:
    from trajscope.model.score import Score

    call = span(1, attributes={"kind": "tool_call", "name": "n"})
    score = Score(scorer="s", value=1.0, trace_id=TRACE_ID)
    with empty_store() as store:
        ingest(store, call)
        store.save_scores([score])
        ingest(store, LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, body="note"), name="notes")
        assert len(store.scores()) == 1
        says = LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, attributes={"result": 7})
        assert ingest(store, says, name="says").traces == 1
        assert store.scores() == []
        assert select(store, "SELECT result FROM steps") == [{"result": "7"}]


def _call(number: int, **said: Json) -> LogRecord:
    """A record of a call that no span records, and that would be the span `log-<number>`."""
    stands = {"kind": "tool_call", "name": "n", "number": number, "id": "a", "session": "s"}
    return LogRecord(time_ns=5, attributes={**stands, **said})


@pytest.mark.parametrize("names_first", [True, False])
def test_what_names_a_span_made_of_a_record_is_read_into_it(names_first: bool) -> None:
    says = LogRecord(trace_id="logged-s", span_id="log-1", attributes={"result": 7})
    with empty_store() as store:
        for record in (says, _call(1)) if names_first else (_call(1), says):
            ingest(store, record, name=repr(record))
        assert select(store, "SELECT result FROM steps") == [{"result": "7"}]


def test_what_names_a_span_that_a_later_record_makes_in_a_known_trace_is_read_into_it() -> None:
    says = LogRecord(trace_id=TRACE_ID, span_id="log-1", attributes={"result": 7})
    with empty_store() as store:
        ingest(store, says, span(1), name="first")
        ingest(store, msgspec.structs.replace(_call(1), trace_id=TRACE_ID), name="then")
        assert select(store, "SELECT result FROM steps") == [{"result": "7"}]


def test_of_two_records_of_one_span_the_fuller_is_it() -> None:
    brief, full = _call(1), _call(1, more=1)
    for first, then in ((brief, full), (full, brief)):
        with empty_store() as store:
            ingest(store, first, name="first")
            ingest(store, then, name="then")
            found = "SELECT attributes->>'$.more' AS more, step_name FROM spans"
            assert select(store, found) == [{"more": "1", "step_name": "n"}]


def test_records_of_one_span_meet_whatever_session_and_call_they_name() -> None:
    brief, full = (
        msgspec.structs.replace(_call(1, **said), trace_id=TRACE_ID)
        for said in ({"session": "s", "id": "a"}, {"session": "t", "id": "b", "more": 1})
    )
    for first, then in ((brief, full), (full, brief)):
        with empty_store() as store:
            ingest(store, span(1), first, name="first")
            ingest(store, then, name="then")
            found = "SELECT attributes->>'$.more' AS more FROM spans WHERE span_id = 'log-1'"
            assert select(store, found) == [{"more": "1"}]


@pytest.mark.parametrize("export_first", [True, False])
def test_a_span_out_of_an_export_makes_way_for_its_record(export_first: bool) -> None:
    real = span(1, start_ns=4, attributes={"kind": "tool_call", "name": "n", "id": "a"})
    with empty_store() as store:
        ingest(store, _call(1))
        [(_, [(exported, _)])] = store.iter_traces()
    counted = "SELECT count(*) AS steps FROM steps"
    with empty_store() as store:
        for one in (exported, _call(1)) if export_first else (_call(1), exported):
            ingest(store, one, name=repr(one))
            assert select(store, counted) == [{"steps": 1}]
        ingest(store, real, name="real")
        assert select(store, counted) == [{"steps": 1}]


def test_another_record_of_a_call_out_of_an_export_is_no_second_call() -> None:
    with empty_store() as store:
        ingest(store, _call(1))
        [(_, [(exported, _)])] = store.iter_traces()
    with empty_store() as store:
        ingest(store, _call(2), name="record")
        ingest(store, exported, name="export")
        assert select(store, "SELECT span_id FROM steps") == [{"span_id": "log-1"}]


def test_the_capture_of_a_span_stays_the_one_that_brought_it() -> None:
    says = LogRecord(trace_id=TRACE_ID, span_id=SPAN_ID, attributes={"result": 7})
    with empty_store() as store:
        ingest(store, span(1, attributes={"kind": "tool_call"}), name="first")
        ingest(store, says, name="second")
        assert select(store, "SELECT capture_no FROM spans") == [{"capture_no": 1}]
        assert select(store, "SELECT capture_no FROM log_records") == [{"capture_no": 2}]


_LOGGED: list[tuple[str, dict[str, Json]]] = [
    (
        "com.anthropic.claude_code.events",
        {"event.name": "tool_result", "prompt.id": "p", "tool_name": "Bash", "tool_use_id": "a"},
    ),
    (
        "com.anthropic.claude_code.events",
        {"event.name": "api_request", "prompt.id": "p", "model": "m", "request_id": "a"},
    ),
    (
        "codex_otel",
        {"event.name": "codex.tool_result", "conversation.id": "s", "tool_name": "exec"}
        | {"call_id": "a", "output": "done"},
    ),
    (
        "gemini-cli",
        {"event.name": "gemini_cli.tool_call", "session.id": "s", "function_name": "read"}
        | {"function_args": "{}", "success": True},
    ),
]
"""Records of calls as programs write them; the last has no id."""


@pytest.mark.parametrize(("scope", "said"), _LOGGED)
@pytest.mark.parametrize("differs", ["resource", "masks"])
@pytest.mark.parametrize("in_one", [True, False])
def test_a_record_that_comes_twice_with_another_resource_or_masked_is_one_call(
    scope: str, said: dict[str, Json], differs: str, *, in_one: bool
) -> None:
    secret = {"note": "a secret"}
    first = LogRecord(time_ns=9, scope_name=scope, attributes=said | secret)
    if differs == "resource":
        second = msgspec.structs.replace(first, resource={"host.name": "other"})
    else:
        second = msgspec.structs.replace(first, attributes=said | {"note": "[redacted]"})
    has_id = scope != "gemini-cli"
    read = Reader()
    take = Taker(read, Dropper(()))
    with empty_store() as store:
        for number, part in enumerate([[first, second]] if in_one else [[first], [second]]):
            store.ingest(capture(f"part {number}"), map(take, part), read)
        steps = 1 if has_id or differs == "resource" else 2  # by all it says, which masks change
        assert select(store, "SELECT count(*) AS steps FROM steps") == [{"steps": steps}]
        assert store.log_count() == 2


def _called(trace: int, *, named: bool = True) -> list[Span | LogRecord]:
    """A tool call and the record of it, in a trace that numbers its calls; named: by the record."""
    said: dict[str, Json] = {
        "tool_name": "Bash",
        "tool_use_id": "call_0",
        "session.id": f"s{trace}",
    }
    own = span(
        trace + 1,
        trace_id=f"{trace:032x}",
        start_ns=10 * trace,
        scope_name="com.anthropic.claude_code.tracing",
        attributes={"span.type": "tool", **said},
    )
    record = LogRecord(
        trace_id=own.trace_id if named else None,
        span_id=own.span_id if named else None,
        time_ns=own.end_ns,
        scope_name="com.anthropic.claude_code.events",
        attributes={"event.name": "tool_result", "prompt.id": f"p{trace}", **said},
    )
    return [own, record]


def test_traces_that_number_their_calls_alike_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[int] = []
    read_items = placing._Placing._items

    def items(self: Any, first: int, last: int) -> Any:
        found = read_items(self, first, last)
        placed.append(len(found))
        return found

    monkeypatch.setattr(placing._Placing, "_items", items)
    read = Reader()
    take = Taker(read, Dropper(()))
    with empty_store() as store:
        for name, traces in (("many", range(30)), ("one more", range(30, 31))):
            placed.clear()
            rows = [take(record) for trace in traces for record in _called(trace)]
            store.ingest(capture(name), rows, read)
            assert sum(placed) == len(traces)
        counted = "SELECT count(*) AS steps, count(DISTINCT trace_id) AS traces FROM steps"
        assert select(store, counted) == [{"steps": 31, "traces": 31}]
        # A record that names no trace may be about any of them, so they are looked at again.
        placed.clear()
        store.ingest(capture("loose"), [take(r) for r in _called(31, named=False)], read)
        assert sum(placed) == 32
        assert select(store, counted) == [{"steps": 32, "traces": 32}]


def test_a_record_that_names_a_pruned_trace_stays_with_the_span_that_was_made_of_it() -> None:
    stays = msgspec.structs.replace(_call(1, session="t"), trace_id="logged-s", time_ns=None)
    with empty_store() as store:
        ingest(store, stays, _call(1))
        assert len(select(store, "FROM steps")) == 2
        store.prune(50, read=READ)
        assert select(store, "SELECT trace_id FROM spans") == [{"trace_id": "logged-t"}]
        assert list(store.iter_logs()) == [stays]
