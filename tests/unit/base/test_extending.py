"""The plug-ins of docs/extending.md, installed from outside the package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trajscope.conventions import Reader
from trajscope.errors import PluginError
from trajscope.model.check import Check
from trajscope.model.reading import Reading
from trajscope.model.span import LogRecord, Span
from trajscope.ports import RuleBody
from trajscope.rules import parse_policy, rule_kinds

PAGE = (Path(__file__).parents[3] / "docs" / "extending.md").read_text("utf-8")
TRACES = Path(__file__).parents[3] / "fixtures" / "traces"
CODE = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
POINTS = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def install(folder: Path, points: str) -> None:
    for name, code in CODE.items():
        (folder / name).write_text(code)
    info = folder / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


def documented_points() -> str:
    assert POINTS is not None
    text = re.sub(r'\[project\.entry-points\."(.+?)"\]', r"[\1]", POINTS[1])
    return text.replace('"', "")


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trajscope.cli", *args]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_a_format_and_a_convention_from_outside_work(tmp_path: Path) -> None:
    install(tmp_path, documented_points())
    capture = tmp_path / "run.toy"
    capture.write_text('TOY lookup {"id": 1}\nTOY broken\nTOY send {"id": 2}\n')
    done = run(tmp_path, "show", str(capture), "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    calls = [(c["name"], c["args"]) for c in shown["traces"][0]["tool_calls"]]
    assert calls == [("lookup", {"id": 1}), ("send", {"id": 2})]
    assert [p["line"] for p in shown["problems"]] == [2]
    told = run(tmp_path, "explain", str(capture)).stdout
    assert "read by        toy: claim 13" in told
    assert "args           from toy.args" in told
    strict = run(tmp_path, "show", str(capture), "--strict")
    assert (strict.returncode, "run.toy:2: no toy line" in strict.stderr) == (3, True)
    named = run(tmp_path, "show", str(capture), "--input-format", "toy-text", "--json")
    assert json.loads(named.stdout) == shown


RULES = """
- backup: {of: delete_*, with: snapshot}
  examples: [{violated: [delete_a]}, {satisfied: [snapshot, delete_a]}]
"""


def test_a_rule_kind_from_outside_works(tmp_path: Path) -> None:
    install(tmp_path, documented_points())
    code = (
        "from trajscope.rules import audit_rule, parse_policy\n"
        f"rule, = parse_policy({RULES!r}).rules\n"
        "print(*(audit_rule(rule, e.trajectories).verdict.value for e in rule.examples))\n"
        "parse_policy('- backup: {of: delete_*, wth: snapshot}', 'p.yaml')\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.stdout.split() == ["violated", "satisfied"], done.stderr
    assert "p.yaml:1:3 ([0].backup): with is missing" in done.stderr
    assert "the key 'wth' is unknown; did you mean with?" in done.stderr


def test_a_rule_kind_that_crashes_is_named_and_a_taken_key_refused() -> None:
    class Toy:
        name = "toy"
        description = "Crashes."
        aliases: tuple[str, ...] = ()
        beside: tuple[str, ...] = ()

        def compile(self, body: RuleBody, name: str) -> tuple[Check, ...]:
            raise RuntimeError("boom")

    with pytest.raises(PluginError, match=r"p\.yaml:1:3 .*rule kind 'toy' crashed: .*boom"):
        parse_policy("- toy: a", "p.yaml", {"toy": Toy()})
    taking = Toy()
    taking.aliases = ("never",)
    with pytest.raises(PluginError, match="'never' is taken by 'toy'"):
        parse_policy("- never: a", "p.yaml", {"toy": taking, "never": rule_kinds()["never"]})


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ("[trajscope.conventions]\ntoy = no_such_module:X\n", "no_such_module"),
        ("[trajscope.conventions]\ntoy = toy_format:FORMAT\n", "lacks claim"),
        ("[trajscope.conventions]\ntoy = toy_convention:NONE\n", "toy (toy_convention:NONE)"),
        ("[trajscope.formats]\ntoy = trajscope.formats.jaeger:FORMAT\n", "'jaeger' is taken"),
        ("[trajscope.conventions]\ntoy = trajscope.conventions.mcp:CONVENTION\n", "'mcp' is taken"),
    ],
)
def test_a_broken_plug_in_is_named(tmp_path: Path, points: str, said: str) -> None:
    install(tmp_path, points)
    done = run(tmp_path, "show", str(TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"))
    assert done.returncode == 70
    assert said in done.stderr
    assert "Traceback" not in done.stderr


CRASHES = {
    "def claim(self, span):": ("convention 'toy' crashed on span '1'", "boom"),
    "def read(self, span):": ("convention 'toy' crashed on span '1'", "boom"),
    "def sniff(self, source):": ("format 'toy-text' crashed on ", "run.toy"),
    "def read(self, source, problems):": ("format 'toy-text' crashed on ", "run.toy"),
}


@pytest.mark.parametrize("method", CRASHES)
def test_a_plug_in_that_crashes_is_named_with_what_it_crashed_on(
    tmp_path: Path, method: str
) -> None:
    install(tmp_path, documented_points())
    for name in CODE:
        code = (tmp_path / name).read_text()
        broken = code.replace(method, f"{method}\n        raise RuntimeError('boom')")
        (tmp_path / name).write_text(broken)
    capture = tmp_path / "run.toy"
    capture.write_text('TOY lookup {"id": 1}\n')
    done = run(tmp_path, "show", str(capture))
    assert done.returncode == 70
    assert all(said in done.stderr for said in CRASHES[method])
    assert "Traceback" not in done.stderr
    db = tmp_path / "s.duckdb"
    assert run(tmp_path, "ingest", str(capture), "--db", str(db)).returncode == 70
    assert not db.exists()


def test_a_convention_that_crashes_on_a_log_record_is_named() -> None:
    class Toy:
        name = "toy"
        description = "Crashes."

        def claim(self, span: Span) -> int:
            return 0

        def read(self, span: Span) -> Reading:
            raise AssertionError

        def span_of_log(self, record: LogRecord) -> Span | None:
            raise RuntimeError("boom")

    record = LogRecord(trace_id="t", span_id="s")
    with pytest.raises(PluginError, match=r"'toy' crashed on a log record of span 's': .*boom"):
        Reader((Toy(),)).span_of_log(record)
