"""`--map FILE` on the commands that read captures; the file itself: unit/conventions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import TRACES, Trajscope
from tests.support.plain import write_otlp
from tests.support.spans import span

PAGE = (Path(__file__).parents[2] / "docs" / "mapping.md").read_text("utf-8")
EXAMPLE = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
CALL = {
    "acme.op": "invoke",
    "acme.fn": "refund",
    "acme.params": '{"id": 7}',
    "acme.answer": '{"body": "no"}',
    "acme.outcome": "bad",
    "acme.problem": "too late",
}


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    assert EXAMPLE is not None
    file = tmp_path / "acme.yaml"
    file.write_text(EXAMPLE[1])
    return file


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    run = {"acme.agent": "clerk", "acme.chat": "c1"}
    records = [
        span(1, None, 1, 9, name="acme.run 1", scope_name="acme-sdk", attributes=run),
        span(2, 1, 2, 5, name="x", scope_name="acme-sdk", attributes=CALL),
        span(3, 1, 6, 7, name="x", scope_name="acme-sdk", attributes={"acme.op": "log"}),
    ]
    return write_otlp(tmp_path / "spans.json", records)


def test_the_documented_mapping_reads_private_spans(
    trajscope: Trajscope, capture: Path, mapping: Path
) -> None:
    assert trajscope("show", capture, "--json").json["traces"][0]["tool_calls"] == []
    (trace,) = trajscope("show", capture, "--map", mapping, "--json").json["traces"]
    (refund,) = trace["tool_calls"]
    assert (refund["name"], refund["args"], refund["result"]) == ("refund", {"id": 7}, "no")
    assert (refund["success"], refund["failure"]) == (False, "too late")
    assert (trace["agents"], trace["session_id"]) == (["clerk"], "c1")
    assert refund["agent"] == "clerk"


@pytest.mark.parametrize("command", ["show", "tree", "list", "score", "explain", "doctor"])
def test_every_command_that_reads_captures_takes_it(
    trajscope: Trajscope, capture: Path, mapping: Path, command: str
) -> None:
    without, within = trajscope(command, capture), trajscope(command, capture, "--map", mapping)
    assert within.code in (0, 1)
    assert without.out != within.out
    assert re.search("refund|clerk|map:acme|tool-failures", within.out)


def test_explain_tells_what_the_mapping_did(
    trajscope: Trajscope, capture: Path, mapping: Path
) -> None:
    (trace,) = trajscope("explain", capture, "--map", mapping, "--json").json["traces"]
    agent, call, log = trace["spans"]
    assert agent["sources"]["agent_name"] == "acme.agent"
    assert call["claims"][0]["convention"] == "map:acme"
    assert "the mapping file of the user" in call["claims"][0]["why"]
    assert call["sources"]["result"] == "acme.answer at body"
    assert call["failure_evidence"] == "failed_when of acme, rule 2"
    assert {*call["looked_at"]} == {"acme.op", "acme.outcome"}
    assert call["unused_attributes"] == []
    assert log["noise_reason"] == "bookkeeping of the SDK"


def test_ingest_keeps_the_readings_and_names_the_mapping(
    trajscope: Trajscope, capture: Path, mapping: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    assert trajscope("ingest", capture, "--map", mapping, "--db", db).code == 0
    here = trajscope("show", capture, "--map", mapping, "--json").json["traces"]
    assert trajscope("show", "--db", db, "--json").json["traces"] == here
    (kept,) = trajscope("query", "select format from captures", "--db", db, "--json").json
    assert re.fullmatch(r"otlp-json \+ map acme [0-9a-f]{12}", kept["format"])


def test_a_capture_of_a_store_keeps_its_first_reading_and_it_is_said(
    trajscope: Trajscope, capture: Path, mapping: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    trajscope("ingest", capture, "--db", db)
    again = trajscope("ingest", capture, "--map", mapping, "--db", db)
    assert "keeps its first reading" in again.err
    assert trajscope("show", "--db", db, "--json").json["traces"][0]["tool_calls"] == []


def test_a_mapping_beside_a_store_is_refused(
    trajscope: Trajscope, capture: Path, mapping: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    trajscope("ingest", capture, "--db", db)
    for command in ("show", "tree", "list", "score", "doctor"):
        ran = trajscope(command, "--db", db, "--map", mapping)
        assert (ran.code, "--map has no effect on a store" in ran.err) == (2, True)


def test_a_wrong_mapping_is_refused_before_anything_is_read_or_written(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("version: 1\nspans:\n  - match: {name: x}\n    as: tool_cal\n")
    capture = TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"
    for command in ("show", "tree", "list", "score", "explain", "doctor"):
        ran = trajscope(command, capture, "--map", file)
        assert ran.code == 2
        assert f"{file}:4:5 (spans[0].as)" in ran.err
        assert "hint: did you mean tool_call?" in ran.err
        assert ran.out == ""
    db = tmp_path / "none.duckdb"
    assert trajscope("ingest", capture, "--map", file, "--db", db).code == 2
    assert not db.exists()
    assert trajscope("show", capture, "--map", tmp_path / "none.yaml").code == 2


def test_the_page_names_every_field_and_every_type() -> None:
    from trajscope.conventions._map_file import Fields
    from trajscope.model.reading import StepType

    names = [*Fields.model_fields, *(t.value for t in StepType), "noise"]
    assert [name for name in names if f"`{name}`" not in PAGE] == []
