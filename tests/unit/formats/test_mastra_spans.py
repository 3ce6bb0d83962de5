"""Stored span records: containers, columns, times, ids."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.captures import Read, read_bytes
from trajscope.errors import SpanError
from trajscope.formats.mastra_spans import record_from_span, span_from_record, stored_time_ns
from trajscope.model.span import SpanLink

NINE = 1_772_528_400_000_000_000  # 2026-03-03T09:00:00Z


def record(**members: Any) -> dict[str, Any]:
    return {
        "traceId": "t/1",
        "spanId": "s'1",
        "parentSpanId": None,
        "name": "tool: 'search'",
        "spanType": "tool_call",
        "startedAt": "2026-03-03T09:00:00.000Z",
        "endedAt": None,
        **members,
    }


def read(value: Any) -> Read:
    return read_bytes(json.dumps(value).encode())


@pytest.mark.parametrize(
    "wrap",
    [
        lambda a, b: [a, b],
        lambda a, b: {"spans": [a, b]},
        lambda a, b: {"traceId": "t/1", "spans": [a, b]},
        lambda a, b: {"traces": [{"spans": [a]}, {"traceId": "t/1", "spans": [b]}]},
        lambda a, b: {"traces": [[a], [b]]},
        lambda a, b: {"traces": {"t/1": [a, b]}},
        lambda a, b: {"traces": {"t/1": {"spans": [a]}, "t/2": {"spans": [b]}}},
    ],
)
def test_containers(wrap: Any) -> None:
    found = read(wrap(record(), record(spanId="s2", parentSpanId="s'1")))
    assert found.messages == []
    assert [(s.span_id, s.parent_span_id) for s in found.spans] == [("s'1", None), ("s2", "s'1")]


def test_one_record_and_records_a_line() -> None:
    line = json.dumps(record()).encode()
    assert len(read_bytes(line).spans) == 1
    found = read_bytes(line + b"\n" + line[:40] + b"\n" + line + b"\r\n")
    assert len(found.spans) == 2
    assert found.messages[0].startswith("capture:2: incomplete JSON")


def test_every_member_is_kept_and_null_only_where_it_says_something() -> None:
    (span,) = read(
        [record(input=None, output={"ok": 1}, entityId="search", userId=None, isEvent=0, extra=[1])]
    ).spans
    assert span.attributes == {
        "mastra.record.spanType": "tool_call",
        "mastra.record.input": None,
        "mastra.record.output": {"ok": 1},
        "mastra.record.entityId": "search",
        "mastra.record.isEvent": False,
        "mastra.record.extra": [1],
    }
    assert (span.trace_id, span.name, span.status_code) == ("t/1", "tool: 'search'", "UNSET")


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        ({"message": "card declined", "name": "Error"}, "ERROR", "card declined"),
        ("boom", "ERROR", "boom"),
        ({"id": "X"}, "ERROR", ""),
        ({}, "UNSET", ""),
        ("", "UNSET", ""),
        (None, "UNSET", ""),
    ],
)
def test_an_error_is_a_status_and_an_empty_one_is_none(
    error: Any, status: str, message: str
) -> None:
    (span,) = read([record(error=error, endedAt="2026-03-03T09:00:01Z")]).spans
    assert (span.status_code, span.status_message) == (status, message)


@pytest.mark.parametrize("parent", [None, "", "0" * 16])
def test_no_parent(parent: str | None) -> None:
    (span,) = read([record(parentSpanId=parent)]).spans
    assert span.parent_span_id is None


def test_a_parent_called_zero_is_one() -> None:
    (span,) = read([record(parentSpanId="0")]).spans
    assert span.parent_span_id == "0"


@pytest.mark.parametrize(
    ("value", "time_ns"),
    [
        ("2026-03-03T09:00:00Z", NINE),
        ("2026-03-03T09:00:00.100Z", NINE + 100_000_000),
        ("2026-03-03T09:00:00.000000100Z", NINE + 100),
        ("2026-03-03T09:00:00.0000001Z", NINE + 100),
        ("2026-03-03 10:00:00.5+01", NINE + 500_000_000),
        ("2026-03-03T09:00:00", NINE),
        (1772528400, NINE),
        (1772528400123, NINE + 123_000_000),
        (1772528400123456, NINE + 123_456_000),
        (NINE + 7, NINE + 7),
        (1772528400.25, NINE + 250_000_000),
        (1772528400.123456, NINE + 123_456_000),
        (1772528400123.25, NINE + 123_250_000),
        ("1772528400123", NINE + 123_000_000),
        (None, None),
        ("", None),
    ],
)
def test_times(value: Any, time_ns: int | None) -> None:
    assert stored_time_ns(value) == time_ns


def test_a_time_as_a_library_hands_it_over() -> None:
    given = record(startedAt=datetime(2026, 3, 3, 9, tzinfo=UTC))
    assert span_from_record(given).start_ns == NINE


@pytest.mark.parametrize(
    ("members", "key"),
    [
        ({"traceId": None}, "traceId"),
        ({"traceId": ""}, "traceId"),
        ({"spanId": 7}, "spanId"),
        ({"startedAt": "yesterday"}, "startedAt"),
        ({"startedAt": "2026-02-30T00:00:00Z"}, "startedAt"),
        ({"endedAt": True}, "endedAt"),
        ({"endedAt": [1]}, "endedAt"),
        ({"endedAt": 1e300}, "endedAt"),
        ({"endedAt": -5}, "endedAt"),
        ({"endedAt": "9" * 400}, "endedAt"),
    ],
)
def test_an_unusable_record_is_left_out_and_the_rest_kept(
    members: dict[str, Any], key: str
) -> None:
    found = read({"spans": [record(**members), record(name="good")]})
    assert [s.name for s in found.spans] == ["good"]
    (problem,) = found.problems.items
    assert problem.at is not None
    assert problem.at.key == f"spans[0].{key}"
    assert f"{key} cannot be read (got " in problem.message


@pytest.mark.parametrize("value", [7, "x", None, {"hello": 1}])
def test_what_is_no_record_is_a_problem(value: Any) -> None:
    found = read({"spans": [record(), value]})
    assert len(found.spans) == 1
    assert found.problems.count == 1


def test_columns_dumped_as_text_are_decoded() -> None:
    (span,) = read(
        [
            record(
                attributes='{"success": false}',
                metadata="null",
                input='"plain text"',
                output='{"rows": [1]}',
                error='{"message": "no"}',
            )
        ]
    ).spans
    assert span.attributes["mastra.record.attributes"] == {"success": False}
    assert span.attributes["mastra.record.input"] == "plain text"
    assert span.attributes["mastra.record.output"] == {"rows": [1]}
    assert (span.status_code, span.status_message) == ("ERROR", "no")


def test_text_that_looks_like_json_stays_text_where_columns_are_decoded() -> None:
    (span,) = read([record(attributes={"success": True}, input='{"a": 1}', output="[]")]).spans
    assert span.attributes["mastra.record.input"] == '{"a": 1}'
    assert span.attributes["mastra.record.output"] == "[]"


def test_column_names_in_snake_case() -> None:
    (span,) = read(
        [
            {
                "trace_id": "t",
                "span_id": "s",
                "parent_span_id": "p",
                "span_type": "agent_run",
                "entity_id": "bot",
                "started_at": "2026-03-03T09:00:00Z",
                "service_name": "shop",
                "links": [{"trace_id": "x", "span_id": "y"}, {"traceId": "a", "spanId": "b"}, 5],
            }
        ]
    ).spans
    assert (span.trace_id, span.parent_span_id, span.start_ns) == ("t", "p", NINE)
    assert span.attributes["mastra.record.entityId"] == "bot"
    assert span.service_name == "shop"
    assert SpanLink("a", "b") in span.links


def test_a_record_comes_back() -> None:
    given = record(input="hi", entityId="search", startedAt="2026-03-03T09:00:00.000000100Z")
    assert record_from_span(span_from_record(given)) == given


def test_a_record_that_is_no_object_is_refused() -> None:
    with pytest.raises(SpanError, match="no record"):
        span_from_record("x")  # type: ignore[arg-type]
