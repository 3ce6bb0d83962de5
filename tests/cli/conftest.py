"""Runs the command line in this process: exit code, stdout and stderr of one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from trajscope.cli.app import run

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"


class Ran(NamedTuple):
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


Trajscope = Callable[..., Ran]


@pytest.fixture
def trajscope(capsys: pytest.CaptureFixture[str]) -> Trajscope:
    def ran(*args: object) -> Ran:
        capsys.readouterr()
        code = run([str(a) for a in args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(int(code), out, err)

    return ran


@pytest.fixture
def traces() -> Path:
    return TRACES
