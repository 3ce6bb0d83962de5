"""explain, doctor and --map: why spans became what they are, and what can be done about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope

ERR = "pydantic_ai_v5-err/trace.otlp.json"


def test_explain_says_who_claimed_what_and_why(trajscope: Trajscope, traces: Path) -> None:
    (trace,) = trajscope("explain", traces / ERR, "--json").json["traces"]
    failed = next(s for s in trace["spans"] if s["failed"])
    assert failed["convention"] == "pydantic-ai"
    assert [c["convention"] for c in failed["claims"]] == ["pydantic-ai", "genai"]
    assert failed["sources"]["args"] == "gen_ai.tool.call.arguments"
    assert failed["failure_evidence"] == "span status ERROR"
    one = trajscope("explain", traces / ERR, failed["span_id"])
    assert "span status ERROR" in one.out
    assert trajscope("explain", traces / ERR, "no-such-span").code == 3


def test_explain_gives_the_reason_of_noise_and_of_folding(
    trajscope: Trajscope, traces: Path
) -> None:
    path = traces / "openai_agents_oi-mcp" / "trace.otlp.json"
    found = [s for t in trajscope("explain", path, "--json").json["traces"] for s in t["spans"]]
    noise = [s for s in found if s["step_type"] is None]
    assert noise
    assert all(s["noise_reason"] for s in noise)
    assert any(s["noise_reason"].startswith("same call as") for s in noise)


def test_doctor_counts_conventions_and_tells_what_to_switch_on(
    trajscope: Trajscope, traces: Path
) -> None:
    path = traces / "google_adk-err" / "trace.otlp.json"
    report = trajscope("doctor", path, "--json").json
    assert report["understood"] == report["spans"]
    assert report["missing"]["tool calls without arguments"] == 2
    assert "google-adk" in report["hints"]
    assert "hint: google-adk" in trajscope("doctor", path).out


HTTP = {"http.request.method": "GET", "url.full": "https://example.com", "server.address": "x"}
DATABASE = {"db.system.name": "postgresql", "db.query.text": "SELECT 1", "db.operation.name": "q"}
RPC = {"rpc.system": "grpc", "rpc.service": "orders.Orders", "rpc.method": "Get"}
MESSAGES = {"messaging.system": "kafka", "messaging.operation.type": "send", "session.id": "s"}
FAAS = {"faas.trigger": "http", "faas.invocation_id": "1", "code.function.name": "tool"}


def capture(folder: Path, *attribute_sets: dict[str, Any], name: str = "chat tool agent") -> Path:
    spans = [
        {
            "traceId": "a" * 32,
            "spanId": f"{number:016x}",
            "name": name,
            "startTimeUnixNano": str(number),
            "endTimeUnixNano": str(number + 1),
            "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
        }
        for number, attributes in enumerate(attribute_sets, start=1)
    ]
    file = folder / "spans.json"
    scope = {"scope": {"name": "acme-sdk"}, "spans": spans}
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}))
    return file


def test_plain_spans_are_never_guessed_into_steps(trajscope: Trajscope, tmp_path: Path) -> None:
    file = capture(tmp_path, HTTP, DATABASE, RPC, MESSAGES, FAAS, {})
    shown = trajscope("show", file, "--json")
    (trace,) = shown.json["traces"]
    assert trace["noise_spans"] == trace["spans"] == 6
    assert trace["tool_calls"] == trace["agents"] == []
    assert "no agent steps" in shown.err
    doctor = trajscope("doctor", file, "--json")
    assert doctor.code == 5
    assert {g["scope"] for g in doctor.json["not_understood"]} == {"acme-sdk"}


PAGE = (Path(__file__).parents[2] / "docs" / "mapping.md").read_text("utf-8")
MAP = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    assert MAP is not None
    file = tmp_path / "acme.yaml"
    file.write_text(MAP[1])
    return file


def test_the_documented_mapping_reads_private_spans(
    trajscope: Trajscope, tmp_path: Path, mapping: Path
) -> None:
    call = {
        "acme.op": "invoke",
        "acme.fn": "refund",
        "acme.params": '{"id": 7}',
        "acme.answer": '{"body": "no"}',
        "acme.outcome": "bad",
        "acme.problem": "too late",
    }
    file = capture(tmp_path, call, {"acme.op": "log"}, name="x")
    assert trajscope("show", file, "--json").json["traces"][0]["tool_calls"] == []
    (trace,) = trajscope("show", file, "--map", mapping, "--json").json["traces"]
    (refund,) = trace["tool_calls"]
    assert (refund["name"], refund["args"], refund["result"]) == ("refund", {"id": 7}, "no")
    assert (refund["success"], refund["failure"]) == (False, "too late")
    (told,) = trajscope("explain", file, "--map", mapping, "--json").json["traces"]
    assert [s["noise_reason"] for s in told["spans"]][1] == "bookkeeping of the SDK"
    db = tmp_path / "s.duckdb"
    trajscope("ingest", file, "--map", mapping, "--db", db)
    (kept,) = trajscope("show", "--db", db, "--json").json["traces"]
    assert kept["tool_calls"] == trace["tool_calls"]
    sql = "select format from captures"
    assert "acme.yaml" in trajscope("query", sql, "--db", db, "--json").json[0]["format"]


def test_a_wrong_mapping_is_refused_with_its_line(
    trajscope: Trajscope, tmp_path: Path, traces: Path
) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("version: 1\nspans:\n  - match: {name: x}\n    as: tool_cal\n")
    ran = trajscope("show", traces / ERR, "--map", file)
    assert ran.code == 2
    assert "m.yaml:4" in ran.err
    assert "tool_call" in ran.err
    assert trajscope("show", traces / ERR, "--map", tmp_path / "none.yaml").code == 2
