"""Ingest: repeats, late spans, faults half-way, and values that are hard to store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.spans import TRACE_ID, open_span, span, span_id
from tests.support.stores import capture, ingest, select, steps, tables
from trajscope.errors import DecodeError, InputError, Location, Problem
from trajscope.model.reading import (
    NOT_UNDERSTOOD,
    Reading,
    StepType,
    ToolRequest,
    ToolResponse,
    Usage,
)
from trajscope.model.span import Span, SpanEvent
from trajscope.store import CaptureInfo, Record, Store, batches

AGENT = Reading(convention="t", step_type=StepType.AGENT_RUN, name="auditor", agent_name="auditor")


def tool(name: str, call_id: str | None = None, **fields: object) -> Reading:
    return Reading(
        convention="t",
        step_type=StepType.TOOL_CALL,
        name=name,
        tool_call_id=call_id,
        **{"args": {}, "result": "ok", **fields},  # type: ignore[arg-type]
    )


def model(**fields: object) -> Reading:
    given = {"usage": Usage(40, 4), "name": "m", "model": "m", **fields}
    return Reading(
        convention="t",
        step_type=StepType.MODEL_GENERATION,
        is_model_call=True,
        **given,  # type: ignore[arg-type]
    )


def only(store: Store, sql: str) -> object:
    ((value,),) = [tuple(row.values()) for row in select(store, sql)]
    return value


CHILDREN: list[Record] = [
    (span(2, 1, 10, 20), tool("scan_ports")),
    (span(3, 1, 30, 40), model()),
    (span(4, 1, 50, 60), tool("write_report")),
]
ROOT: list[Record] = [(span(1, None, 0, 2_000_000_000), AGENT)]


def test_late_parents_mend_the_trace() -> None:
    with Store.open() as store, Store.open() as other:
        ingest(store, CHILDREN, "children")
        (trace,) = select(store, "FROM traces")
        assert (trace["roots"], trace["orphans"], trace["missing_parents"]) == (0, 3, 1)
        assert [r["tool"] for r in select(store, "FROM tool_calls ORDER BY ord")] == [
            "scan_ports",
            "write_report",
        ]
        assert trace["total_tokens"] == 44

        report = ingest(store, ROOT, "root")
        assert (report.added, report.traces) == (1, 1)
        (trace,) = select(store, "FROM traces")
        assert (trace["roots"], trace["orphans"], trace["span_count"]) == (1, 0, 4)
        assert (trace["duration_ms"], trace["total_tokens"]) == (2000.0, 44)
        assert store.repairs() == []

        ingest(other, ROOT, "root")
        ingest(other, CHILDREN, "children")
        assert tables(other) == tables(store)
        before = tables(store)
        ingest(store, CHILDREN, "children")
        assert tables(store) == before


def test_a_batch_sent_again_counts_once() -> None:
    records = [*ROOT, *CHILDREN, *ROOT, *CHILDREN, (span(5, 1, 70, 80), model())]
    with Store.open() as store:
        report = ingest(store, records)
        assert (report.spans, report.added, report.duplicates) == (9, 5, 4)
        (trace,) = select(store, "FROM traces")
        assert (trace["span_count"], trace["tool_calls"], trace["total_tokens"]) == (5, 2, 88)
        assert {r.kind for r in store.repairs()} == {"duplicate_merged"}
        again = ingest(store, records)
        assert (again.known, again.added, again.duplicates) == (True, 0, 9)
        assert len(store.captures()) == 1
        assert len(store.repairs()) == 4


@pytest.mark.parametrize("order", [1, -1])
def test_the_finished_version_wins_whatever_comes_first(order: int) -> None:
    started = (open_span(1, None, 5), NOT_UNDERSTOOD)
    ended = (span(1, None, 5, 9, attributes={"x": 1}), AGENT)
    with Store.open() as store:
        for number, record in enumerate([started, ended][::order]):
            report = ingest(store, [record], f"capture {number}")
        assert store.spans_of(TRACE_ID) == [ended]
        assert [r["success"] for r in select(store, "FROM steps")] == [None]
        assert report.replaced == (1 if order == 1 else 0)


def test_two_versions_that_end_together_are_ranked_by_content() -> None:
    one = (span(1, attributes={"a": 1}), NOT_UNDERSTOOD)
    other = (span(1, attributes={"a": 2}), NOT_UNDERSTOOD)
    with Store.open() as store:
        ingest(store, [one], "one")
        ingest(store, [other], "other")
        assert store.spans_of(TRACE_ID) == [other]
        ingest(store, [one], "one more time")
        assert store.spans_of(TRACE_ID) == [other]


def test_spans_of_two_traces_with_one_span_id_are_two() -> None:
    with Store.open() as store:
        ingest(store, [(span(1), NOT_UNDERSTOOD), (span(1, trace_id="other"), NOT_UNDERSTOOD)])
        assert store.count() == (2, 2)


def test_a_fault_of_the_reader_comes_out_as_itself_and_leaves_the_store_as_it_was() -> None:
    def broken() -> Iterator[Record]:
        yield from CHILDREN
        raise DecodeError("the line is cut", at=Location("a.jsonl", line=7))

    with Store.open() as store:
        ingest(store, ROOT, "root")
        before = tables(store), store.captures()
        with pytest.raises(InputError, match="the line is cut"):
            store.ingest(capture("broken"), broken())
        assert (tables(store), store.captures()) == before
        assert ingest(store, CHILDREN, "children").added == 3


def test_an_interrupted_ingest_leaves_the_store_as_it_was() -> None:
    def interrupted() -> Iterator[Record]:
        yield from CHILDREN
        raise KeyboardInterrupt

    with Store.open() as store:
        with pytest.raises(KeyboardInterrupt):
            store.ingest(capture(), interrupted())
        assert store.count() == (0, 0)
        assert ingest(store, CHILDREN).added == 3


def test_a_fault_while_the_capture_is_described_leaves_the_store_as_it_was() -> None:
    def describe() -> CaptureInfo:
        raise InputError("the capture changed while it was read")

    with Store.open() as store:
        with pytest.raises(InputError):
            store.ingest(describe, CHILDREN)
        assert (store.count(), store.captures()) == ((0, 0), [])


def test_a_killed_ingest_leaves_whole_captures_only(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        ingest(store, ROOT, "root")
    code = """
import os, signal, sys
from tests.support.spans import span
from tests.support.stores import capture
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.store import Store

def records():
    for number in range(30_000):
        yield span(number + 10, 1), NOT_UNDERSTOOD
    os.kill(os.getpid(), signal.SIGKILL)

Store.open(sys.argv[1]).ingest(capture("big"), records())
"""
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    killed = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    with Store.open(path) as store:
        assert store.count() == (1, 1)
        assert [c.name for c in store.captures()] == ["root.json"]
        assert ingest(store, CHILDREN, "children").added == 3


def test_a_capture_is_described_after_its_last_record() -> None:
    problem = Problem("not JSON", Location("a.jsonl", line=3))
    seen: list[str] = []

    def records() -> Iterator[Record]:
        yield from CHILDREN
        seen.append("read")

    def describe() -> CaptureInfo:
        assert seen == ["read"]
        return CaptureInfo(
            id="h",
            name="a.jsonl",
            format="otlp-json",
            skipped={"logs": 2},
            problems=(problem,),
            problem_count=7,
        )

    with Store.open() as store:
        store.ingest(describe, records())
        (found,) = store.captures()
    assert (found.id, found.name, found.format) == ("h", "a.jsonl", "otlp-json")
    assert (found.spans, found.added, found.duplicates) == (3, 3, 0)
    assert (found.skipped, found.problem_count) == ({"logs": 2}, 7)
    assert found.problems == [{"message": "not JSON", "path": "a.jsonl", "line": 3}]


def test_an_empty_capture_is_kept_and_changes_nothing_else() -> None:
    with Store.open() as store:
        report = ingest(store, [])
        assert (report.spans, report.traces, len(store.captures())) == (0, 0, 1)


IDS = (
    "x'; DROP TABLE spans; --",
    "../../../../srv/pwned",
    'a" OR 1=1',
    "a/b",
    "a_b",
    "$trace_ids",
    "%",
    "\0\n\t",
    "ünï©ødé 🦆",
    "",
)


def test_ids_are_texts_and_never_sql() -> None:
    records = [
        record
        for number, trace_id in enumerate(IDS)
        for record in (
            (span(1, trace_id=trace_id), AGENT),
            (span(2, 1, trace_id=trace_id), tool(f"tool_{number}", session_id=f"s{trace_id}")),
        )
    ]
    with Store.open() as store:
        ingest(store, records)
        for number, trace_id in enumerate(IDS):
            found = store.spans_of(trace_id)
            assert [r.name for _, r in found] == ["auditor", f"tool_{number}"]
            assert store.trace_ids([trace_id]) == [trace_id]
            assert store.trace_ids(session_id=f"s{trace_id}") == [trace_id]
            result = store.query(
                "SELECT tool FROM tool_calls WHERE trace_id = ?", params=[trace_id]
            )
            assert list(result.rows) == [(f"tool_{number}",)]
        assert store.count() == (2 * len(IDS), len(IDS))


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        2**64,
        -(2**70),
        0.1 + 0.2,
        1e308,
        -0.0,
        1.0,
        True,
        None,
        "null",
        "NaN",
        "\0",
        "\u2028\U0001f986",
        {"": {"a.b": [None, float("nan"), {"x": []}]}},
        [],
        {},
    ],
)
def test_a_value_comes_back_with_its_type(value: object) -> None:
    recorded = (
        span(
            1,
            attributes={"v": value},
            resource={"service.name": "s", "v": value},
            events=(SpanEvent("e", 2**64 - 1, {"v": value}),),
        ),
        tool("t", args={"v": value}, result=value),
    )
    with Store.open() as store:
        ingest(store, [recorded])
        assert repr(store.spans_of(TRACE_ID)) == repr([recorded])
        select(store, "SELECT json_type(attributes), json_type(reading) FROM spans")


@pytest.mark.parametrize("time", [2**64 - 1, 2**63 - 1, 2**63, -1, -(2**63), -(2**70), 0])
def test_a_time_comes_back_to_the_nanosecond(time: int) -> None:
    recorded = [
        (span(1, None, time, time), AGENT),
        (span(2, None, 5, time), NOT_UNDERSTOOD),
        (span(3, None, 1_772_528_400_123_456_789, None), NOT_UNDERSTOOD),
    ]
    with Store.open() as store:
        ingest(store, recorded)
        assert sorted(map(repr, store.spans_of(TRACE_ID))) == sorted(map(repr, recorded))


def test_text_that_is_no_unicode_is_kept_as_far_as_it_is() -> None:
    half = "a\ud800b"
    recorded = (
        span(1, name=half, attributes={half: [half]}, resource={"service.name": half}),
        tool(half, result=half),
    )
    with Store.open() as store:
        ingest(store, [recorded])
        ((found, reading),) = store.spans_of(TRACE_ID)
    assert (found.name, found.attributes) == ("a\ufffdb", {"a\ufffdb": ["a\ufffdb"]})
    assert (reading.name, reading.result) == ("a\ufffdb", "a\ufffdb")


def test_a_value_nested_too_deeply_does_not_stop_the_rest() -> None:
    deep: list[object] = []
    for _ in range(20_000):
        deep = [deep]
    with Store.open() as store:
        ingest(store, [(span(1, attributes={"deep": deep}), NOT_UNDERSTOOD), *CHILDREN])
        assert store.count() == (4, 1)
        found = {s.span_id: s for s, _ in store.spans_of(TRACE_ID)}
    assert found[span_id(1)].attributes == {"trajscope": "nested too deeply to be stored"}


def test_a_chain_of_ten_thousand_spans_is_placed() -> None:
    depth = 10_000
    chain = [(span(n, n - 1 if n > 1 else None, n, n), AGENT) for n in range(1, depth + 1)]
    unnamed = [(s, tool(f"t{n}") if n % 2 else NOT_UNDERSTOOD) for n, (s, _) in enumerate(chain)]
    with Store.open() as store:
        ingest(store, unnamed)
        ((steps_, deepest, left, right),) = store.query(
            "SELECT count(*), max(depth), min(lft), max(rgt) FROM steps"
        ).rows
    assert (steps_, deepest, left, right) == (depth // 2, depth // 2 - 1, 1, depth)


def test_a_large_cycle_is_broken_at_its_earliest_span() -> None:
    size = 3_000
    ring = [(span(n, n % size + 1, n, n), NOT_UNDERSTOOD) for n in range(1, size + 1)]
    with Store.open() as store:
        ingest(store, ring)
        (repair,) = (r for r in store.repairs() if r.kind == "cycle_broken")
        assert only(store, "SELECT root_span_ids[1] FROM trajectories") == span_id(1)
    assert repair.span_id == span_id(1)
    assert f"cycle of {size} spans" in repair.detail


def client_traces(session: str | None) -> list[list[Record]]:
    """A client alone records one trace per model call: the answer stands in the next trace."""
    request = ToolRequest("search", "call_1", {"q": 1})
    answer = ToolResponse("call_1", "search", "found")
    asks = model(requests=(request,), session_id=session)
    told = model(responses=(answer,), session_id=session)
    return [
        [(span(1, trace_id="asks", start_ns=10, end_ns=20), asks)],
        [(span(1, trace_id="told", start_ns=30, end_ns=40), told)],
    ]


def calls(store: Store) -> list[tuple[object, ...]]:
    return [
        (row["trace_id"], row["tool"], row["executed"], row["result"])
        for row in select(store, "FROM tool_calls ORDER BY trace_id")
    ]


@pytest.mark.parametrize("session", [None, "s1"])
def test_an_answer_is_found_in_a_later_trace_of_the_capture(session: str | None) -> None:
    asks, told = client_traces(session)
    with Store.open() as store:
        ingest(store, [*asks, *told])
        assert calls(store) == [("asks", "search", True, '"found"')]
        assert set(steps(store)) == {
            ("asks", span_id(1)),
            ("asks", f"{span_id(1)}#call_1"),
            ("told", span_id(1)),
        }


def test_a_late_answer_mends_the_trace_of_its_session_that_asked() -> None:
    asks, told = client_traces("s1")
    with Store.open() as store, Store.open() as other:
        ingest(store, asks, "first")
        assert calls(store) == [("asks", "search", False, None)]
        report = ingest(store, told, "second")
        assert calls(store) == [("asks", "search", True, '"found"')]
        assert report.traces == 2
        ingest(other, [*told, *asks])
        assert tables(other) == tables(store)


def test_an_answer_of_another_session_or_capture_is_none() -> None:
    asks, _ = client_traces("s1")
    _, told = client_traces("s2")
    nameless_asks, nameless_told = client_traces(None)
    with Store.open() as store:
        ingest(store, [*asks, *told])
        assert calls(store) == [("asks", "search", False, None)]
    with Store.open() as store:
        ingest(store, nameless_asks, "first")
        ingest(store, nameless_told, "second")
        assert calls(store) == [("asks", "search", False, None)]


def test_batches_made_elsewhere_are_taken_as_they_are() -> None:
    with Store.open() as store, Store.open() as other:
        store.ingest_batches(capture(), batches([*ROOT, *CHILDREN], size=1))
        ingest(other, [*ROOT, *CHILDREN])
        assert tables(store) == tables(other)


def test_parts_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        (span(n, None, n, n + 1, trace_id=f"t{n % 7}"), model(requests=(ToolRequest("x", "y"),)))
        for n in range(50)
    ]
    with Store.open() as whole:
        ingest(whole, records)
        expected = tables(whole)
    monkeypatch.setattr("trajscope.store.derive.PART_SPANS", 5)
    monkeypatch.setattr("trajscope.store.reading_back.CHUNK_SPANS", 3)
    with Store.open() as store:
        ingest(store, records)
        assert tables(store) == expected
        assert [trace_id for trace_id, _ in store.iter_traces()] == [
            f"t{n}" for n in (0, 1, 2, 3, 4, 5, 6)
        ]


def test_the_same_span_object_read_twice_is_one_span() -> None:
    one = Span(trace_id="t", span_id="s")
    with Store.open() as store:
        assert ingest(store, [(one, NOT_UNDERSTOOD)] * 3).duplicates == 2
