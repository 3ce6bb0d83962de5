"""`ingest` of log records before their spans: nothing is lost, and every command knows of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope

CASE = "claude_code-err"


@pytest.fixture
def logs(traces: Path) -> Path:
    return traces / CASE / "logs.otlp-logs.json"


@pytest.fixture
def spans(traces: Path) -> Path:
    return traces / CASE / "trace.otlp.json"


def test_log_records_wait_for_their_spans(
    trajscope: Trajscope, logs: Path, spans: Path, tmp_path: Path
) -> None:
    db, together = tmp_path / "s.duckdb", tmp_path / "t.duckdb"
    assert trajscope("ingest", logs, spans, "--db", together).code == 0
    first = trajscope("ingest", logs, "--db", db)
    assert first.code == 0
    assert "0 spans, 0 new" in first.out
    assert " log records, " in first.out
    assert trajscope("ingest", spans, "--db", db).code == 0
    ask = ("show", "--json", "--db")
    assert trajscope(*ask, db).json == trajscope(*ask, together).json
    shown = trajscope("show", spans, logs, "--json").json["traces"]
    for here, there in zip(trajscope(*ask, db).json["traces"], shown, strict=True):
        assert here["tool_calls"] == there["tool_calls"]


def test_the_same_records_again_are_no_news(
    trajscope: Trajscope, logs: Path, spans: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    trajscope("ingest", spans, logs, "--db", db)
    count = ("query", "SELECT count(*) AS n FROM log_records", "--json", "--db", db)
    before = trajscope(*count).json
    again = trajscope("ingest", logs, spans, "--db", db, "--json").json["captures"]
    assert [(c["known"], c["traces"]) for c in again] == [(True, 0), (True, 0)]
    assert again[0]["log_records"] == before[0]["n"] > 0
    assert trajscope(*count).json == before


def test_schema_and_prune_tell_of_them(trajscope: Trajscope, tmp_path: Path) -> None:
    path, db = tmp_path / "logs.json", tmp_path / "s.duckdb"
    record = {"traceId": "1" * 32, "spanId": "2" * 16, "timeUnixNano": "1000000000000000000"}
    path.write_text(json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}))
    trajscope("ingest", path, "--db", db)
    assert "log_records" in trajscope("schema", "--db", db).out
    assert "log record" not in trajscope("prune", "--before", "2001-09-01", "--db", db).out
    assert "and 1 log record\n" in trajscope("prune", "--before", "2001-09-10", "--db", db).out
    assert trajscope("query", "FROM log_records", "--json", "--db", db).json == []
    again = trajscope("ingest", path, "--db", db, "--json").json["captures"]
    assert [(c["known"], c["log_records"]) for c in again] == [(False, 1)]
