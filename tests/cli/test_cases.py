"""Public bug reports, from their input files through the command line to the right outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope

CASES = Path(__file__).parents[1] / "cases"


def one(ran: Any) -> dict[str, Any]:
    (trace,) = ran.json["traces"]
    assert isinstance(trace, dict)
    return trace


def calls(trace: dict[str, Any]) -> list[tuple[str, bool | None]]:
    return [(c["name"], c["success"]) for c in trace["tool_calls"]]


def scores(ran: Any) -> dict[str, Any]:
    return {s["scorer"]: s for s in ran.json["scores"]}


def test_b05_children_of_parents_that_were_never_exported(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    file = CASES / "B05" / "stored-spans.json"
    trace = one(trajscope("show", file, "--json"))
    assert (trace["spans"], trace["roots"], trace["orphans"]) == (6, 1, 2)
    assert len(trace["missing_parents"]) == 2
    assert calls(trace) == [("search_orders", True), ("refund_order", True)]
    assert all(c["args"] and c["result"] for c in trace["tool_calls"])
    assert trace["tokens"]["total"] == 731
    expect = tmp_path / "e.json"
    expect.write_text(json.dumps({"steps": [{"name": "search_orders"}, {"name": "refund_order"}]}))
    assert (
        scores(trajscope("score", file, "--expect", expect, "--json"))["comparison"]["value"] == 1
    )
    (tree,) = trajscope("tree", file, "--json").json["traces"]
    depths = {s["name"]: s["depth"] for s in tree["steps"]}
    assert depths["refund_order"] < depths["refund-flow"] < depths["check-limit"]


def test_b06_cycles_are_broken_and_reported(trajscope: Trajscope) -> None:
    ran = trajscope("show", CASES / "B06" / "cycles.json", "--json")
    traces = {t["trace_id"]: t for t in ran.json["traces"]}
    assert sorted(t["spans"] for t in traces.values()) == [2, 3, 4]
    itself = traces["2b1103d3215a02eaeb268b3c0c955203"]
    assert [r["kind"] for r in itself["repairs"]] == ["self_parent_broken"]
    assert (itself["roots"], calls(itself)) == (1, [("send_mail", True)])
    cycle = traces["fac9655e023ad47c5e5c1e90359eb1bc"]
    assert [r["kind"] for r in cycle["repairs"]] == ["cycle_broken"]
    assert [name for name, _ in calls(cycle)] == ["read_plan", "save_plan"]
    assert cycle["agents"][0] == "planner"
    sound = traces["7b794a360bee05b833ba927137918d42"]
    assert sound["repairs"] == []
    assert [name for name, _ in calls(sound)] == ["ping", "pong"]


def test_b07_the_same_spans_delivered_again(trajscope: Trajscope, tmp_path: Path) -> None:
    file, db, expect = CASES / "B07" / "retried.jsonl", tmp_path / "s.duckdb", tmp_path / "e.yaml"
    trace = one(trajscope("show", file, "--json"))
    assert (trace["spans"], trace["roots"], trace["orphans"]) == (6, 1, 0)
    assert [name for name, _ in calls(trace)] == ["fetch_invoice", "send_email"]
    assert (trace["model_calls"], trace["tokens"]["total"]) == (2, 410)
    first = trajscope("ingest", file, "--db", db, "--json").json["captures"][0]
    assert (first["added"], first["duplicates"]) == (6, 5)
    again = trajscope("ingest", file, "--db", db, "--json").json["captures"][0]
    assert again["added"] == 0
    assert one(trajscope("show", "--db", db, "--json"))["tool_calls"] == trace["tool_calls"]
    expect.write_text("maxTotalTokens: 500\nnoRedundantCalls: true\n")
    found = scores(trajscope("score", "--db", db, "--expect", expect, "--json"))
    assert found["efficiency"]["value"] == 1
    assert not found["efficiency"].get("findings")
    assert not found["tool-failures"].get("findings")


def test_b08_skewed_clocks(trajscope: Trajscope, tmp_path: Path) -> None:
    file, expect = CASES / "B08" / "skew.json", tmp_path / "e.yaml"
    ran = trajscope("show", file, "--json")
    trace = one(ran)
    assert (trace["spans"], trace["roots"], trace["orphans"]) == (4, 1, 0)
    geo, charge = trace["tool_calls"]
    assert (geo["name"], charge["name"]) == ("geo_lookup", "charge_card")
    assert geo["duration_ms"] == 600
    assert charge["duration_ms"] in (0, None)
    assert {r["kind"] for r in trace["repairs"]} >= {"negative_duration"}
    assert trace["duration_ms"] == 2000
    expect.write_text("maxTotalDurationMs: 2500\n")
    found = scores(trajscope("score", file, "--expect", expect, "--json"))
    assert found["efficiency"]["value"] == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_b09_parents_arrive_later(
    trajscope: Trajscope, tmp_path: Path, order: tuple[int, int]
) -> None:
    batches = [CASES / "B09" / name for name in ("batch-1-children.json", "batch-2-root.json")]
    db = tmp_path / "s.duckdb"
    trajscope("ingest", batches[order[0]], "--db", db)
    if order == (0, 1):
        early = one(trajscope("show", "--db", db, "--json"))
        assert (early["spans"], early["roots"], early["orphans"]) == (3, 0, 3)
        assert len(early["missing_parents"]) == 1
        assert [name for name, _ in calls(early)] == ["scan_ports", "write_report"]
        trajscope("score", "--db", db)
    trajscope("ingest", batches[order[1]], "--db", db)
    whole = one(trajscope("show", "--db", db, "--json"))
    assert (whole["spans"], whole["roots"], whole["orphans"]) == (4, 1, 0)
    assert whole["duration_ms"] == 2000
    assert whole["tokens"]["total"] == 88
    kept = trajscope("query", "select count(*) n from scores", "--db", db, "--json").json
    assert kept == [{"n": 0}]  # scores of the half trace went with it
    trajscope("ingest", batches[0], "--db", db)
    assert one(trajscope("show", "--db", db, "--json")) == whole


def test_b15_order_below_the_millisecond(trajscope: Trajscope, tmp_path: Path) -> None:
    file, expect = CASES / "B15" / "fast-tools.json", tmp_path / "e.yaml"
    trace = one(trajscope("show", file, "--json"))
    names = ["read_meter", "notify", "set_power"]
    assert [name for name, _ in calls(trace)] == names
    assert trace["tool_calls"][0]["start_ns"] == 1772528400123000100
    steps = "".join(f"  - name: {name}\n" for name in names)
    expect.write_text(f"ordering: strict\nsteps:\n{steps}")
    found = scores(trajscope("score", file, "--expect", expect, "--json"))
    assert found["comparison"]["value"] == 1


def test_b17_a_retry_that_recovers(trajscope: Trajscope, tmp_path: Path) -> None:
    file, expect = CASES / "B17" / "retries.json", tmp_path / "e.json"
    trace = one(trajscope("show", file, "--json"))
    assert calls(trace) == [
        ("get_quote", False),
        ("get_quote", False),
        ("get_quote", True),
        ("send_quote", True),
    ]
    wanted = {"steps": [{"name": "get_quote"}, {"name": "send_quote"}]}
    for ordering, perfect in (("relaxed", True), ("unordered", True), ("strict", False)):
        expect.write_text(json.dumps({**wanted, "ordering": ordering}))
        found = scores(trajscope("score", file, "--expect", expect, "--json"))["comparison"]
        assert (found["value"] == 1) is perfect
        assert 0 <= found["value"] <= 1


def test_b18_arguments_in_seven_spellings(trajscope: Trajscope) -> None:
    trace = one(trajscope("show", CASES / "B18" / "ten-calls.json", "--json"))
    args = [c["args"] for c in trace["tool_calls"]]
    assert len(args) == 10
    assert all(a == {"title": "Café sync", "attendees": 2, "remote": False} for a in args[:7])
    assert args[7]["remote"] == 0
    assert not isinstance(args[7]["remote"], bool)
    assert args[8]["attendees"] == "2"
    assert args[9]["title"] == "Café sync "
