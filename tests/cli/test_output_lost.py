"""Output that goes away: the exit code still says what a command came to, and nobody is blamed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import TRACES
from trajscope.cli._io import console
from trajscope.cli.app import run

CAPTURE = TRACES / "pydantic_ai_v5-err"
SIGNS = "select '✗ ö' AS signs"
COMMANDS = [
    (0, ("--help",)),
    (0, ("list", "--help")),
    (0, ("list", "--db", "s.duckdb")),
    (0, ("show", "--db", "s.duckdb", "--json")),
    (0, ("query", "--db", "s.duckdb", "--csv", "select 1")),
    (1, ("score", "--db", "s.duckdb", "--expect", "e.yaml")),
    (1, ("audit", "--db", "s.duckdb", "--policy", "p.yaml")),
    (1, ("audit", "--db", "s.duckdb", "--policy", "p.yaml", "--json")),
    (1, ("policy", "test", "p.yaml")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lost")
    rule = "- {id: r, never: lookup_order, examples: [{satisfied: [lookup_order]}]}"
    (folder / "p.yaml").write_text(rule)
    (folder / "e.yaml").write_text("blacklistedTools: [lookup_order]")
    assert run(["ingest", str(CAPTURE), "--db", str(folder / "s.duckdb"), "--quiet"]) == 0
    return folder


def ended(
    folder: Path, words: tuple[str, ...], stdout: int | None, before: Callable[[], None]
) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "trajscope.cli", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        preexec_fn=before,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(("code", "words"), COMMANDS)
def test_a_reader_that_has_left_changes_no_exit_code(
    folder: Path, code: int, words: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    found, said = ended(folder, words, writing, lambda: None)
    os.close(writing)
    assert found == code, said
    assert "rror" not in said


@pytest.mark.parametrize(("code", "words"), COMMANDS[2::3])
def test_no_standard_output_at_all_changes_none_either(
    folder: Path, code: int, words: tuple[str, ...]
) -> None:
    found, said = ended(folder, words, None, lambda: os.close(1))
    assert found == code, said
    assert "rror" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [words for _, words in COMMANDS[1::3]])
def test_a_full_disk_below_standard_output_is_said(folder: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        found, said = ended(folder, words, full.fileno(), lambda: None)
    assert found == 2
    assert "error: standard output: cannot be written (" in said
    assert "fault" not in said


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    ("code", "words"), [*COMMANDS[2:], (0, ("query", "--db", "s.duckdb", SIGNS))]
)
def test_an_encoding_without_our_signs_shows_them_as_escapes(
    folder: Path, code: int, words: tuple[str, ...], encoding: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trajscope.cli", *words],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert done.stdout.decode(encoding)
    assert b"rror" not in done.stderr
    if SIGNS in words:
        assert b"\\u2717" in done.stdout


def test_a_terminal_of_no_width_shows_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert console().width == 80


FULL = Path("/dev/full")
UNHEARD = [
    (1, ("audit", str(CAPTURE), "--policy", "p.yaml")),
    (1, ("score", "--db", "s.duckdb", "--expect", "e.yaml")),
    (0, ("ingest", str(CAPTURE), "--db", "s.duckdb")),
    (4, ("list", "--db", "none.duckdb")),
    (2, ("audit", str(CAPTURE), "--policy", "none.yaml")),
    (2, ("no-such-command",)),
]


@pytest.mark.parametrize("lost", ["reader gone", "disk full", "closed"])
@pytest.mark.parametrize(("code", "words"), UNHEARD)
def test_a_result_stands_though_nobody_hears_the_narration(
    folder: Path, code: int, words: tuple[str, ...], lost: str
) -> None:
    def lose() -> None:
        if lost == "closed":
            os.close(2)
        elif lost == "disk full":
            os.dup2(os.open(FULL, os.O_WRONLY), 2)
        else:
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer, 2)

    if lost == "disk full" and not FULL.exists():
        pytest.skip("no /dev/full here")
    heard = subprocess.run(
        [sys.executable, "-m", "trajscope.cli", *words],
        capture_output=True,
        cwd=folder,
        check=False,
    )
    done = subprocess.run(
        [sys.executable, "-m", "trajscope.cli", *words],
        stdout=subprocess.PIPE,
        cwd=folder,
        preexec_fn=lose,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, heard.stdout)
