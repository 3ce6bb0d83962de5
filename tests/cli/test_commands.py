"""Contracts of the command line: what stands on stdout, what on stderr, which exit code."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope
from trajscope.cli.app import COMMANDS

ERR = "pydantic_ai_v5-err/trace.otlp.json"


def test_show_prints_the_contract(trajscope: Trajscope, traces: Path) -> None:
    ran = trajscope("show", traces / ERR, "--json")
    assert ran.code == 0
    assert set(ran.json) >= {"traces", "problems"}
    (trace,) = ran.json["traces"]
    keys = "trace_id session_id roots spans noise_spans orphans missing_parents repairs agents"
    assert set(trace) >= {*keys.split(), "model_calls", "tool_calls", "tokens", "duration_ms"}
    keys = "name args result success failure step_type span_id agent executed"
    first, second = trace["tool_calls"]
    assert set(first) >= set(keys.split())
    assert (first["name"], first["success"], second["success"]) == ("lookup_order", False, True)
    assert set(trace["tokens"]) >= {"input", "output", "total", "complete"}


@pytest.mark.parametrize("command", ["show", "tree", "list", "score"])
def test_every_command_has_a_json_form_and_a_text_form(
    trajscope: Trajscope, traces: Path, command: str
) -> None:
    as_text = trajscope(command, traces / ERR)
    as_json = trajscope(command, traces / ERR, "--json")
    assert as_text.code == as_json.code
    assert as_json.json
    assert "order" in as_text.out or "trajectory" in as_text.out
    assert "\x1b" not in as_text.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_teaches_by_example_or_description(trajscope: Trajscope, command: str) -> None:
    ran = trajscope(command, "--help")
    assert ran.code == 0
    assert len(ran.out.splitlines()) > 8


@pytest.mark.parametrize("form", ["graphml", "dot", "mermaid"])
def test_tree_writes_graphs(trajscope: Trajscope, traces: Path, form: str) -> None:
    ran = trajscope("tree", traces / ERR, "--format", form)
    assert ran.code == 0
    assert "lookup_order" in ran.out


def test_tree_shows_noise_with_its_reason_on_request(trajscope: Trajscope, traces: Path) -> None:
    path = traces / "mastra1-nested" / "trace.otlp.json"
    assert "noise:" not in trajscope("tree", path).out
    assert "noise: a streamed chunk is no step" in trajscope("tree", path, "--noise").out
    assert "self time" in trajscope("tree", path, "--critical-path").out


@pytest.fixture
def store(trajscope: Trajscope, traces: Path, tmp_path: Path) -> Path:
    db = tmp_path / "spans.duckdb"
    names = ("pydantic_ai_v5-err", "openai_agents_oi-two", "langgraph_oi-unk")
    paths = [traces / name / "trace.otlp.json" for name in names]
    assert trajscope("ingest", *paths, "--db", db).code == 0
    return db


def test_a_store_and_its_captures_show_the_same(
    trajscope: Trajscope, traces: Path, store: Path
) -> None:
    for name in ("pydantic_ai_v5-err", "openai_agents_oi-two", "langgraph_oi-unk"):
        here = trajscope("show", traces / name / "trace.otlp.json", "--json").json["traces"]
        ids = [t["trace_id"] for t in here]
        assert trajscope("show", *ids, "--db", store, "--json").json["traces"] == here


def test_ingesting_again_changes_nothing(trajscope: Trajscope, traces: Path, store: Path) -> None:
    before = trajscope("show", "--db", store, "--json").json
    ran = trajscope("ingest", traces / ERR, "--db", store, "--json")
    assert ran.json["captures"][0]["added"] == 0
    assert ran.json["captures"][0]["known"] is True
    assert trajscope("show", "--db", store, "--json").json == before


def test_query_as_table_json_and_csv(trajscope: Trajscope, store: Path) -> None:
    sql = "select tool, success from tool_calls where tool = 'lookup_order' order by start_time"
    assert "lookup_order" in trajscope("query", sql, "--db", store).out
    rows = trajscope("query", sql, "--db", store, "--json").json
    assert rows == [
        {"tool": "lookup_order", "success": False},
        {"tool": "lookup_order", "success": True},
    ]
    table = list(csv.DictReader(io.StringIO(trajscope("query", sql, "--db", store, "--csv").out)))
    assert [row["success"] for row in table] == ["False", "True"]


@pytest.mark.parametrize(
    "sql",
    [
        "drop table spans",
        "copy spans to 'out.csv'",
        "select * from read_csv('/etc/passwd')",
        "attach 'other.duckdb'",
        "select 1; select 2",
        "install httpfs",
        "selec 1",
        "select * from tool_call",
    ],
)
def test_queries_that_could_do_harm_or_are_wrong_are_refused(
    trajscope: Trajscope, store: Path, sql: str
) -> None:
    ran = trajscope("query", sql, "--db", store)
    assert ran.code == 4
    assert ran.err.startswith("error: ")
    assert ran.out == ""


BARE = "blacklistedSequences: [[lookup_order, lookup_order]]\n"


def test_findings_decide_the_exit_code(trajscope: Trajscope, traces: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(BARE)
    ran = trajscope("score", traces / ERR, "--expect", file, "--json")
    assert ran.code == 1
    (blacklist,) = [s for s in ran.json["scores"] if s["scorer"] == "blacklist"]
    assert blacklist["value"] == 0
    (finding,) = blacklist["findings"]
    assert len(finding["span_ids"]) == 2
    text = trajscope("score", traces / ERR, "--expect", file)
    assert all(span in text.out for span in finding["span_ids"])
    assert trajscope("score", traces / ERR, "--expect", file, "--fail-on", "never").code == 0
    file.write_text("blacklistedTools: [other]\n")
    assert trajscope("score", traces / ERR, "--expect", file).code == 0
    scorer = ("--scorer", "blacklist", "--min-score", "1")
    assert trajscope("score", traces / ERR, "--expect", file, *scorer).code == 0
    file.write_text(BARE)
    never = ("--fail-on", "never")
    assert trajscope("score", traces / ERR, "--expect", file, *scorer, *never).code == 1


def test_nothing_evaluated_is_its_own_exit_code(
    trajscope: Trajscope, traces: Path, tmp_path: Path
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("maxTotalTokens: 5\n")
    plain = tmp_path / "http.json"
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "GET /"}
    plain.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    ran = trajscope("score", plain, "--expect", file)
    assert ran.code == 5
    assert "nothing could be evaluated" in ran.err
    assert "no agent steps" in ran.err


def test_an_expectation_for_no_trace_is_an_error(
    trajscope: Trajscope, traces: Path, tmp_path: Path
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("- {name: other, select: {agent: nobody}, expect: {maxSteps: 3}}\n")
    ran = trajscope("score", traces / ERR, "--expect", file)
    assert ran.code == 2
    assert "'other' was for no trace" in ran.err


def test_a_wrong_key_is_shown_with_line_and_guess(
    trajscope: Trajscope, traces: Path, tmp_path: Path
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("steps: []\nmaxStep: 3\n")
    ran = trajscope("score", traces / ERR, "--expect", file)
    assert ran.code == 2
    assert "e.yaml:2" in ran.err
    assert "maxSteps" in ran.err


def test_query_json_is_json_whatever_the_figures(trajscope: Trajscope, store: Path) -> None:
    sql = "SELECT 1 / 0 AS a, 'nan'::DOUBLE AS b, [-1 / 0, 1.5] AS c, {'d': 1 / 0} AS d, 2 AS e"
    ran = trajscope("query", "--db", store, sql, "--json")
    assert ran.json == [{"a": "inf", "b": "nan", "c": ["-inf", 1.5], "d": {"d": "inf"}, "e": 2}]


def test_a_terminal_gets_safe_text_as_csv_and_a_pipe_the_exact_one(
    trajscope: Trajscope, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT chr(27) || '[31m' || chr(8238) AS a, NULL AS b"
    assert trajscope("query", "--db", store, sql, "--csv").out == "a,b\r\n\x1b[31m\u202e,\r\n"
    monkeypatch.setattr("trajscope.cli.query._is_seen", lambda: True)
    assert trajscope("query", "--db", store, sql, "--csv").out == "a,b\r\n\\x1b[31m\\u202e,\r\n"


@pytest.mark.parametrize("named", [(), ("--scorer", "efficiency", "--scorer", "blacklist")])
def test_scores_are_written_alike_by_both_engines_and_for_captures(
    trajscope: Trajscope, traces: Path, tmp_path: Path, named: tuple[str, ...]
) -> None:
    """Whether a field was left at its default is nothing a reader should have to know."""
    expect, db = tmp_path / "e.yaml", tmp_path / "s.duckdb"
    budget = "" if named else ", maxSteps: 0"  # a scorer that is named speaks of what is not asked
    expect.write_text("{blacklistedTools: ['*'], steps: [{name: none}]" + budget + "}")
    trajscope("ingest", traces / ERR, "--db", db)
    asked = ("--expect", expect, "--json", "--fail-on", "never", *named)
    found = [
        trajscope("score", *words, *asked).json["scores"]
        for words in (
            ("--db", db, "--engine", "sql"),
            ("--db", db, "--engine", "python"),
            (traces / ERR,),
        )
    ]
    assert found[0] == found[1] == found[2]
    keys = {"rule", "message", "severity", "verdict", "trace_id", "span_ids", "steps"}
    findings = [finding for score in found[0] for finding in score["findings"]]
    assert findings
    assert all(set(finding) >= keys for finding in findings)
