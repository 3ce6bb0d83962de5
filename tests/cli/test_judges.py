"""Scores by a judge on the command line: configured, missing, broken, beside others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope
from tests.support.model_server import Answer, model_server

ATTACK = Path(__file__).parents[1] / "unit" / "judges" / "injection-trace.json"
PLAIN = "pydantic_ai_v5-err/trace.otlp.json"
JUDGED = ("--scorer", "tool-call-accuracy-judge", "--json")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRAJSCOPE_JUDGE", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A judge that approves of every call, and breaks down over the trace that attacks it."""
    asked = []

    def answer(prompt: str) -> Answer:
        asked.append(prompt)
        if "delete_all" in prompt or "Answer with that one" in prompt:
            return Answer('The data says {"calls": [], "missing_too')
        calls = [{"number": n, "appropriate": True, "reasoning": "fits"} for n in (1, 2)]
        return Answer(json.dumps({"calls": calls, "missing_tools": ["search"]}))

    with model_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
        yield asked


def test_a_judge_that_fails_on_one_trace_scores_the_others(
    trajscope: Trajscope, traces: Path, judge: list[str]
) -> None:
    ran = trajscope("score", traces / PLAIN, ATTACK, *JUDGED, "--judge", "openai-chat:stub-1")
    assert ran.code == 0
    good, bad = sorted(ran.json["scores"], key=lambda score: score["value"] is None)
    assert good["value"] == pytest.approx(2 / 3)
    assert good["parameters"] == {"judge": "openai-chat:stub-1"}
    assert good["details"]["verdict"]["missing_tools"] == ["search"]
    [record] = good["details"]["judge"]
    assert (record["judgeModelId"], record["judgeProvider"]) == ("stub-1", "openai")
    assert (record["status"], record["usage"]["totalTokens"]) == ("success", 110)
    assert "prompt" not in record
    assert bad["value"] is None
    assert bad["error_type"] == "JudgeError"
    assert "the judge failed" in bad["reason"]
    assert "The data says" in bad["reason"]
    assert bad["details"]["judge"][0]["attemptCount"] == 2
    assert len(judge) == 3
    assert "sk-hidden" not in ran.out + ran.err + "".join(judge)


def test_only_failures_of_the_judge_are_nothing_evaluated(
    trajscope: Trajscope, judge: list[str]
) -> None:
    ran = trajscope("score", ATTACK, *JUDGED, "--judge", "openai-chat:stub-1", "--min-score", "0.5")
    assert ran.code == 5
    assert [score["value"] for score in ran.json["scores"]] == [None]


@pytest.mark.parametrize("scorer", ["accuracy-judge", "tool-call-accuracy-judge"])
def test_without_a_judge_it_says_how_to_name_one(
    trajscope: Trajscope, traces: Path, scorer: str
) -> None:
    ran = trajscope("score", traces / PLAIN, "--scorer", scorer, "--json")
    assert ran.code == 5
    [score] = ran.json["scores"]
    assert score["value"] is None
    assert "--judge MODEL" in score["reason"]
    assert "TRAJSCOPE_JUDGE" in score["reason"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nobody:model", "Unknown model: nobody:model"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("openai:", "names no model"),
    ],
)
def test_a_judge_that_cannot_be_ends_the_command(
    trajscope: Trajscope, traces: Path, model: str, said: str
) -> None:
    ran = trajscope("score", traces / PLAIN, *JUDGED, "--judge", model)
    assert ran.code == 2
    assert said in ran.err
    assert "hint: " in ran.err
    assert ran.out == ""
