"""Every error in one form: `place: what is wrong (value); what was expected`, then a hint."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope
from tests.cli.test_option_values import commands
from trajscope.cli._stdout import _Unread
from trajscope.cli.app import trajscope as whole
from trajscope.store import Store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: Path) -> None:
    monkeypatch.chdir(tmp_path)
    capture = (traces / "pydantic_ai_v5-err" / "trace.otlp.json").read_bytes()
    Path("trace.otlp.json").write_bytes(capture)
    Path("p.yaml").write_text("- {id: r, never: delete}")
    Path("file").write_text("x")
    Store.open("s.duckdb").close()


FILES = [
    ("score", "trace.otlp.json", "--expect"),
    ("audit", "trace.otlp.json", "--policy"),
    ("show", "trace.otlp.json", "--map"),
    ("show", "trace.otlp.json", "--redact"),
    ("policy", "check"),
    ("query", "--db", "s.duckdb", "--file"),
]


@pytest.mark.parametrize("command", FILES, ids=" ".join)
@pytest.mark.parametrize("name", ["nosuch.yaml", "no/such.yaml", "file/such.yaml"])
def test_a_file_that_cannot_be_read(
    trajscope: Trajscope, command: tuple[str, ...], name: str
) -> None:
    ran = trajscope(*command, name)
    first, second = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, "")
    assert first.startswith(f"error: {name}: cannot be read (No")
    assert "; expected a " in first
    assert second.startswith("hint: check the name")


@pytest.mark.parametrize("more", [("--output",), ("--update-baseline", "--baseline")])
def test_a_file_that_cannot_be_written(trajscope: Trajscope, more: tuple[str, ...]) -> None:
    ran = trajscope("audit", "trace.otlp.json", "--policy", "p.yaml", *more, "np/o.json")
    assert ran.code == 2
    said = "error: np/o.json: cannot be written (No such file or directory); expected a file in a"
    assert said in ran.err
    assert "hint: name a file where you may write" in ran.err


def test_a_folder_that_cannot_be_made(trajscope: Trajscope) -> None:
    trajscope("ingest", "trace.otlp.json", "--db", "s.duckdb", "--quiet")
    for kind in ("parquet", "csv"):
        ran = trajscope("export", "--db", "s.duckdb", "--to", kind, "--out", "file/x")
        assert ran.code == 4
        assert "cannot be written (Not a directory); expected a folder" in ran.err
        assert "room" not in ran.err


@pytest.mark.parametrize("path", [path for path, _ in commands(whole)], ids=" ".join)
def test_a_wrong_option_is_told_in_our_form(trajscope: Trajscope, path: tuple[str, ...]) -> None:
    ran = trajscope(*path, "--zzzz")
    usage, *_, error, hint = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, "")
    assert usage.startswith(f"Usage: trajscope {' '.join(path)} ")
    assert error == "error: No such option '--zzzz'"
    assert hint == f"hint: Try 'trajscope {' '.join(path)} --help' for help."


def test_a_wrong_value_names_its_option_first(trajscope: Trajscope) -> None:
    ran = trajscope("score", "trace.otlp.json", "--min-score", "x")
    assert (ran.code, "error: --min-score: 'x' is no number" in ran.err) == (2, True)


@pytest.mark.parametrize("limit", ["0MB", "1KB", "99999999999TB"])
@pytest.mark.parametrize("command", [("ingest", "trace.otlp.json"), ("vacuum",)])
def test_a_memory_limit_that_cannot_be_kept_is_usage(
    trajscope: Trajscope, command: tuple[str, ...], limit: str
) -> None:
    ran = trajscope(*command, "--db", "s.duckdb", "--memory-limit", limit)
    assert ran.code == 2
    assert f"memory limit: out of range ({limit!r}); expected 5MB to 1000TB" in ran.err
    assert "--memory-limit" in ran.err


def test_no_help_shows_a_range_that_is_none(trajscope: Trajscope) -> None:
    for path, _ in commands(whole):
        assert "None" not in trajscope(*path, "--help").out


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "trajscope", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "trajscope,")


class Slow(io.RawIOBase):
    """Takes three bytes at a time, and now and then none."""

    def __init__(self) -> None:
        self.taken = b""
        self.asked = 0
        _, self.handle = os.pipe()

    def fileno(self) -> int:
        return self.handle

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int | None:
        self.asked += 1
        if self.asked % 3 == 0:
            return None
        self.taken += bytes(data[:3])
        return len(data[:3])


def test_what_a_slow_stderr_takes_in_parts_is_whole() -> None:
    slow = Slow()
    assert _Unread(slow).write(b"error: it is told to the end") == 28
    assert slow.taken == b"error: it is told to the end"
    os.close(slow.handle)
