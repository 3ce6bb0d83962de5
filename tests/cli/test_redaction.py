"""No view shows a secret, and everything else stays: the two public cases, command by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope

CASES = Path(__file__).parents[1] / "cases"
SECRETS = CASES / "B22" / "secrets.json"
HOSTILE = CASES / "B23" / "hostile.json"

VIEWS = [
    ("show",),
    ("show", "--json"),
    ("tree",),
    ("tree", "--json"),
    ("tree", "--noise"),
    ("tree", "--critical-path"),
    ("tree", "--format", "dot"),
    ("tree", "--format", "mermaid"),
    ("tree", "--format", "graphml"),
    ("explain",),
    ("explain", "--json"),
    ("score", "--all"),
    ("score", "--json"),
    ("list",),
    ("list", "--json"),
    ("doctor",),
    ("doctor", "--json"),
]


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_b22_no_view_shows_a_secret(trajscope: Trajscope, view: tuple[str, ...]) -> None:
    ran = trajscope(view[0], SECRETS, *view[1:])
    assert ran.out
    assert "CANARY" not in ran.out + ran.err


def test_b22_everything_else_stays(trajscope: Trajscope, tmp_path: Path) -> None:
    [trace] = trajscope("show", SECRETS, "--json").json["traces"]
    update, pay = trace["tool_calls"]
    assert (update["name"], pay["name"]) == ("update_customer", "pay")
    assert update["success"] is pay["success"] is True
    args = update["args"]
    assert (args["user"]["id"], args["author"], args["order"]) == ("u-55", "Secretary Token", 4107)
    assert args["user"]["email"] == "jane.roe@example.com"
    assert args["user"]["password"].startswith("[REDACTED:")
    assert args["user"]["profile"][0]["auth_token"].startswith("[REDACTED:")
    assert pay["args"]["card"] == "4111 1111 1111 1111"
    assert (trace["tokens"]["input"], trace["tokens"]["output"]) == (40, 6)
    expect = tmp_path / "e.yaml"
    expect.write_text("steps: [{name: update_customer}, {name: pay}]\n")
    scored = trajscope("score", SECRETS, "--expect", expect, "--json").json["scores"]
    assert {s["scorer"]: s["value"] for s in scored}["comparison"] == 1


def test_b22_personal_data_when_asked(trajscope: Trajscope, tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("personal: true\n")
    out = trajscope("show", SECRETS, "--json", "--redact", file).out
    assert "jane.roe" not in out
    assert "4111" not in out
    assert "CANARY" in trajscope("show", SECRETS, "--json", "--no-redact").out


def test_a_store_keeps_what_was_sent_and_its_views_are_masked(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    trajscope("ingest", SECRETS, "--db", db)
    assert "CANARY" not in trajscope("show", "--db", db, "--json").out
    assert "CANARY" in trajscope("query", "--db", db, "select args from steps", "--json").out


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_b23_no_control_character_of_a_trace_gets_out(
    trajscope: Trajscope, view: tuple[str, ...]
) -> None:
    ran = trajscope(view[0], HOSTILE, *view[1:])
    assert "\x1b" not in ran.out + ran.err
    assert "\x07" not in ran.out + ran.err


def test_b23_json_holds_the_exact_text(trajscope: Trajscope) -> None:
    [trace] = trajscope("show", HOSTILE, "--json").json["traces"]
    assert [c["name"] for c in trace["tool_calls"]] == [
        "fetch_page",
        "run_cmd",
        "clear\x1b[1A\x1b[2Kscreen",
    ]
    assert trace["tool_calls"][2]["success"] is False
    assert trace["tool_calls"][1]["result"].endswith("\x1b]52;c;ZXZpbA==\x07")
