"""A store that lies among the captures is not one of them, and keeps its lock."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

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
