"""OTLP protobuf: framings, other signals of the same shape, damage."""

from __future__ import annotations

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from tests.support.captures import read_bytes, source_of
from tests.support.otlp import as_protobuf, as_request
from tests.support.spans import TRACE_ID, span
from trajscope.formats import formats
from trajscope.model.span import LogRecord, Span

GIVEN = [span(1, start_ns=5), span(2, 1, 6, attributes={"a": [1, {"b": 2.5}]})]


def logs(*records: LogMessage) -> bytes:
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.extend(records)
    return request.SerializeToString()


def metrics() -> bytes:
    request = ExportMetricsServiceRequest()
    scope = request.resource_metrics.add().scope_metrics.add()
    # A name of sixteen bytes and a description of eight: as long as a span's ids.
    scope.metrics.add(name="requests.per.sec", description="requests").sum.is_monotonic = True
    scope.metrics.add(name="requests.per.min", description="requests").gauge.SetInParent()
    return request.SerializeToString()


LOG_RECORDS = [
    LogMessage(time_unix_nano=5, trace_id=bytes.fromhex(TRACE_ID), span_id=b"\1" * 8),
    LogMessage(observed_time_unix_nano=5, severity_text="INFO"),
    LogMessage(severity_number=9),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("record", LOG_RECORDS)
def test_log_records_are_never_spans(record: LogMessage) -> None:
    found = read_bytes(logs(record), format_name="otlp-protobuf")
    assert found.spans == []
    assert found.messages == []
    assert found.records or found.problems.skipped == {"log records": 1}


@pytest.mark.parametrize(
    ("number", "name"), [(1, "TRACE"), (9, "INFO"), (14, "WARN2"), (24, "FATAL4")]
)
def test_a_severity_number_without_a_text_has_its_name_in_every_form(
    number: int, name: str
) -> None:
    record = LogMessage(time_unix_nano=5, severity_number=number)  # type: ignore[arg-type]
    data = logs(record)
    request = ExportLogsServiceRequest.FromString(data)
    by_name = json_format.MessageToJson(request)
    by_number = json_format.MessageToJson(request, use_integers_for_enums=True)
    for form in (data, by_name.encode(), by_number.encode()):
        [found] = read_bytes(form).records
        assert isinstance(found, LogRecord)
        assert found.severity == name


def test_metrics_are_never_spans() -> None:
    data = metrics()
    found = read_bytes(as_protobuf(GIVEN) + data)
    assert found.spans == GIVEN
    assert found.messages == []
    assert found.problems.skipped == {"metrics": 2}


def varint(size: int) -> bytes:
    return bytes([size & 127 | 128, size >> 7]) if size > 127 else bytes([size])


@pytest.mark.parametrize("framing", ["bare", "length", "varint"])
def test_a_cut_last_message_is_reported_with_its_number(framing: str) -> None:
    message = as_protobuf(GIVEN)
    prefix = {
        "bare": b"",
        "length": len(message).to_bytes(4, "big"),
        "varint": varint(len(message)),
    }
    data = (prefix[framing] + message) * 3
    whole = read_bytes(data)
    assert whole.spans == GIVEN * 3
    for cut in range(1, len(message) + len(prefix[framing]) - 1, 7):
        found = read_bytes(data[:-cut])
        assert found.spans == GIVEN * 2
        (message_text,) = found.messages
        assert message_text.startswith("capture record 3: the message is cut or damaged")


def test_a_length_that_claims_gigabytes_claims_no_memory() -> None:
    message = as_protobuf(GIVEN)
    data = len(message).to_bytes(4, "big") + message + b"\xff\xff\xff\xf0" + message
    found = read_bytes(data)
    assert found.spans == GIVEN
    assert "claims 4,294,967,280 bytes" in found.messages[0]


def test_a_broken_span_costs_only_itself() -> None:
    request = as_request([span(1, start_ns=5, name="BROKEN!"), span(2, start_ns=6)])
    data = request.SerializeToString().replace(b"BROKEN!", b"BROKEN\xff")
    found = read_bytes(data)
    assert [s.span_id[-1] for s in found.spans] == ["2"]
    assert "records[0]): cannot be decoded" in found.messages[0]


@pytest.mark.parametrize(
    ("trace_id", "span_id", "key"),
    [
        (b"", b"\1" * 8, "traceId"),
        (b"\1" * 16, bytes(8), "spanId"),
        (b"\1" * 8, b"\1" * 8, "traceId"),
    ],
)
def test_ids_of_the_wrong_length_are_reported(trace_id: bytes, span_id: bytes, key: str) -> None:
    request = as_request([span(1, start_ns=5)])
    request.resource_spans[0].scope_spans[0].spans.add(
        trace_id=trace_id, span_id=span_id, start_time_unix_nano=7
    )
    found = read_bytes(request.SerializeToString())
    assert len(found.spans) == 1
    assert f"records[1].{key}" in found.messages[0]


def test_a_bad_link_costs_only_itself_and_later_enums_are_unset() -> None:
    request = as_request([span(1, start_ns=5)])
    message: SpanMessage = request.resource_spans[0].scope_spans[0].spans[0]
    message.links.add(trace_id=b"x", span_id=b"\1" * 8)
    message.links.add(trace_id=b"\2" * 16, span_id=b"\1" * 8)
    message.kind = 17  # type: ignore[assignment]
    message.attributes.add(key="nan").value.double_value = float("nan")
    message.attributes.add(key="raw").value.bytes_value = b"\0\1\2"
    found = read_bytes(request.SerializeToString())
    (read,) = found.spans
    assert [link.trace_id for link in read.links] == ["02" * 16]
    assert (read.kind, read.attributes) == ("UNSPECIFIED", {"nan": None, "raw": "AAEC"})
    assert "links[0].traceId" in found.messages[0]


def test_the_scopes_of_old_messages_are_read() -> None:
    scope_spans = as_request(GIVEN).resource_spans[0].scope_spans[0].SerializeToString()
    old = b"\xc2\x3e" + varint(len(scope_spans)) + scope_spans  # field 1000
    found = read_bytes(b"\x0a" + varint(len(old)) + old)
    assert found.spans == GIVEN


def test_a_resource_behind_its_spans_is_still_theirs() -> None:
    given: list[Span] = [span(1, start_ns=5, resource={"service.name": "shop"})]
    part = as_request(given).resource_spans[0]
    scopes = part.scope_spans[0].SerializeToString()
    resource = part.resource.SerializeToString()
    turned = b"\x12" + varint(len(scopes)) + scopes + b"\x0a" + varint(len(resource)) + resource
    assert read_bytes(b"\x0a" + varint(len(turned)) + turned).spans == given


@pytest.mark.parametrize(
    "data", [b"\n", b"\n{}\n", b"\n\n\n", b'\n{"resourceSpans":[]}', b"plain", bytes(100)]
)
def test_text_is_no_protobuf(data: bytes) -> None:
    assert formats()["otlp-protobuf"].sniff(source_of(data)) == 0


def test_protobuf_that_holds_otlp_json_as_text_is_protobuf() -> None:
    data = as_protobuf([span(1, start_ns=5, name='{"resourceSpans": [{"scopeSpans": []}]}')])
    sniffed = {name: f.sniff(source_of(data)) for name, f in formats().items()}
    assert sniffed["otlp-protobuf"] == 3
    assert sniffed["otlp-json"] == 0
