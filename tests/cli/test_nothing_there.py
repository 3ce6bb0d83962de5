"""A store that is not there, or holds nothing: never a pass, never a file, and said plainly."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tests.cli.conftest import Trajscope
from tests.cli.test_option_values import commands
from trajscope.cli.app import trajscope as whole
from trajscope.store import Store

POLICY = "- {id: r, never: delete}"
EXPECTATION = "blacklistedTools: [delete]"
MADE = ("ingest",)
"""Commands that make a store."""
READERS = [
    ("list",),
    ("show",),
    ("tree",),
    ("tree", "--noise"),
    ("doctor",),
    ("score",),
    ("score", "--engine", "python"),
    ("score", "--expect", "e.yaml"),
    ("audit", "--policy", "p.yaml"),
    ("policy", "check", "p.yaml"),
    ("export", "--to", "csv", "--out", "out"),
    ("export", "--to", "parquet", "--out", "out"),
    ("export", "--otlp", "http://127.0.0.1:9", "--dry-run"),
    ("export", "--otlp", "http://127.0.0.1:9"),
]
NOTHING_EVALUATED = ("doctor", "score", "audit")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(POLICY)
    Path("e.yaml").write_text(EXPECTATION)


def words(command: click.Command) -> list[str]:
    """Return what a command cannot do without."""
    found = [
        f"{option.opts[0]}=p.yaml"
        for option in command.params
        if isinstance(option, click.Option) and option.required and option.opts[0] != "--db"
    ]
    needed = [p for p in command.params if isinstance(p, click.Argument) and p.required]
    given = ["select 1"] if command.name == "query" else ["p.yaml"] * len(needed)
    return [*found, *given]


def test_no_command_but_ingest_makes_a_store(trajscope: Trajscope) -> None:
    before = sorted(Path().iterdir())
    asked = 0
    for path, command in commands(whole):
        if path == MADE or not any("--db" in option.opts for option in command.params):
            continue
        more = {"prune": ["--before=1d"], "export": ["--to=csv", "--out=out"]}.get(path[0])
        ran = trajscope(*path, *(more or words(command)), "--db", "typo.duckdb")
        assert (ran.code, "typo.duckdb: no such store" in ran.err) == (4, True), (path, ran.err)
        asked += 1
    assert asked > 12
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_store_without_traces_is_said_to_be_one(
    trajscope: Trajscope, command: tuple[str, ...]
) -> None:
    Store.open("s.duckdb").close()
    ran = trajscope(*command, "--db", "s.duckdb")
    assert ran.code == (5 if command[0] in NOTHING_EVALUATED or "--to" in command else 0)
    assert not Path("out").exists()
    scores_are_asked_for = "--otlp" in command
    said = "no scores or findings; make some" if scores_are_asked_for else "no trace"
    assert said in ran.err
    assert "trajscope " in ran.err  # the way out
    for misleading in ("check its select", "no stored step", "mapping.md"):
        assert misleading not in ran.err


def test_no_trace_since_then_is_another_thing(trajscope: Trajscope, traces: Path) -> None:
    trajscope("ingest", traces / "pydantic_ai_v5-err", "--db", "s.duckdb", "--quiet")
    ran = trajscope("audit", "--policy", "p.yaml", "--db", "s.duckdb", "--since", "2200-01-01")
    assert (ran.code, "no trace started since then" in ran.err) == (5, True)
    assert "check its select" not in ran.err
    assert "ingest" not in ran.err
