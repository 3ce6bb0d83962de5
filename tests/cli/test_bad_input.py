"""Bad input: a message with place, value and hint, the right exit code, the good part kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope
from trajscope.store import Store


def span(number: int, **fields: Any) -> dict[str, Any]:
    named = {"name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"traceId": "a" * 32, "spanId": f"{number:016x}", **named, **fields}


def request(*spans: Any) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


@pytest.mark.parametrize(
    "content", ["", "   \n", "not a capture", "{}", "[]", '{"a": 1}', "PK\x03\x04"]
)
def test_a_file_that_is_no_capture(trajscope: Trajscope, tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    ran = trajscope("show", file)
    assert ran.code == 3
    assert ran.err.startswith("error: ")
    assert "x.json" in ran.err


def test_missing_files_and_empty_folders(trajscope: Trajscope, tmp_path: Path) -> None:
    assert trajscope("show", tmp_path / "none.json").code == 3
    assert trajscope("show", tmp_path).code == 3
    assert trajscope("show").code == 2


def test_bad_lines_are_counted_with_their_line_and_the_rest_is_kept(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lines = [
        request(span(1)).encode(),
        b'{"resourceSpans": [',
        request(span(2)).encode(),
        b"\xff\xfe{",
    ]
    file.write_bytes(b"\n".join(lines))
    ran = trajscope("show", file, "--json")
    assert ran.code == 0
    assert ran.json["traces"][0]["spans"] == 2
    assert [p["line"] for p in ran.json["problems"]] == [2, 4]
    strict = trajscope("show", file, "--strict")
    assert strict.code == 3
    assert "x.jsonl:2" in strict.err


@pytest.mark.parametrize(
    "wrong",
    [
        {"traceId": 7},
        {"spanId": None},
        {"startTimeUnixNano": "abc"},
        {"startTimeUnixNano": -5},
        {"endTimeUnixNano": 2**70},
        "a text",
    ],
)
def test_one_bad_span_costs_only_itself(trajscope: Trajscope, tmp_path: Path, wrong: Any) -> None:
    file = tmp_path / "x.json"
    bad = wrong if isinstance(wrong, str) else span(2, **wrong)
    file.write_text(request(span(1), bad, span(3)))
    ran = trajscope("show", file, "--json")
    assert ran.json["traces"][0]["spans"] == 2
    assert ran.json["problem_count"] == 1


def test_not_a_number_never_reaches_the_output(trajscope: Trajscope, tmp_path: Path) -> None:
    value = {"doubleValue": "NaN"}
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.usage.input_tokens", "value": value},
    ]
    file = tmp_path / "x.json"
    file.write_text(request(span(1, attributes=attributes)))
    ran = trajscope("show", file, "--json")
    assert ran.json["traces"][0]["tokens"]["input"] is None
    assert "NaN" not in ran.out


def test_a_cut_gzip_gives_its_good_part_and_says_so(trajscope: Trajscope, tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(request(span(i)) for i in range(1, 400)).encode())
    file = tmp_path / "x.json"
    file.write_bytes(whole[: len(whole) // 2])
    ran = trajscope("show", file, "--json")
    assert ran.json["traces"][0]["spans"] > 10
    assert any("gzip" in p["message"] for p in ran.json["problems"])


def test_a_bomb_is_refused_and_leaves_nothing(trajscope: Trajscope, tmp_path: Path) -> None:
    file, db = tmp_path / "bomb.json.gz", tmp_path / "s.duckdb"
    file.write_bytes(gzip.compress(b" " * (100 * 1024**2) + request(span(1)).encode()))
    ran = trajscope("ingest", file, "--db", db)
    assert ran.code == 3
    assert "hint:" in ran.err
    assert not db.exists()


def test_a_store_that_is_none(trajscope: Trajscope, tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    file.write_text("no database")
    assert trajscope("list", "--db", file).code == 4
    assert trajscope("list", "--db", tmp_path / "none.duckdb").code == 4


@pytest.mark.parametrize(("db", "code"), [("", 2), (".", 4), ("file/s.duckdb", 4), ("x" * 300, 4)])
def test_a_path_that_can_be_no_store(
    trajscope: Trajscope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("- {never: a}")
    for command in (("list",), ("ingest", "file"), ("vacuum",), ("policy", "check", "file")):
        ran = trajscope(*command, f"--db={db}")
        assert ran.code == code
        assert "fault" not in ran.err


def test_an_unknown_trace_and_an_unknown_scorer(
    trajscope: Trajscope, tmp_path: Path, traces: Path
) -> None:
    db = tmp_path / "s.duckdb"
    path = traces / "pydantic_ai_v5-err" / "trace.otlp.json"
    trajscope("ingest", path, "--db", db)
    ran = trajscope("show", "x'; DROP TABLE spans; --", "--db", db)
    assert ran.code == 3
    assert "no trace" in ran.err
    assert trajscope("score", path, "--scorer", "blacklst").code == 2


def test_hostile_text_is_harmless_on_a_terminal_and_exact_in_json(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    name = "clear\x1b[1A\x1b[2Kscreen\x07"
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": name}},
    ]
    file = tmp_path / "x.json"
    file.write_text(request(span(1, attributes=attributes, status={"code": 2, "message": name})))
    for command in ("show", "tree", "list", "score"):
        ran = trajscope(command, file)
        assert not {"\x1b", "\x07"} & set(ran.out + ran.err)
    (call,) = trajscope("show", file, "--json").json["traces"][0]["tool_calls"]
    assert call["name"] == name


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "content",
    [
        "- {never: 're:LONG'}",
        "- {never: 're:((LONG'}",
        "- {LONG: a}",
        "- {never: a, LONG: b}",
        "- {id: LONG, never: ~}",
        "- {never: {tool: a, where: {LONG: {gt: 5}}}}",
        "- {never: {tool: a, where: {args.n: {LONG: 5}}}}",
        "- {never: $LONG}",
        "- {never: a, select: {agent: 're:((LONG'}}",
        "version: LONG\nrules: [{never: a}]",
        "blacklistedTools: ['re:((LONG']",
        "!!LONG x",
        "*LONG",
        "expectations: [{name: LONG, select: {agent: nobody}, expect: {maxSteps: 1}}]",
    ],
)
def test_long_values_are_shortened_in_whatever_is_said_of_a_file(
    trajscope: Trajscope, tmp_path: Path, traces: Path, content: str
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(content.replace("LONG", LONG))
    capture = traces / "pydantic_ai_v5-err"
    for command in (("policy", "check", file), ("score", capture, "--expect", file)):
        ran = trajscope(*command)
        assert len(ran.out + ran.err) < 3000


@pytest.mark.parametrize(
    "command",
    [
        (LONG,),
        ("show", f"--{LONG}"),
        ("show", LONG),
        ("show", LONG, "--db", "s.duckdb"),
        ("explain", LONG, LONG, "--db", "s.duckdb"),
        ("query", f"select {LONG}", "--db", "s.duckdb"),
        ("list", "--db", LONG),
        ("audit", "--policy", LONG),
        ("audit", "--policy", "p.yaml", "--format", LONG),
        ("score", "--scorer", LONG),
        ("show", "--map", LONG),
        ("show", "--input-format", LONG, "p.yaml"),
        ("show", "--max-expanded", LONG, "p.yaml"),
        ("schema", LONG),
    ],
    ids=lambda command: " ".join(word[:12] for word in command),
)
def test_long_values_are_shortened_in_whatever_is_said_of_a_command(
    trajscope: Trajscope,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text("- {never: a}")
    Store.open("s.duckdb").close()
    ran = trajscope(*command)
    assert ran.code in (2, 3, 4)
    assert 10 < len(ran.out + ran.err) < 3000
    assert "Error: " in ran.err or "error: " in ran.err
