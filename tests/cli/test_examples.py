"""Every example of every --help, and of the documentation, does what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from tests.cli.conftest import TRACES, Trajscope
from tests.cli.test_option_values import commands
from trajscope.cli.app import run
from trajscope.cli.app import trajscope as whole

ROOT = TRACES.parents[1]
NEEDS_MORE = ("https://", "--follow", "--judge")
"""Examples that need a backend or a model to run; the one that dares is --dry-run."""
OWN_SCORER = """
from trajscope import create_scorer
quality = create_scorer(id="quality", description="-").generate_score(lambda run: 1.0)
"""
POLICY = """
version: 1
rules:
  - id: r
    never: delete
    examples:
      - violated: [delete]
      - satisfied: [lookup_order]
"""


def examples_of_help() -> list[str]:
    texts = [command.help or "" for _, command in commands(whole)]
    lines = [line.strip() for text in [*texts, whole.epilog or ""] for line in text.splitlines()]
    return sorted({line for line in lines if line.startswith("trajscope ")})


def examples_of_docs() -> list[str]:
    """Return the commands that ask a store, whose SQL can go out of date."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    lines = [line.strip() for page in pages for line in page.read_text("utf-8").splitlines()]
    return sorted({line for line in lines if re.match(r"(\$ )?trajscope query .*\"", line)})


def statements_of_docs() -> list[str]:
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [
        statement
        for page in pages
        for statement in re.findall(r"```sql\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        if "read_parquet" not in statement
    ]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    one = TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"
    shutil.copy(one, folder / "trace.otlp.json")
    (folder / "traces").mkdir()
    shutil.copy(one, folder / "traces")
    shutil.copy(TRACES / "claude_code-err" / "trace.otlp.json", folder / "spans.json")
    shutil.copy(TRACES / "claude_code-err" / "logs.otlp-logs.json", folder / "logs.json")
    for name in ("expectations.yaml", "e.yaml", "expect.yaml"):
        (folder / name).write_text("blacklistedTools: [delete]\n")
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "my_scorers.py").write_text(OWN_SCORER)
    assert run(["ingest", str(folder / "traces"), "--db", str(folder / "spans.duckdb")]) == 0
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(prepared, tmp_path / "own"))
    return tmp_path / "own"


def test_there_are_examples_of_every_command_that_asks_for_more_than_a_name() -> None:
    told = {path[0] for path, _ in commands(whole)} - {"schema"}
    assert told <= {line.split()[1] for line in examples_of_help()}
    assert examples_of_docs()
    assert len(statements_of_docs()) > 4


@pytest.mark.parametrize("example", [*examples_of_help(), *examples_of_docs()])
def test_an_example_runs(trajscope: Trajscope, folder: Path, example: str) -> None:
    if any(word in example for word in NEEDS_MORE):
        pytest.skip("needs a backend or a model")
    if "http://" in example and "--dry-run" not in example:
        pytest.skip("needs a backend")
    [stored] = trajscope("list", "--db", "spans.duckdb", "--json").json["traces"]
    named = re.sub(r"\b[0-9a-f]{32}\b", stored["trace_id"], example)
    words = shlex.split(named.removeprefix("$ ").partition(" > ")[0])
    ran = trajscope(*words[1:])
    assert ran.code in (0, 1, 5), ran.err  # 5: the example's one trace is old, and one is few


@pytest.mark.parametrize("statement", statements_of_docs())
def test_a_statement_of_the_documentation_runs(
    trajscope: Trajscope, folder: Path, statement: str
) -> None:
    ran = trajscope("query", statement, "--db", "spans.duckdb")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    "value", ["interval 10000000 year", "[interval 10000000 year]", "{'a': interval 9000000 year}"]
)
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_value_that_python_has_no_room_for_is_an_error_of_the_query(
    trajscope: Trajscope, folder: Path, value: str, form: tuple[str, ...]
) -> None:
    ran = trajscope("query", "--db", "spans.duckdb", f"select {value}", *form)
    assert ran.code == 4
    assert "hint: have it as text: CAST(… AS VARCHAR)" in ran.err
    assert trajscope("query", "--db", "spans.duckdb", f"select ({value})::varchar").code == 0


def test_every_command_has_examples_that_name_only_what_it_takes() -> None:
    """An option an example names is one of its command's."""
    known = {
        path: {name for p in command.params if isinstance(p, click.Option) for name in p.opts}
        for path, command in commands(whole)
    }
    for example in examples_of_help():
        words = shlex.split(example)[1:]
        path = tuple(words[:2]) if tuple(words[:2]) in known else tuple(words[:1])
        options = {word for word in words if word.startswith("--")}
        assert options <= known[path], example
