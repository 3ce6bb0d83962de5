"""Langfuse, Phoenix, LangSmith, ClickHouse and our own store: what only their records have."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.captures import Read, read_bytes
from tests.support.truth import spans_of
from tests.unit.formats_more import writers as w
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Span
from trajscope.store import CaptureInfo, Store
from trajscope.store.columns import to_batch


def one(row: dict[str, Any]) -> Span:
    [span] = read_bytes(json.dumps(row).encode(), strict=True).spans
    return span


LANGFUSE = {
    "id": "obs-1",
    "traceId": "t-1",
    "type": "GENERATION",
    "name": "call",
    "startTime": "2026-03-03T09:00:00.000Z",
    "endTime": "2026-03-03T09:00:01.000Z",
    "parentObservationId": None,
    "level": "DEFAULT",
}


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        ({"usageDetails": {"input": 7, "output": 3, "total": 10}}, (7, 3)),
        ({"usage": {"input": 7, "output": 3, "total": 10, "unit": "TOKENS"}}, (7, 3)),
        ({"promptTokens": 7, "completionTokens": 3}, (7, 3)),
        ({"usage": {"input": 0, "output": 0, "unit": None}}, None),
        ({"usageDetails": {}}, None),
        ({"usage": {"input": 7, "output": 0}}, (7, 0)),
        ({}, None),
    ],
)
def test_langfuse_counts_of_every_api_version(
    fields: dict[str, Any], usage: tuple[int, int] | None
) -> None:
    found = Reader()(one(LANGFUSE | {"model": "m"} | fields)).usage
    assert (found and (found.input, found.output)) == usage


def test_a_langfuse_event_is_a_moment_and_an_open_observation_has_no_end() -> None:
    event = one(LANGFUSE | {"type": "EVENT", "endTime": None})
    assert event.end_ns == event.start_ns is not None
    assert one(LANGFUSE | {"endTime": None}).end_ns is None


def test_a_langfuse_error_is_a_status() -> None:
    span = one(LANGFUSE | {"type": "TOOL", "level": "ERROR", "statusMessage": "boom"})
    reading = Reader()(span)
    assert (span.status_code, reading.failed, reading.failure) == ("ERROR", True, "boom")


def test_the_span_langfuse_took_in_stands_beside_the_observation() -> None:
    metadata = {
        "attributes": {"gen_ai.tool.call.id": "c1", "langfuse.observation.type": "span"},
        "resourceAttributes": {"service.name": "shop"},
        "scope": {"name": "lib", "version": "1"},
        "mine": 3,
    }
    for given in (metadata, {k: json.dumps(v) for k, v in metadata.items()}):
        span = one(LANGFUSE | {"type": "TOOL", "metadata": given, "sessionId": "conv-1"})
        assert span.attributes["gen_ai.tool.call.id"] == "c1"
        assert span.attributes["langfuse.observation.type"] == "tool"
        assert span.attributes["session.id"] == "conv-1"
        assert span.attributes["langfuse.observation.metadata.mine"] in (3, "3")
        assert (span.scope_name, span.service_name) == ("lib", "shop")


@pytest.mark.parametrize("metadata", ["a note", 3, ["a"]])
def test_langfuse_metadata_that_is_no_object_is_kept(metadata: Any) -> None:
    assert one(LANGFUSE | {"metadata": metadata}).attributes["langfuse.observation.metadata"] == (
        metadata
    )


def test_an_observation_of_a_type_yet_unknown_is_recognised() -> None:
    assert one(LANGFUSE | {"type": "SOMETHING_NEW"}).attributes["langfuse.observation.type"] == (
        "something_new"
    )


def test_a_langfuse_trace_hands_its_session_down() -> None:
    trace = {
        "id": "t-9",
        "name": "chat",
        "sessionId": "conv-1",
        "observations": [
            {k: v for k, v in LANGFUSE.items() if k != "traceId"},
            {"name": "no id"},
            LANGFUSE | {"id": "obs-2", "traceId": "t-9", "parentObservationId": "obs-1"},
        ],
    }
    found = read_bytes(json.dumps(trace).encode())
    assert [(s.trace_id, s.span_id) for s in found.spans] == [("t-9", "obs-1"), ("t-9", "obs-2")]
    assert {s.attributes["session.id"] for s in found.spans} == {"conv-1"}
    assert len(found.messages) == 1


def test_phoenix_nested_attributes_get_their_names_back() -> None:
    row = {
        "name": "m",
        "context": {"trace_id": "1" * 32, "span_id": "2" * 16},
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": "2026-03-03T09:00:00+00:00",
        "status_code": "OK",
        "attributes": {
            "llm": {
                "token_count": {"prompt": 4, "completion": 2},
                "output_messages": [
                    {
                        "message": {
                            "role": "assistant",
                            "tool_calls": [
                                {
                                    "tool_call": {
                                        "function": {"name": "add", "arguments": {"a": {"b": 1}}}
                                    }
                                }
                            ],
                        }
                    }
                ],
            },
            "metadata": {"thread": {"id": 3}},
            "input": {"value": {"q": [{"x": 1}]}},
        },
        "events": '[{"name": "retry", "timestamp": "2026-03-03T09:00:01", "attributes": {}}]',
    }
    span = one(row)
    prefix = "llm.output_messages.0.message."
    assert span.attributes[prefix + "tool_calls.0.tool_call.function.arguments"] == {"a": {"b": 1}}
    assert span.attributes["metadata"] == {"thread": {"id": 3}}
    assert span.attributes["input.value"] == {"q": [{"x": 1}]}
    assert [e.name for e in span.events] == ["retry"]
    reading = Reader()(span)
    assert reading.usage is not None
    assert (reading.usage.input, reading.usage.output) == (4, 2)
    assert [(r.name, r.args) for r in reading.requests] == [("add", {"a": {"b": 1}})]


def run(**fields: Any) -> dict[str, Any]:
    return {
        "id": "r2",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "run_type": "tool",
        "name": "add",
        "start_time": "2026-03-03T09:00:00.5",
        "end_time": "2026-03-03T09:00:01",
        "status": "success",
        "inputs": {"a": 1},
        "outputs": {"output": "2"},
        **fields,
    }


@pytest.mark.parametrize(
    ("inputs", "args"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ({"input": "{'order_id': '12'}"}, {"order_id": "12"}),
        ({"input": '{"order_id": "12"}'}, {"input": '{"order_id": "12"}'}),
        ({"input": "hello"}, {"input": "hello"}),
    ],
)
def test_langsmith_tool_inputs(inputs: Any, args: dict[str, Any]) -> None:
    assert Reader()(one(run(inputs=inputs))).args == args


def test_langsmith_places_come_from_the_dotted_order_where_no_parent_is_named() -> None:
    root, child = "0" * 8 + "-aaaa-4aaa-8aaa-" + "a" * 12, "1" * 8 + "-bbbb-4bbb-8bbb-" + "b" * 12
    dotted = f"20260303T090000000000Z{root}.20260303T090001000000Z{child}"
    span = one(run(id=child, trace_id=None, parent_run_id=None, dotted_order=dotted))
    assert (span.trace_id, span.parent_span_id) == (root, root)
    top = one(run(id=root, trace_id=None, parent_run_id=None, dotted_order=dotted.split(".")[0]))
    assert (top.trace_id, top.parent_span_id) == (root, None)


def test_langsmith_status_error_interrupt_and_pending() -> None:
    failed = one(run(status="error", error="ValueError('boom')Traceback …", outputs=None))
    reading = Reader()(failed)
    assert (reading.failed, reading.failure) == (True, "ValueError('boom')Traceback …")
    paused = Reader()(one(run(status="error", error="GraphInterrupt((Interrupt(value='?'),))")))
    assert (paused.failed, paused.not_failure) == (False, True)
    assert one(run(status="pending", end_time=None)).end_ns is None


def test_langsmith_session_is_the_thread_not_the_project() -> None:
    extra = {"metadata": {"thread_id": "conv-1", "ls_model_name": "m"}}
    span = one(run(session_id="project-1", extra=json.dumps(extra), run_type="llm"))
    reading = Reader()(span)
    assert (reading.session_id, reading.model) == ("conv-1", "m")


def test_langsmith_runs_inside_runs() -> None:
    inner = run(id="r3", parent_run_id=None, trace_id=None)
    outer = run(child_runs=[inner, {"name": "no id"}, 7])
    found = read_bytes(json.dumps(outer).encode())
    assert [(s.trace_id, s.span_id, s.parent_span_id) for s in found.spans] == [
        ("r1", "r2", "r1"),
        ("r1", "r3", "r2"),
    ]
    assert len(found.messages) == 2


CLICKHOUSE = {
    "Timestamp": "2026-03-03 09:00:00.123456789",
    "TraceId": "1" * 32,
    "SpanId": "2" * 16,
    "ParentSpanId": "",
    "SpanName": "execute_tool add",
    "SpanKind": "SPAN_KIND_INTERNAL",
    "Duration": 1500,
    "StatusCode": "STATUS_CODE_ERROR",
}


def test_clickhouse_older_words_nested_events_and_json_columns() -> None:
    row = CLICKHOUSE | {
        "SpanAttributes": {"gen_ai": {"tool": {"name": "add"}}, "n": 1},
        "Events": [{"Timestamp": "2026-03-03 09:00:01", "Name": "e", "Attributes": {"a": "b"}}],
        "Links": [{"TraceId": "3" * 32, "SpanId": "4" * 16, "Attributes": {}}, {"TraceId": ""}],
    }
    span = one(row)
    assert (span.kind, span.status_code, span.duration_ns) == ("INTERNAL", "ERROR", 1500)
    assert span.start_ns == 1_772_528_400_123_456_789
    assert span.parent_span_id is None
    assert span.attributes == {"gen_ai.tool.name": "add", "n": 1}
    assert [(e.name, e.attributes) for e in span.events] == [("e", {"a": "b"})]
    assert [k.span_id for k in span.links] == ["4" * 16]


def test_clickhouse_lists_of_unequal_length_lose_nothing() -> None:
    row = CLICKHOUSE | {"Events.Name": ["a", "b"], "Events.Timestamp": ["2026-03-03 09:00:01"]}
    assert [(e.name, e.time_ns is None) for e in one(row).events] == [("a", False), ("b", True)]


def test_a_batch_of_the_store_written_as_parquet_reads_back() -> None:
    spans = spans_of("langgraph_oi-err/trace.otlp.json")
    batch = w.parquet_of(_batch(spans))
    assert read_bytes(batch, strict=True).spans == spans


def _batch(spans: list[Span]) -> Any:
    reader = Reader()
    return to_batch([(span, reader(span)) for span in spans])


def test_a_table_copied_by_duckdb_reads_back(tmp_path: Path) -> None:
    spans = spans_of("mastra1-two/trace.otlp.json")
    file = tmp_path / "out.parquet"
    with Store.open(tmp_path / "s.duckdb") as store:
        _ingest(store, spans)
    with duckdb.connect(str(tmp_path / "s.duckdb"), read_only=True) as connection:
        connection.execute(f"COPY spans TO '{file}' (FORMAT parquet)")
    found = read_bytes(file.read_bytes(), strict=True).spans
    assert sorted(found, key=lambda s: s.span_id) == sorted(spans, key=lambda s: s.span_id)
    assert assemble(found, Reader()) == assemble(spans, Reader())


def _ingest(store: Store, spans: list[Span]) -> None:
    reader = Reader()
    info = CaptureInfo(id="c", name="c", format="otlp-json")
    store.ingest(info, ((span, reader(span)) for span in spans))


def test_every_format_reports_a_record_without_ids_and_reads_on() -> None:
    def broken(rows: list[dict[str, Any]], *names: str) -> Read:
        for name in names:
            rows[1].pop(name)
        return read_bytes(w.as_lines(rows))

    plain = spans_of("pydantic_ai_v5-err/trace.otlp.json")
    langfuse = spans_of("langfuse-err/trace.otlp.json")
    langsmith = spans_of("langgraph_ls-err/trace.otlp.json")
    phoenix = spans_of("langgraph_oi-err/trace.otlp.json")
    for found, whole in [
        (broken(w.clickhouse_rows(plain), "SpanId"), plain),
        (broken(w.zipkin_rows(plain), "id"), plain),
        (broken(w.console_rows(plain), "context"), plain),
        (broken(w.langfuse_api_rows(langfuse), "id"), langfuse),
        (broken(w.phoenix_frame_rows(phoenix), "context.span_id"), phoenix),
        (broken(w.langsmith_rows(langsmith), "id"), langsmith),
    ]:
        assert len(found.spans) == len(whole) - 1
        [message] = found.messages
        assert message.startswith("capture:2 ")
        assert message.endswith("left out")
