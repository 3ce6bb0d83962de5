"""What Jaeger and Zipkin write and OTLP does not: references, shared spans, typed tags."""

import json
from typing import Any

import pytest

from tests.support.captures import Read, read_bytes

T = "0af7651916cd43dd8448eb211c80319c"


def jaeger(**fields: Any) -> Read:
    span = {"traceID": T, "spanID": "b", "operationName": "op", "startTime": 1_772_528_400_000_001}
    trace = {
        "traceID": T,
        "spans": [{**span, "duration": 5, "processID": "p1", **fields}],
        "processes": {"p1": {"serviceName": "shop", "tags": [tag("host", "string", "h1")]}},
    }
    return read_bytes(json.dumps({"data": [trace]}).encode())


def tag(key: str, kind: str, value: Any) -> dict[str, Any]:
    return {"key": key, "type": kind, "value": value}


def ref(kind: str, span_id: str, trace_id: str = T) -> dict[str, str]:
    return {"refType": kind, "traceID": trace_id, "spanID": span_id}


def test_times_are_microseconds_and_ids_padded() -> None:
    [span] = jaeger().spans
    assert (span.start_ns, span.end_ns) == (1_772_528_400_000_001_000, 1_772_528_400_000_006_000)
    assert span.span_id == "000000000000000b"
    assert span.resource == {"service.name": "shop", "host": "h1"}


@pytest.mark.parametrize(
    ("references", "parent", "links"),
    [
        ([], None, 0),
        ([ref("CHILD_OF", "a")], "a", 0),
        ([ref("FOLLOWS_FROM", "a")], "a", 0),
        ([ref("FOLLOWS_FROM", "c"), ref("CHILD_OF", "a")], "a", 1),
        ([ref("CHILD_OF", "a"), ref("CHILD_OF", "c")], "a", 1),
        ([ref("FOLLOWS_FROM", "a", "f" * 32)], None, 1),
        ([ref("CHILD_OF", "a", "f" * 32), ref("FOLLOWS_FROM", "c")], "c", 1),
        ([ref("CHILD_OF", "0")], None, 0),
    ],
)
def test_child_of_wins_as_parent_and_the_rest_are_links(
    references: list[dict[str, str]], parent: str | None, links: int
) -> None:
    [span] = jaeger(references=references).spans
    assert span.parent_span_id == (parent and parent.zfill(16))
    assert len(span.links) == links


def test_tags_keep_their_types_even_as_text() -> None:
    tags = [
        tag("a", "int64", "9007199254740993"),
        tag("b", "int64", 7),
        tag("c", "bool", "true"),
        tag("d", "float64", "0.5"),
        tag("e", "string", "[1, 2]"),
        tag("f", "binary", "AAE="),
        tag("g", "bool", False),
    ]
    [span] = jaeger(tags=tags).spans
    assert span.attributes == {
        "a": 9007199254740993,
        "b": 7,
        "c": True,
        "d": 0.5,
        "e": "[1, 2]",
        "f": "AAE=",
        "g": False,
    }


def test_fields_of_the_span_come_out_of_its_tags() -> None:
    tags = [
        tag("span.kind", "string", "client"),
        tag("error", "bool", True),
        tag("otel.status_code", "string", "ERROR"),
        tag("otel.status_description", "string", "no such order"),
        tag("otel.library.name", "string", "lib"),
        tag("otel.scope.version", "string", "2"),
    ]
    [span] = jaeger(tags=tags).spans
    assert (span.kind, span.status_code, span.status_message) == (
        "CLIENT",
        "ERROR",
        "no such order",
    )
    assert (span.scope_name, span.scope_version, span.attributes) == ("lib", "2", {})


@pytest.mark.parametrize(
    ("tags", "status", "left"),
    [
        ([tag("error", "bool", True)], "ERROR", {}),
        ([tag("error", "bool", "true")], "ERROR", {}),
        ([tag("error", "bool", False)], "UNSET", {"error": False}),
        ([tag("error", "string", "")], "UNSET", {"error": ""}),
        ([tag("otel.status_code", "string", "OK")], "OK", {}),
    ],
)
def test_an_error_tag_is_a_status(tags: list[Any], status: str, left: dict[str, Any]) -> None:
    [span] = jaeger(tags=tags).spans
    assert (span.status_code, span.attributes) == (status, left)


def test_logs_are_events_named_by_their_field() -> None:
    logs = [
        {"timestamp": 5, "fields": [tag("event", "string", "retry"), tag("n", "int64", 2)]},
        {"timestamp": 6, "fields": [tag("message", "string", "hi")]},
    ]
    [span] = jaeger(logs=logs).spans
    assert [(e.name, e.time_ns, e.attributes) for e in span.events] == [
        ("retry", 5000, {"n": 2}),
        ("", 6000, {"message": "hi"}),
    ]


def test_a_span_of_elasticsearch_brings_its_process_and_tag_object() -> None:
    row = {
        "traceID": T,
        "spanID": "1",
        "parentSpanID": "2",
        "operationName": "op",
        "startTime": 1,
        "tag": {"gen_ai@tool@name": "add"},
        "process": {"serviceName": "shop"},
    }
    [span] = read_bytes(json.dumps(row).encode()).spans
    assert span.attributes == {"gen_ai.tool.name": "add"}
    assert (span.service_name, span.parent_span_id, span.end_ns) == ("shop", "2".zfill(16), None)


def test_one_bad_span_costs_only_itself() -> None:
    good = {"traceID": T, "spanID": "1", "operationName": "ok"}
    spans: list[Any] = [good, {"traceID": T, "operationName": "no id"}, 7, {**good, "spanID": "0"}]
    found = read_bytes(json.dumps({"data": [{"traceID": T, "spans": spans}]}).encode())
    assert [s.name for s in found.spans] == ["ok"]
    assert [m.partition(": ")[0] for m in found.messages] == [
        "capture:1 record 1 (spans[1].spanID)",
        "capture:1 record 1 (spans[2])",
        "capture:1 record 1 (spans[3].spanID)",
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"startTime": "yesterday"}, "startTime"),
        ({"startTime": -1}, "startTime"),
        ({"duration": "long"}, "duration"),
        ({"duration": -3}, "duration"),
        ({"duration": 1e400}, "duration"),
        ({"tags": 3}, "tags"),
        ({"tags": [{"key": 3}]}, "tags[0].key"),
        ({"tags": [tag("a", "int64", "x")]}, "tags[0].value"),
        ({"logs": "none"}, "logs"),
        ({"operationName": ["a"]}, "operationName"),
        ({"references": [None]}, "references[0]"),
    ],
)
def test_a_bad_member_is_reported_and_the_span_kept(fields: dict[str, Any], message: str) -> None:
    found = jaeger(**fields)
    assert len(found.spans) == 1
    assert any(f"spans[0].{message})" in m for m in found.messages) or fields == {
        "duration": 1e400  # no JSON number; read as unknown
    }


def zipkin(**fields: Any) -> Read:
    span = {"traceId": "1", "id": "b", "name": "op", "timestamp": 1_772_528_400_000_001}
    return read_bytes(json.dumps([{**span, "localEndpoint": {}, **fields}]).encode())


def test_zipkin_ids_are_padded_and_times_microseconds() -> None:
    [span] = zipkin(duration=5, parentId="A", localEndpoint={"serviceName": "shop"}).spans
    assert (span.trace_id, span.span_id) == ("1".zfill(32), "b".zfill(16))
    assert (span.parent_span_id, span.duration_ns) == ("a".zfill(16), 5000)
    assert span.service_name == "shop"


def test_the_servers_half_of_a_shared_span_lies_below_the_clients() -> None:
    rows = [
        {"traceId": "1", "id": "b", "kind": "CLIENT", "timestamp": 1},
        {"traceId": "1", "id": "b", "kind": "SERVER", "timestamp": 2, "shared": True},
        {"traceId": "1", "id": "c", "parentId": "b", "timestamp": 3},
    ]
    client, server, child = read_bytes(json.dumps(rows).encode()).spans
    assert server.parent_span_id == client.span_id == child.parent_span_id
    assert server.span_id != client.span_id


@pytest.mark.parametrize(
    ("tags", "status", "message"),
    [
        ({}, "UNSET", ""),
        ({"error": "boom"}, "ERROR", "boom"),
        ({"error": "true"}, "ERROR", ""),
        ({"error": "false"}, "UNSET", ""),
        ({"otel.status_code": "OK", "error": "old"}, "OK", ""),
        ({"otel.status_code": "ERROR", "error": "boom"}, "ERROR", "boom"),
    ],
)
def test_zipkin_status(tags: dict[str, str], status: str, message: str) -> None:
    [span] = zipkin(tags=tags).spans
    assert (span.status_code, span.status_message) == (status, message)


@pytest.mark.parametrize(
    ("value", "name", "attributes"),
    [
        ("retry", "retry", {}),
        ('{"exception": {"exception.type": "E"}}', "exception", {"exception.type": "E"}),
        ('retry|{"n": 2}|0', "retry", {"n": 2}),
        ("a|b|c", "a|b|c", {}),
        ('{"not": "an event"}', '{"not": "an event"}', {}),
    ],
)
def test_annotations_are_events(value: str, name: str, attributes: dict[str, Any]) -> None:
    [span] = zipkin(annotations=[{"timestamp": 5, "value": value}]).spans
    assert [(e.name, e.time_ns, e.attributes) for e in span.events] == [(name, 5000, attributes)]
