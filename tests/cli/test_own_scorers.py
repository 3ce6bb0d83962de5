"""Scorers of the user's own on the command line: a Python file, and what can be wrong with it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.cli.conftest import TRACES, Trajscope
from trajscope.errors import UsageError
from trajscope.pipeline.scoring import chosen_scorers

ERR = TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"

FILE = """
from dataclasses import dataclass

from trajscope import Score, create_scorer
from trajscope.evals.scorer import not_scorable
from helper_beside import half

calls = create_scorer("calls", description="Few calls").preprocess(
    lambda c: sum(step.is_tool for step in c.run.output.walk())
).generate_score(lambda c: 1 / c.results.preprocess).generate_reason(
    lambda c: f"{c.results.preprocess} calls, run {c.run.run_id}"
)


async def later(context):
    return half()


waiting = create_scorer(name="A waiting one").generate_score(later)
messages = create_scorer("messages", type="agent").generate_score(
    lambda c: float([m["role"] for m in c.run.output] == ["assistant"] * 2)
)
none = create_scorer("none").generate_score(lambda c: not_scorable("no idea"))
broken = create_scorer("broken").analyze(lambda c: 1 / 0).generate_score(lambda c: 1)
large = create_scorer("large").generate_score(lambda c: 7)
odd = create_scorer("odd").preprocess(lambda c: object()).generate_score(lambda c: 0.5)
twin = create_scorer("calls").generate_score(lambda c: 1)
empty = create_scorer("empty")


@dataclass
class Whole:
    name: str = "whole"
    description: str = "A scorer by hand"
    version: str = "3.1"

    @property
    def parameters(self):
        return {"limit": 4}

    def applies(self, expectation):
        return True

    def score(self, trajectory, expectation):
        return Score(scorer="not its name", value=0.25, reason="by hand")


class Wrong(Whole):
    def score(self, trajectory, expectation):
        return 0.5


whole = Whole()
wrong = Wrong(name="wrong")
number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_scorers.py"
    path.write_text(FILE)
    (tmp_path / "helper_beside.py").write_text("def half():\n    return 0.5\n")
    return path


@pytest.fixture
def db(trajscope: Trajscope, tmp_path: Path) -> Path:
    store = tmp_path / "spans.duckdb"
    assert trajscope("ingest", ERR, "--db", store).code == 0
    return store


def test_scores_of_a_file_are_stored_with_scorer_version_and_parameters(
    trajscope: Trajscope, file: Path, db: Path
) -> None:
    names = [f"--scorer={file}:{name}" for name in ("calls", "waiting", "messages", "whole")]
    ran = trajscope("score", "--db", db, *names, "--json")
    assert ran.code == 0
    scores = {s["scorer"]: s for s in ran.json["scores"]}
    trace_id = scores["calls"]["trace_id"]
    assert {name: s["value"] for name, s in scores.items()} == {
        "calls": 0.5,
        "a-waiting-one": 0.5,
        "messages": 1.0,
        "whole": 0.25,
    }
    assert scores["calls"]["reason"] == f"2 calls, run {trace_id}"
    assert scores["calls"]["details"]["preprocessStepResult"] == 2
    sql = "select scorer, scorer_version, parameters, trace_id from scores order by scorer"
    rows = {r["scorer"]: r for r in trajscope("query", sql, "--db", db, "--json").json}
    own = f"sha256:{hashlib.sha256(FILE.encode()).hexdigest()[:12]}"
    assert rows["calls"]["scorer_version"] == own
    assert (rows["whole"]["scorer_version"], json.loads(rows["whole"]["parameters"])) == (
        "3.1",
        {"limit": 4},
    )
    assert {r["trace_id"] for r in rows.values()} == {trace_id}


def test_a_version_of_the_file_counts(trajscope: Trajscope, file: Path) -> None:
    file.write_text(f"__version__ = '9.2'\n{FILE}")
    ran = trajscope("score", ERR, "--scorer", f"{file}:calls", "--json")
    assert ran.json["scores"][0]["scorer_version"] == "9.2"


def test_the_expectation_reaches_the_steps_and_is_hashed(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    path, expect = tmp_path / "own.py", tmp_path / "e.yaml"
    path.write_text(
        "from trajscope import create_scorer\n"
        "only = create_scorer('only').generate_score(\n"
        "    lambda c: float(c.run.expected_trajectory.max_steps == 3))\n"
    )
    hashes = set()
    for limit, value in ((3, 1.0), (4, 0.0), (3, 1.0)):
        expect.write_text(f"maxSteps: {limit}\n")
        ran = trajscope("score", ERR, "--scorer", path, "--expect", expect, "--json")
        (score,) = ran.json["scores"]
        assert (score["value"], score["expectation"]) == (value, "e")
        hashes.add((limit, score["expectation_hash"]))
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("name", "error_type", "said"),
    [
        ("broken", "ZeroDivisionError", "scorer broken, step analyze"),
        ("large", "UsageError", "0 to 1"),
        ("wrong", "TypeError", "a Score was expected"),
        ("none", None, "no idea"),
        ("odd", "UsageError", "scorer odd, step preprocess"),
    ],
)
def test_what_fails_is_a_result_that_says_so(
    trajscope: Trajscope, file: Path, db: Path, name: str, error_type: str | None, said: str
) -> None:
    ran = trajscope("score", "--db", db, "--scorer", f"{file}:{name}", "--json")
    assert ran.code == 5
    (score,) = ran.json["scores"]
    assert score["value"] is None
    assert score.get("error_type") == error_type
    assert said in score["reason"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("{folder}/my_scorer.py:calls", ("no such file", "did you mean my_scorers.py?")),
        ("{file}:cals", ("no scorer 'cals'", "did you mean calls")),
        ("{file}:number", ("is no scorer (got int)", "calls")),
        ("{file}", ("holds 11 scorers", "--scorer")),
        ("{file}:empty", ("no generate_score step",)),
        ("blacklst", ("unknown scorer", "did you mean blacklist?")),
    ],
)
def test_a_wrong_name_is_told_with_what_was_probably_meant(
    trajscope: Trajscope, file: Path, spec: str, said: tuple[str, ...]
) -> None:
    given = spec.format(folder=file.parent, file=file)
    ran = trajscope("score", ERR, "--scorer", given)
    assert ran.code == 2
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = 1\ndef f(:\n", 2, "is no valid Python"),
        ("\n\nimport no_such_module_here\n", 3, "no_such_module_here"),
        ("def f():\n    raise RuntimeError('boom')\n\nf()\n", 2, "RuntimeError: boom"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
        ("x = 1\n", None, "holds no scorer"),
    ],
)
def test_a_file_that_cannot_be_run_is_told_with_its_line(
    trajscope: Trajscope, tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    ran = trajscope("score", ERR, "--scorer", f"{path}:x")
    assert ran.code == 2
    assert said in ran.err
    assert f"{path}:{line}" in ran.err if line else str(path) in ran.err


def test_two_scorers_of_one_name_cannot_be_told_apart(file: Path) -> None:
    with pytest.raises(UsageError, match="two scorers are called 'calls'"):
        chosen_scorers([f"{file}:calls", f"{file}:twin"])
    assert len(chosen_scorers(["blacklist", "blacklist"])) == 1


def test_a_scorer_of_steps_may_be_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    from trajscope import create_scorer, registry
    from trajscope.pipeline import scoring

    class Point:
        name, value = "own", "own.package:SCORER"

        def load(self) -> object:
            return create_scorer("from-outside").generate_score(lambda c: 1.0)

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    scoring.scorers.cache_clear()
    try:
        (scorer,) = chosen_scorers(["from-outside"])
        assert scorer.name == "from-outside"
    finally:
        scoring.scorers.cache_clear()


def test_more_processes_give_the_same(
    trajscope: Trajscope, file: Path, traces: Path, tmp_path: Path
) -> None:
    db, expect = tmp_path / "many.duckdb", tmp_path / "e.yaml"
    expect.write_text("blacklistedTools: [lookup_order]\n")
    names = ("pydantic_ai_v5-err", "pydantic_ai_v5-two", "mastra0-two", "mastra1-err")
    paths = [traces / name / "trace.otlp.json" for name in names]
    assert trajscope("ingest", *paths, "--db", db).code == 0
    judge = ("--db", db, "--scorer", f"{file}:calls", "--scorer", "blacklist", "--expect", expect)
    one = trajscope("score", *judge, "--json", "--engine", "python", "--workers", "1")
    two = trajscope("score", *judge, "--json", "--engine", "python", "--workers", "2")
    assert one.code == two.code == 1
    assert two.json == one.json
    assert len(two.json["scores"]) == 8
