"""Ctrl-C and SIGTERM end a command alike: nothing half done stays, and the exit code says so."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trajscope.errors import ExitCode

COMMAND = [sys.executable, "-m", "trajscope"]
MORE_THAN_A_PIPE_HOLDS = b" " * 300_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [["ingest", "-", "--db", "s.duckdb"], ["show", "-"]])
def test_a_command_that_reads_is_ended(
    tmp_path: Path, words: list[str], number: signal.Signals
) -> None:
    with subprocess.Popen(
        [*COMMAND, *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(MORE_THAN_A_PIPE_HOLDS)  # it is read, so the command has begun
        process.stdin.flush()
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert said.split() == [b"interrupted"]
    assert process.returncode == ExitCode.INTERRUPTED
    assert list(tmp_path.iterdir()) == []
