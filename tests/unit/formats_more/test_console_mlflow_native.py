"""The OTel SDK's own output, MLflow's store, and the OpenAI Agents SDK's own export."""

import base64
import io
import json
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import Status, StatusCode

from tests.support.captures import read_bytes
from tests.support.truth import FIXTURES
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.reading import StepType


def test_the_console_exporter_of_the_sdk_itself_is_read() -> None:
    out = io.StringIO()
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    tracer = provider.get_tracer("lib", "1")
    with tracer.start_as_current_span("invoke_agent a") as agent:
        agent.set_attribute("gen_ai.operation.name", "invoke_agent")
        with tracer.start_as_current_span("execute_tool add") as tool:
            tool.set_attributes({"gen_ai.tool.name": "add", "n": 2, "list": ["a", "b"]})
            tool.add_event("retry", {"n": 1})
            tool.set_status(Status(StatusCode.ERROR, "no"))
    found = read_bytes(out.getvalue().encode(), strict=True)
    tool_span, agent_span = found.spans
    assert tool_span.parent_span_id == agent_span.span_id
    assert tool_span.trace_id == f"{agent.get_span_context().trace_id:032x}"
    assert tool_span.attributes == {"gen_ai.tool.name": "add", "n": 2, "list": ["a", "b"]}
    assert (tool_span.status_code, tool_span.status_message) == ("ERROR", "no")
    assert [(e.name, e.attributes) for e in tool_span.events] == [("retry", {"n": 1})]
    assert (agent_span.service_name, agent_span.kind, agent_span.trace_state) == (
        "shop",
        "INTERNAL",
        "",
    )
    assert (agent_span.duration_ns or 0) > 0


def test_the_resource_of_older_sdks_is_read() -> None:
    row = {
        "name": "a",
        "context": {"trace_id": "0x" + "1" * 32, "span_id": "0x" + "2" * 16, "trace_state": "[]"},
        "status": {"status_code": "UNSET"},
        "resource": {"service.name": "shop"},
    }
    [span] = read_bytes(json.dumps(row).encode()).spans
    assert span.resource == {"service.name": "shop"}


OLD_MLFLOW = {
    "info": {
        "request_id": "tr-1",
        "request_metadata": {"mlflow.trace.session": "conv-1", "mlflow.traceInputs": "{}"},
        "tags": {"mlflow.user": "ann"},
    },
    "data": {
        "spans": [
            {
                "name": "lookup",
                "context": {"span_id": "0xABC", "trace_id": "0x7"},
                "parent_id": None,
                "start_time": 1_772_528_400_000_000_001,
                "end_time": 1_772_528_400_000_000_009,
                "status_code": "ERROR",
                "status_message": "boom",
                "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"a": 1}'},
                "events": [{"name": "exception", "timestamp": 1_772_528_400_000_000}],
            }
        ]
    },
}


def test_mlflow_2_traces_are_read() -> None:
    [span] = read_bytes(json.dumps(OLD_MLFLOW).encode(), strict=True).spans
    assert (span.trace_id, span.span_id) == ("7".zfill(32), "abc".zfill(16))
    assert (span.status_code, span.status_message, span.duration_ns) == ("ERROR", "boom", 8)
    assert span.events[0].time_ns == 1_772_528_400_000_000_000
    assert span.resource == {"mlflow.user": "ann", "mlflow.trace.session": "conv-1"}
    [trajectory] = assemble([span], Reader())
    assert trajectory.session_id == "conv-1"


@pytest.mark.parametrize(
    ("given", "hex_id"),
    [
        (base64.b64encode(bytes(range(1, 9))).decode(), "0102030405060708"),
        ("0102030405060708", "0102030405060708"),
        ("0x0102030405060708", "0102030405060708"),
        ("span-x", "span-x"),
    ],
)
def test_mlflow_ids_in_every_spelling(given: str, hex_id: str) -> None:
    trace = json.loads((FIXTURES / "mlflow_native-err/trace.mlflow-trace.json").read_bytes())
    trace["data"]["spans"] = trace["data"]["spans"][:1]
    trace["data"]["spans"][0]["span_id"] = given
    [span] = read_bytes(json.dumps(trace).encode(), strict=True).spans
    assert span.span_id == hex_id


def native(*records: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(r).encode() for r in records)


def span_of(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "object": "trace.span",
        "id": "span_1",
        "trace_id": "trace_1",
        "parent_id": None,
        "started_at": "2026-03-03T09:00:00.000001+00:00",
        "ended_at": "2026-03-03T09:00:01+00:00",
        "span_data": data,
        "error": None,
        **fields,
    }


def read_one(data: dict[str, Any], **fields: Any) -> Any:
    [span] = read_bytes(native(span_of(data, **fields)), strict=True).spans
    return Reader()(span)


def test_the_trace_object_gives_its_session_to_the_outermost_spans() -> None:
    trace = {"object": "trace", "id": "trace_1", "workflow_name": "w", "group_id": "conv-1"}
    inner = span_of({"type": "function", "name": "f"}, id="span_2", parent_id="span_1")
    spans = read_bytes(native(trace, span_of({"type": "agent", "name": "a"}), inner)).spans
    [trajectory] = assemble(spans, Reader())
    assert trajectory.session_id == "conv-1"
    assert trajectory.agents == ("a",)


def test_a_generation_holds_requests_and_usage() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    reading = read_one(
        {
            "type": "generation",
            "model": "m",
            "input": [{"role": "user", "content": "?"}],
            "output": [{"role": "assistant", "tool_calls": [call]}],
            "usage": {"input_tokens": 4, "output_tokens": 2},
        }
    )
    assert reading.step_type is StepType.MODEL_GENERATION
    assert (reading.model, reading.usage.input, reading.usage.output) == ("m", 4, 2)
    assert [(r.name, r.args) for r in reading.requests] == [("add", {"a": 1})]


def test_mcp_handoff_guardrail_and_noise() -> None:
    tool = read_one({"type": "function", "name": "add", "mcp_data": {"server": "calc"}})
    assert (tool.is_mcp, tool.mcp_server) == (True, "calc")
    handoff = read_one({"type": "handoff", "from_agent": "a", "to_agent": "b"})
    assert handoff.fields == {"from_agent": "a", "to_agent": "b"}
    rail = read_one({"type": "guardrail", "name": "safe", "triggered": True})
    assert (rail.step_type, rail.name, rail.fields) == (
        StepType.GUARDRAIL,
        "safe",
        {"triggered": True},
    )
    custom: list[dict[str, Any]] = [
        {"type": "mcp_tools", "server": "calc", "result": ["add"]},
        {"type": "custom", "name": "task", "data": {"sdk_span_type": "task"}},
        {"type": "custom", "name": "mine", "data": {}},
        {"type": "speech_group"},
    ]
    assert [read_one(data).step_type for data in custom] == [None] * 4
    assert all(read_one(data).noise_reason for data in custom)


def test_an_error_fails_the_call_and_says_why() -> None:
    error = {"message": "Error running tool (non-fatal)", "data": {"error": "no such order"}}
    reading = read_one(
        {"type": "function", "name": "f", "output": "An error occurred"}, error=error
    )
    assert reading.failed is True
    assert reading.failure == "Error running tool (non-fatal): no such order"


def test_other_objects_are_reported() -> None:
    found = read_bytes(native({"object": "trace", "id": "t"}, {"object": "spam", "id": "x"}))
    assert found.spans == []
    assert found.messages == [
        "capture:2 (object): object cannot be read (got 'spam'); expected trace or trace.span; "
        "the record is left out"
    ]
