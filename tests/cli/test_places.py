"""Places that can be no store, or may not be used: code 4 in our form, and a way out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Trajscope
from trajscope.store import Store

POWERS = "-dac_override,-dac_read_search"
PLAIN = (
    ("setpriv", f"--bounding-set={POWERS}", f"--inh-caps={POWERS}")
    if hasattr(os, "geteuid") and os.geteuid() == 0
    else ()
)
"""How a command runs as someone to whom modes of files mean something."""
READS = ("list",)
WRITES = ("vacuum",)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    Store.open("s.duckdb").close()
    Path("file").write_text("x")
    Path("loop").symlink_to("loop")
    for name in ("locked", "closed/s", "readonly"):
        Path(name).parent.mkdir(exist_ok=True)
        shutil.copy("s.duckdb", f"{name}.duckdb")
    Path("locked.duckdb").chmod(0o000)
    Path("readonly.duckdb").chmod(0o444)
    Path("closed").chmod(0o000)
    yield tmp_path
    Path("closed").chmod(0o700)


def plainly(*words: str) -> Ran:
    if PLAIN and shutil.which("setpriv") is None:
        pytest.skip("modes of files mean nothing to root here")
    command = [*PLAIN, sys.executable, "-m", "trajscope", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def is_told(ran: Ran, place: str, said: str, hint: str) -> None:
    first, second = ran.err.splitlines()
    assert (ran.code, ran.out) == (4, "")
    assert first.startswith(f"error: {place}: {said}")
    assert "; expected " in first
    assert second.startswith("hint: ")
    assert hint in second


@pytest.mark.parametrize("command", [READS, WRITES])
@pytest.mark.parametrize(
    ("place", "said", "hint"),
    [
        (".", "is a folder", "a file name in it"),
        ("loop", "cannot be opened (Too many levels of symbolic links)", "circle"),
        ("file", "is no DuckDB file", "trajscope ingest"),
        ("file/s.duckdb", "cannot be opened (Not a directory)", "no folder"),
        ("none.duckdb", "no such store", "trajscope ingest"),
        ("none/s.duckdb", "no such store", "trajscope ingest"),
    ],
)
def test_a_place_that_is_no_store(
    trajscope: Trajscope, folder: Path, command: tuple[str, ...], place: str, said: str, hint: str
) -> None:
    is_told(trajscope(*command, "--db", place), place, said, hint)


@pytest.mark.parametrize("command", [READS, WRITES])
@pytest.mark.parametrize("place", ["locked.duckdb", "closed/s.duckdb"])
def test_a_store_that_may_not_be_read(folder: Path, command: tuple[str, ...], place: str) -> None:
    is_told(
        plainly(*command, "--db", place),
        place,
        "cannot be opened (Permission denied)",
        "the right to read",
    )


def test_a_store_that_may_only_be_read(folder: Path) -> None:
    for command in (("score",), WRITES, ("prune", "--before", "1d")):
        ran = plainly(*command, "--db", "readonly.duckdb")
        is_told(ran, "readonly.duckdb", "may not be opened (permission denied)", "make a copy")
    assert plainly("query", "select 1", "--db", "readonly.duckdb").code == 0


def test_a_folder_that_is_not_there(trajscope: Trajscope, folder: Path, traces: Path) -> None:
    for name in ("wallet", "corrupt", "checksum"):
        ran = trajscope("ingest", traces / "mastra0-two", "--db", f"{name}/x.duckdb")
        is_told(ran, f"{name}/x.duckdb", f"no folder {name}", "create the folder")
