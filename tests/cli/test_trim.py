"""`prune`, `vacuum`, `export --to` and `ingest --drop-attributes`: output and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope

CAPTURE = "pydantic_ai_v5-err"


@pytest.fixture
def db(trajscope: Trajscope, traces: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    assert trajscope("ingest", traces / CAPTURE, "--db", path, "--quiet").code == 0
    return path


def test_prune_says_what_goes_and_a_dry_run_changes_nothing(trajscope: Trajscope, db: Path) -> None:
    before = trajscope("list", "--db", db, "--json").json
    gone = trajscope("prune", "--before", "0m", "--db", db, "--dry-run", "--json").json
    assert "would remove" in trajscope("prune", "--before", "0m", "--db", db, "--dry-run").out
    assert (gone["dry_run"], gone["traces"]) == (True, len(before["traces"]))
    assert trajscope("list", "--db", db, "--json").json == before
    done = trajscope("prune", "--before", "0m", "--db", db, "--json").json
    assert done["spans"] == gone["spans"] > 0
    assert done["store"] == {"spans": 0, "traces": 0}


@pytest.mark.parametrize("before", ["tomorrow", "9999-01-01", "30", "-3d", ""])
def test_what_is_no_past_time_is_refused(trajscope: Trajscope, db: Path, before: str) -> None:
    ran = trajscope("prune", f"--before={before}", "--db", db)
    assert ran.code == 2
    assert "--before" in ran.err


@pytest.mark.parametrize("command", [("prune", "--before", "1d"), ("vacuum",)])
def test_a_store_that_is_not_there_is_not_made(
    trajscope: Trajscope, tmp_path: Path, command: tuple[str, ...]
) -> None:
    ran = trajscope(*command, "--db", tmp_path / "no.duckdb")
    assert (ran.code, "no such store" in ran.err) == (4, True)
    assert list(tmp_path.iterdir()) == []


def test_vacuum_tells_both_sizes(trajscope: Trajscope, db: Path) -> None:
    told = trajscope("vacuum", "--db", db, "--json").json
    assert told["after_bytes"] == db.stat().st_size
    assert "before" in trajscope("vacuum", "--db", db).out


def test_an_export_can_be_ingested_and_says_the_same(
    trajscope: Trajscope, db: Path, tmp_path: Path
) -> None:
    out, again = tmp_path / "out", tmp_path / "again.duckdb"
    told = trajscope("export", "--db", db, "--to", "parquet", "--out", out, "--json").json
    assert [str(f.relative_to(out)) for f in out.rglob("*.parquet")] == told["files"]
    assert trajscope("ingest", out, "--db", again, "--quiet").code == 0
    ask = ("show", "--json", "--db")
    assert trajscope(*ask, again).json == trajscope(*ask, db).json
    assert trajscope("export", "--db", db, "--to", "csv", "--out", out).code == 2  # it is full
    assert trajscope("export", "--db", db, "--to", "csv").code == 2


def test_dropped_attributes_are_noted_and_steps_stay(
    trajscope: Trajscope, traces: Path, db: Path, tmp_path: Path
) -> None:
    lighter = tmp_path / "lighter.duckdb"
    drop = ("--drop-attributes", "gen_ai.*", "--drop-attributes", "logfire.*")
    assert trajscope("ingest", traces / CAPTURE, "--db", lighter, "--quiet", *drop).code == 0
    ask = "SELECT name, step_type, args::VARCHAR AS args FROM steps ORDER BY lft"
    both = [trajscope("query", ask, "--json", "--db", d).json for d in (lighter, db)]
    assert both[0] == both[1]
    left = "SELECT count(*) AS n FROM spans WHERE attributes::VARCHAR LIKE '%gen_ai.%'"
    assert trajscope("query", left, "--json", "--db", lighter).json == [{"n": 0}]
    noted = trajscope("query", "SELECT dropped_attributes FROM captures", "--json", "--db", lighter)
    assert noted.json[0]["dropped_attributes"] == ["gen_ai.*", "logfire.*"]
