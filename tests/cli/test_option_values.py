"""Times and numbers as options take them: what only Python takes for one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Trajscope
from trajscope.cli._numbers import PlainFloat, PlainInt
from trajscope.cli.app import trajscope as whole

ODD_TIMES = [
    "\u0665m",
    "\uff12\uff10\uff12\uff16-01-01",
    "2026-01-01\uff1108:00",
    "2026-01-01\u066108:00",
]
ODD_TIMES += [
    " 1d",
    "1d ",
    "\t2026-01-01",
    "2026-01-01\n",
    "1 d 2",
    "-1d",
    "1e3d",
    "1d" * 40,
    "x" * 400_000,
    "",
]
ODD_NUMBERS = ["nan", "inf", "-inf", "\u0663", " 1", "1 ", "1_0", "0x1", "1e999", "x" * 400_000, ""]


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that is no group, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


def numbers() -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Every option of every command that takes a number."""
    for path, command in commands(whole):
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(
                option.type, click.types.IntParamType | click.types.FloatParamType
            ):
                yield path, option


def test_every_number_is_a_plain_one() -> None:
    found = list(numbers())
    assert {("score",), ("policy", "mine"), ("export",)} <= {path for path, _ in found}
    assert all(isinstance(option.type, PlainFloat | PlainInt) for _, option in found)


@pytest.mark.parametrize("value", ODD_NUMBERS)
def test_what_is_no_plain_number_is_refused(trajscope: Trajscope, value: str) -> None:
    for path, option in numbers():
        ran = trajscope(*path, f"{option.opts[0]}={value}")
        assert (ran.code, ran.out) == (2, ""), (path, option.opts)
        assert option.opts[0] in ran.err
        assert len(ran.err) < 1000


@pytest.fixture
def db(trajscope: Trajscope, traces: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    trajscope("ingest", traces / "pydantic_ai_v5-err", "--db", path, "--quiet")
    return path


@pytest.mark.parametrize("value", ODD_TIMES)
def test_what_is_no_plain_time_is_refused_alike(
    trajscope: Trajscope, db: Path, tmp_path: Path, value: str
) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("version: 1\nrules:\n  - {id: r, never: delete}\n")
    for command in (("prune", "--before"), ("audit", "--policy", policy, "--since")):
        ran = trajscope(*command[:-1], f"{command[-1]}={value}", "--db", db)
        assert (ran.code, ran.out) == (2, "")
        assert f"error: {command[-1]}: no date and no age (got " in ran.err
        assert "expected a date (2026-11-01" in ran.err
        assert len(ran.err) < 1000


@pytest.mark.parametrize(
    "value", ["1.5h", "2w", "30 d", "1h30m", "90M", "1970-01-02", "0001-01-01"]
)
def test_plain_times_are_taken_alike(trajscope: Trajscope, db: Path, value: str) -> None:
    policy = db.with_name("p.yaml")
    policy.write_text("version: 1\nrules:\n  - {id: r, never: delete}\n")
    assert trajscope("prune", "--before", value, "--db", db, "--dry-run").code == 0
    ran = trajscope("audit", "--policy", policy, "--since", value, "--db", db)
    assert ran.code in (0, 5)
