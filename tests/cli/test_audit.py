"""`trajscope audit` and `trajscope policy`: outputs, exit codes, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope
from trajscope.cli.audit import FORMATS

CASES = Path(__file__).parents[1] / "cases"
SECRETS = CASES / "B22" / "secrets.json"
HOSTILE = CASES / "B23" / "hostile.json"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "rules:\n"
        "  - {id: order, severity: warning, never_sequence: [fetch_page, run_cmd]}\n"
        "  - {id: absent, never: delete_all}\n"
    )
    return file


def stored(trajscope: Trajscope, tmp_path: Path, *files: Path) -> Path:
    db = tmp_path / "s.duckdb"
    assert trajscope("ingest", *files, "--db", db).code == 0
    return db


def captured(folder: Path, *runs: list[str], start: int = 1) -> Path:
    """Write a capture of tool calls, one trace for each list of names."""

    def span(trace: int, number: int, name: str) -> dict[str, Any]:
        begin = 10**18 + trace * 10**9 + number * 1000
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        return {
            "traceId": f"{trace:032x}",
            "spanId": f"{trace * 100 + number:016x}",
            "name": name,
            "startTimeUnixNano": str(begin),
            "endTimeUnixNano": str(begin + 500),
            "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
        }

    spans = [
        span(trace, number, name)
        for trace, names in enumerate(runs, start)
        for number, name in enumerate(names, 1)
    ]
    file = folder / f"capture-{start}.json"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    return file


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)]
)
def test_the_exit_code_is_of_the_worst_finding(
    trajscope: Trajscope, policy: Path, fail_on: str, code: int
) -> None:
    assert trajscope("audit", HOSTILE, "--policy", policy, "--fail-on", fail_on).code == code


def test_verdicts_are_always_counted(trajscope: Trajscope, policy: Path) -> None:
    ran = trajscope("audit", HOSTILE, "--policy", policy)
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["order", "warning", "1", "0", "0", "0"] in lines
    assert ["absent", "error", "0", "0", "1", "0"] in lines


def test_engines_and_captures_agree(trajscope: Trajscope, policy: Path, tmp_path: Path) -> None:
    db = stored(trajscope, tmp_path, HOSTILE)
    ways: list[list[object]] = [[HOSTILE], ["--db", db], ["--db", db, "--engine", "python"]]
    found = [trajscope("audit", *way, "--policy", policy, "--json").json for way in ways]
    for document in found[1:]:
        assert document["rules"] == found[0]["rules"]
        assert document["results"] == found[0]["results"]


def test_findings_are_kept_in_place_of_the_last(
    trajscope: Trajscope, policy: Path, tmp_path: Path
) -> None:
    db = stored(trajscope, tmp_path, HOSTILE)
    for _ in range(2):
        trajscope("audit", "--db", db, "--policy", policy)
    query = "select rule, verdict, fingerprint, policy_hash, rule_hash from findings"
    [row] = trajscope("query", "--db", db, query, "--json").json
    assert (row["rule"], row["verdict"]) == ("order", "violated")
    assert all(row[key] for key in ("fingerprint", "policy_hash", "rule_hash"))
    policy.write_text("- {id: order, never: delete_all}\n")
    trajscope("audit", "--db", db, "--policy", policy)
    assert trajscope("query", "--db", db, query, "--json").json == []


def test_since_leaves_the_findings_of_older_traces(trajscope: Trajscope, tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("- {id: no-b, never: b}\n")
    db = stored(trajscope, tmp_path, captured(tmp_path, ["a", "b"]))
    assert trajscope("audit", "--db", db, "--policy", policy).code == 1
    late = trajscope("audit", "--db", db, "--policy", policy, "--since", "1h")
    assert (late.code, late.out.count("\n")) == (5, 3)
    assert len(trajscope("query", "--db", db, "from findings", "--json").json) == 1


def test_nothing_evaluated_is_5(trajscope: Trajscope, tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("- {id: q, sql: 'select trace_id from steps'}\n")
    assert trajscope("audit", HOSTILE, "--policy", file).code == 5


def test_a_broken_query_stops_before_anything_is_audited(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    db = stored(trajscope, tmp_path, HOSTILE)
    file = tmp_path / "p.yaml"
    file.write_text("- {id: a, never: run_cmd}\n- {id: q, sql: 'select trace_id from stepz'}\n")
    ran = trajscope("audit", "--db", db, "--policy", file)
    assert (ran.code, ran.out) == (2, "")
    assert f"{file}:2" in ran.err
    assert "did you mean" in ran.err
    assert trajscope("query", "--db", db, "from findings", "--json").json == []


def test_a_baseline_is_written_and_read(trajscope: Trajscope, policy: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    common = ("audit", HOSTILE, "--policy", policy, "--fail-on", "info", "--baseline", known)
    assert trajscope(*common).code == 2
    assert trajscope(*common, "--update-baseline").code == 1
    ran = trajscope(*common)
    assert ran.code == 0
    assert "1 known" in ran.out


@pytest.mark.parametrize("form", FORMATS)
def test_no_secret_and_no_control_character_gets_out(
    trajscope: Trajscope, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "- {id: loud, never: update_customer, message: 'update {args}'}\n"
        "- {id: clear, never: 'clear*'}\n"
        "- {id: own, python: own.py:tell}\n"
    )
    (tmp_path / "own.py").write_text(
        "def tell(t):\n    return [str(getattr(s, 'tool_args', '')) for s in t.walk()]\n"
    )
    if "{args}" in trajscope("policy", "check", file).err:
        file.write_text(file.read_text().replace(", message: 'update {args}'", ""))
    common = ("audit", SECRETS, HOSTILE, "--policy", file, "--format", form)
    ran = trajscope(*common)
    assert ran.code == 1
    assert "CANARY" not in ran.out
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out
    if form == "json":
        assert "clear\\u001b" in ran.out
        assert "CANARY" in trajscope(*common, "--no-redact").out


def test_output_goes_to_a_file(trajscope: Trajscope, policy: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.sarif"
    ran = trajscope("audit", HOSTILE, "--policy", policy, "--format", "sarif", "--output", file)
    assert ran.out == ""
    assert json.loads(file.read_text())["version"] == "2.1.0"
    bad = trajscope("audit", HOSTILE, "--policy", policy, "--output", tmp_path / "no" / "x")
    assert bad.code == 2


def test_policy_check_says_rules_in_words_and_warns_of_names_nobody_saw(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    db = stored(trajscope, tmp_path, HOSTILE)
    file = tmp_path / "p.yaml"
    file.write_text("- {id: a, never: fetch_pagee}\n- {id: b, never: 'run_*'}\n")
    ran = trajscope("policy", "check", file, "--db", db)
    assert ran.code == 0
    assert "a (error): fetch_pagee must not occur." in ran.out
    assert "did you mean fetch_page?" in ran.err
    assert "run_*" not in ran.err
    file.write_text("- {id: a, nevr: x}\n")
    assert trajscope("policy", "check", file).code == 2


def test_policy_test_decides_the_examples(trajscope: Trajscope, tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    rule = "- {id: a, never_sequence: [x, y], examples: [{violated: [x, y]}, {%s: [y, x]}]}\n"
    file.write_text(rule % "satisfied")
    good = trajscope("policy", "test", file)
    file.write_text(rule % "violated")
    bad = trajscope("policy", "test", file)
    assert (good.code, bad.code) == (0, 1)
    assert "FAILED a: violated was expected, satisfied came out" in bad.out
    file.write_text("- never: x\n")
    assert trajscope("policy", "test", file).code == 5


def test_mined_rules_hold_and_are_a_policy(trajscope: Trajscope, tmp_path: Path) -> None:
    odd = "re:$ *[x]\"'\\ {a}: #"
    runs = [["auth", "search", "reply"] if n % 2 else ["auth", odd, "reply"] for n in range(24)]
    runs[5] = ["search", "auth", "reply"]
    db = stored(trajscope, tmp_path, captured(tmp_path, *runs))
    mined = trajscope("policy", "mine", "--db", db, "--min-confidence", "0.9")
    assert mined.code == 0
    assert '{tool: "reply", need: "auth"}' in mined.out
    assert "not in" in mined.out
    assert "not_together: [" in mined.out
    file = tmp_path / "mined.yaml"
    file.write_text(mined.out)
    checked = trajscope("policy", "check", file, "--db", db)
    assert checked.code == 0
    assert "no stored step" not in checked.err
    verdicts = trajscope("audit", "--db", db, "--policy", file, "--json").json["rules"]
    for rule in verdicts:
        counts = rule["verdicts"]
        cases = counts["satisfied"] + counts["violated"] + counts["unknown"]
        assert cases >= 10
        assert counts["satisfied"] >= cases * 0.9
    strict = trajscope("policy", "mine", "--db", db, "--min-confidence", "1")
    assert "not in" not in strict.out
