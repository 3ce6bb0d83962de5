"""Spellings of OTLP/JSON, right ones and wrong ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.support.captures import Read, read_bytes
from tests.support.otlp import as_json
from tests.support.spans import TRACE_ID, any_spans
from trajscope.errors import DecodeError
from trajscope.model.span import Json, Span, SpanEvent, SpanLink

HEX = "d48fc2d313ffb803"
BASE64 = "1I/C0xP/uAM="


def part(**members: Any) -> dict[str, Any]:
    """One span as JSON."""
    return {"traceId": TRACE_ID, "spanId": HEX, "name": "work", **members}


def document(*spans: Any, **scope: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans], **scope}]}]}


def read(value: Any) -> Read:
    return read_bytes(json.dumps(value).encode())


def one(**members: Any) -> Span:
    found = read(document(part(**members)))
    assert found.messages == []
    (span,) = found.spans
    return span


@pytest.mark.parametrize("text", [HEX, HEX.upper(), BASE64, "1I_C0xP_uAM="])
def test_ids_in_hex_of_any_case_and_in_base64(text: str) -> None:
    span = one(spanId=text, parentSpanId=text, traceId="vI9+f2pMsP/XopeDrp99EQ==")
    assert (span.span_id, span.parent_span_id) == (HEX, HEX)
    assert span.trace_id == "bc8f7e7f6a4cb0ffd7a29783ae9f7d11"


def test_sixteen_hex_digits_are_never_base64_although_they_could_be() -> None:
    assert one(spanId="deadbeefdeadbeef").span_id == "deadbeefdeadbeef"


@pytest.mark.parametrize("parent", ["", None, "0" * 16, "AAAAAAAAAAA="])
def test_no_parent(parent: str | None) -> None:
    assert one(parentSpanId=parent).parent_span_id is None
    assert "parentSpanId" not in part()
    assert one().parent_span_id is None


@pytest.mark.parametrize(
    ("members", "key"),
    [
        ({"traceId": "0" * 32}, "traceId"),
        ({"traceId": None}, "traceId"),
        ({"traceId": 7}, "traceId"),
        ({"spanId": ""}, "spanId"),
        ({"spanId": "abc"}, "spanId"),
        ({"spanId": "zzzzzzzzzzzzzzzz"}, "spanId"),
        ({"spanId": "hello world="}, "spanId"),
        ({"spanId": "abcdefghijl="}, "spanId"),  # stray bits: no encoder writes this
        ({"parentSpanId": "not a parent"}, "parentSpanId"),
        ({"startTimeUnixNano": "abc"}, "startTimeUnixNano"),
        ({"startTimeUnixNano": -1}, "startTimeUnixNano"),
        ({"startTimeUnixNano": str(2**64)}, "startTimeUnixNano"),
        ({"endTimeUnixNano": 10**40}, "endTimeUnixNano"),
        ({"endTimeUnixNano": True}, "endTimeUnixNano"),
        ({"endTimeUnixNano": 1.5}, "endTimeUnixNano"),
        ({"endTimeUnixNano": {"low": 1}}, "endTimeUnixNano"),
    ],
)
def test_a_span_whose_place_is_unknown_is_left_out_and_the_rest_kept(
    members: dict[str, Any], key: str
) -> None:
    found = read(document(part(**members), part(name="good")))
    assert [s.name for s in found.spans] == ["good"]
    (problem,) = found.problems.items
    assert problem.at is not None
    assert problem.at.line == 1
    assert problem.at.key == f"resourceSpans[0].scopeSpans[0].spans[0].{key}"
    assert f"{key} cannot be read (got {next(iter(members.values()))!r:.30}" in problem.message
    assert "expected" in problem.message


def test_a_missing_id_is_named() -> None:
    (message,) = read(document({"name": "x"})).messages
    assert "traceId cannot be read (got None)" in message


@pytest.mark.parametrize("value", [1796194210197053953, "1796194210197053953"])
def test_times_are_exact(value: int | str) -> None:
    span = one(startTimeUnixNano=value, endTimeUnixNano=0)
    assert (span.start_ns, span.end_ns) == (1796194210197053953, None)


def test_times_up_to_64_bits_and_in_the_number_format_of_scripts() -> None:
    assert one(startTimeUnixNano=str(2**64 - 1)).start_ns == 2**64 - 1
    found = read_bytes(json.dumps(document(part())).replace("work", "x").encode())
    assert found.spans[0].start_ns is None
    text = json.dumps(document(part(startTimeUnixNano=0))).replace(": 0", ": 1.5e18")
    assert read_bytes(text.encode()).spans[0].start_ns == 15 * 10**17


@pytest.mark.parametrize("value", ["SPAN_KIND_CLIENT", "CLIENT", 3, "3", 3.0])
def test_kinds_by_number_and_name(value: Any) -> None:
    assert one(kind=value).kind == "CLIENT"


@pytest.mark.parametrize("value", ["STATUS_CODE_ERROR", "Error", 2, "2"])
def test_status_codes_by_number_and_name(value: Any) -> None:
    span = one(status={"code": value, "message": "no"})
    assert (span.status_code, span.status_message) == ("ERROR", "no")


def test_enum_numbers_of_later_versions_are_unset_and_unknown_names_reported() -> None:
    span = one(kind=17, status={"code": 9})
    assert (span.kind, span.status_code) == ("UNSPECIFIED", "UNSET")
    found = read(document(part(kind="SPAN_KIND_TOOL", status={"code": []})))
    assert len(found.spans) == 1
    assert "expected a number, or SPAN_KIND_INTERNAL" in found.messages[0]
    assert found.problems.count == 2


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ({"stringValue": ""}, ""),
        ({"intValue": "0"}, 0),
        ({"intValue": 7}, 7),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"boolValue": False}, False),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "2.5"}, 2.5),
        ({"doubleValue": None}, None),
        ({"doubleValue": "NaN"}, None),
        ({"doubleValue": "-Infinity"}, None),
        ({"doubleValue": float("nan")}, None),
        ({"bytesValue": "AAEC"}, "AAEC"),
        ({"arrayValue": {"values": [{"intValue": 1}, {}, {"stringValue": "x"}]}}, [1, None, "x"]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}]}}, {"a": 1}),
        ({"kvlistValue": {}}, {}),
        ({"kvlist_value": {"values": [{"key": "a", "value": {"bool_value": True}}]}}, {"a": True}),
        ({}, None),
        (None, None),
        ({"laterValue": 5}, None),
    ],
)
def test_values_keep_their_type(given_value: Json, expected: Json) -> None:
    span = one(attributes=[{"key": "a", "value": given_value}])
    assert json.dumps(span.attributes) == json.dumps({"a": expected})


@pytest.mark.parametrize(
    ("given_value", "key"),
    [
        ({"intValue": "seven"}, "intValue"),
        ({"intValue": str(2**63)}, "intValue"),
        ({"intValue": 10**30}, "intValue"),
        ({"stringValue": 5}, "stringValue"),
        ({"doubleValue": []}, "doubleValue"),
        ({"doubleValue": 10**400}, "doubleValue"),
        ({"arrayValue": [1]}, "arrayValue"),
        ({"kvlistValue": {"values": 7}}, "kvlistValue.values"),
        ("bare", "value"),
    ],
)
def test_an_unreadable_value_costs_only_itself(given_value: Json, key: str) -> None:
    pairs = [{"key": "bad", "value": given_value}, {"key": "good", "value": {"intValue": 1}}]
    found = read(document(part(attributes=pairs)))
    (span,) = found.spans
    assert span.attributes["good"] == 1
    assert not span.attributes["bad"]
    (problem,) = found.problems.items
    assert problem.at is not None
    assert str(problem.at.key).endswith(key)


def test_of_equal_attribute_keys_the_last_wins() -> None:
    pairs = [{"key": "a", "value": {"intValue": n}} for n in (1, 2)]
    assert one(attributes=pairs).attributes == {"a": 2}


def test_unreadable_events_and_links_cost_only_themselves() -> None:
    events = [{"name": "a", "timeUnixNano": "soon"}, 7, {"name": "b", "time_unix_nano": "5"}]
    links = [{"traceId": "x", "spanId": HEX}, {"trace_id": TRACE_ID, "span_id": BASE64}]
    found = read(document(part(events=events, links=links, name=["work"])))
    (span,) = found.spans
    assert span.events == (SpanEvent("a"), SpanEvent("b", 5))
    assert span.links == (SpanLink(TRACE_ID, HEX),)
    assert found.problems.count == 4


@pytest.mark.parametrize(
    "wrap",
    [
        lambda scopes: {"resourceSpans": [{"scopeSpans": scopes}]},
        lambda scopes: {"batches": [{"instrumentation_library_spans": scopes}]},
        lambda scopes: {"resource_spans": [{"instrumentationLibrarySpans": scopes}]},
        lambda scopes: {"trace": {"resourceSpans": [{"scope_spans": scopes}]}},
        lambda scopes: {"resourceSpans": [{"scopeSpans": scopes, "vendor": 1}], "partial": {}},
        lambda scopes: {"scopeSpans": scopes},
    ],
)
@pytest.mark.parametrize("scope", ["scope", "instrumentationLibrary", "instrumentation_library"])
def test_names_of_the_envelope(wrap: Any, scope: str) -> None:
    found = read(wrap([{scope: {"name": "lib", "version": "1"}, "spans": [part()]}]))
    assert found.messages == []
    (span,) = found.spans
    assert (span.scope_name, span.scope_version) == ("lib", "1")


def test_mixed_spellings_in_one_span() -> None:
    found = read(
        document(
            {
                "traceId": TRACE_ID,
                "span_id": HEX,
                "parent_span_id": BASE64,
                "startTimeUnixNano": "5",
                "end_time_unix_nano": 9,
                "attributes": [{"key": "a", "value": {"string_value": "x"}}],
                "future": {"deep": []},
            }
        )
    )
    assert found.messages == []
    (span,) = found.spans
    assert (span.parent_span_id, span.start_ns, span.end_ns) == (HEX, 5, 9)
    assert span.attributes == {"a": "x"}


@pytest.mark.parametrize(
    "value",
    [
        {"resourceSpans": 7},
        {"resourceSpans": [7]},
        {"resourceSpans": [{"scopeSpans": {}}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": "x"}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]},
        {"resourceSpans": [{"resource": [], "scopeSpans": []}]},
        {"resourceSpans": [{"resource": {"attributes": {}}, "scopeSpans": []}]},
        {"resourceSpans": [{"scopeSpans": [{"scope": 5, "spans": []}]}]},
    ],
)
def test_a_container_of_the_wrong_type_is_a_problem(value: Any) -> None:
    good = document(part())
    broken = json.dumps(value).encode()
    found = read_bytes(broken + b"\n" + json.dumps(good).encode())
    assert len(found.spans) == 1
    (message,) = found.messages
    assert message.startswith("capture:1 (resourceSpans")


def test_a_document_of_nothing_known_says_what_was_looked_for() -> None:
    found = read_bytes(json.dumps(document()).encode() + b'\n{"hello": 1}\n[1, "x"]')
    assert found.spans == []
    assert "got an object with ['hello']" in found.messages[0]
    assert "resourceSpans" in found.messages[0]
    assert found.problems.count == 3


def test_empty_and_null_lists_hold_no_spans() -> None:
    empty: list[Json] = [{"resourceSpans": []}, {"resourceSpans": None}, document()]
    for value in empty:
        assert read(value).messages == []


def test_invalid_utf8_costs_the_span_it_stands_in() -> None:
    data = json.dumps(document(part(name="BAD"), part(name="good"))).encode()
    found = read_bytes(data.replace(b"BAD", b"\xff\xfe"))
    assert [s.name for s in found.spans] == ["good"]
    assert "Invalid UTF-8" in found.messages[0]
    assert "spans[0]" in found.messages[0]


def test_values_nested_500_deep_are_kept_and_5000_deep_reported() -> None:
    for depth, kept in ((100, 1), (5000, 0)):
        value = '{"arrayValue":{"values":[' * depth + '{"intValue":1}' + "]}}" * depth
        text = json.dumps(document(part(attributes=[{"key": "a", "value": "HERE"}])))
        found = read_bytes(text.replace('"HERE"', value).encode())
        assert len(found.spans) == kept
        assert found.problems.count == 1 - kept


def test_strict_refuses_the_first_problem() -> None:
    with pytest.raises(DecodeError, match=r"capture:1 .*spans\[0\]\.spanId"):
        read_bytes(json.dumps(document(part(spanId="x"))).encode(), strict=True)


def test_spans_of_one_resource_share_its_attributes() -> None:
    value = document(part(), part())
    value["resourceSpans"][0]["resource"] = {
        "attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]
    }
    first, second = read(value).spans
    assert first.resource is second.resource
    assert first.service_name == "shop"


def test_other_signals_are_counted_record_by_record() -> None:
    metrics: Json = {
        "resourceMetrics": [{"scopeMetrics": [{"metrics": [{}, {}]}, {"metrics": [{}]}]}]
    }
    found = read_bytes(json.dumps(document(part())).encode() + b"\n" + json.dumps(metrics).encode())
    assert found.messages == []
    assert found.problems.skipped == {"metrics": 3}


def snaked(value: Any) -> Any:
    """Every member in its proto spelling; texts stay as they are."""
    if isinstance(value, list):
        return [snaked(item) for item in value]
    if isinstance(value, dict):
        return {
            "".join(f"_{c.lower()}" if c.isupper() else c for c in key): snaked(item)
            for key, item in value.items()
        }
    return value


@settings(max_examples=40)
@given(any_spans(max_size=3))
def test_the_fast_and_the_thorough_way_read_the_same(given_spans: list[Span]) -> None:
    value = as_json(given_spans) or {"resourceSpans": []}
    fast = read_bytes(json.dumps(value).encode(), format_name="otlp-json")
    slow = read_bytes(json.dumps(snaked(copy.deepcopy(value))).encode(), format_name="otlp-json")
    assert fast.messages == slow.messages == []
    assert fast.spans == slow.spans == given_spans
