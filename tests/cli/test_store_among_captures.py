"""A store that lies among the captures is not one of them, and keeps its lock."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.truth import FIXTURES
from trajscope.errors import Problems
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import ingest
from trajscope.store import Store

CAPTURE = FIXTURES / "pydantic_ai_v5-err" / "trace.otlp.json"


def test_the_store_is_passed_over_and_stays_locked(tmp_path: Path) -> None:
    shutil.copy(CAPTURE, tmp_path / "a.otlp.json")
    db = tmp_path / "b.duckdb"
    (tmp_path / "c.duckdb").symlink_to(db)
    problems = Problems()
    options = InputOptions()
    object.__setattr__(options, "problems", problems)
    with Store.open(db) as store:
        names = [Path(one.name).name for one in ingest([str(tmp_path)], store, options)]
        other = [sys.executable, "-m", "trajscope.cli", "list", "--db", str(db)]
        held = subprocess.run(other, capture_output=True, text=True, check=False)
    assert names == ["a.otlp.json"]
    assert problems.skipped["files that are no capture"] >= 2
    assert held.returncode == 4, "another process could open a store that is being written"


def test_the_store_is_refused_as_a_capture(tmp_path: Path) -> None:
    db = tmp_path / "b.duckdb"
    Store.open(db).close()
    command = [sys.executable, "-m", "trajscope.cli", "ingest", str(db), "--db", str(db)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "is the store itself" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["audit", "--since", "9999-12-31"], 5),
        (["audit", "--since", "0001-01-01"], 5),
        (["prune", "--before", "0001-01-01"], 0),
        (["audit", "--since", "99999999999999d"], 2),
        (["prune", "--before", "99999999999999d"], 2),
        (["prune", "--before", "15251w"], 2),
        (["prune", "--before", "15249w"], 0),
    ],
)
def test_dates_no_column_can_hold(tmp_path: Path, args: list[str], code: int) -> None:
    db, policy = tmp_path / "s.duckdb", tmp_path / "p.yaml"
    Store.open(db).close()
    policy.write_text("- never: x\n")
    more = ["--policy", str(policy)] if args[0] == "audit" else []
    command = [sys.executable, "-m", "trajscope.cli", *args, "--db", str(db), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Conversion" not in done.stderr
