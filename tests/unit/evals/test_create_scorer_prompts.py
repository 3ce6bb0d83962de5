from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from tests.support.judges import ScriptedJudge
from trajscope.errors import UsageError
from trajscope.evals.error import ScorerRunError
from trajscope.evals.results import JudgeExecution
from trajscope.evals.scorer import create_scorer
from trajscope.model.judge import JudgeReply, JudgeRequest, TokenUsage


class Words(BaseModel):
    words: list[str]


def scored(judge: Any, /, **step: Any) -> Any:
    return create_scorer("s", judge=judge).generate_score(
        create_prompt=lambda c: f"How good is {c.run.output}?", **step
    )


def only(execution: Any) -> JudgeExecution:
    (one,) = execution.executions
    assert isinstance(one, JudgeExecution)
    return one


def test_every_step_may_be_a_prompt_and_sees_what_was_before() -> None:
    judge = ScriptedJudge(
        [
            {"text": '{"words": ["a", "b"]}'},
            {"text": '{"words": ["a"]}'},
            {"text": '{"score": 0.5}'},
            {"text": "half of them"},
        ]
    )
    result = (
        create_scorer("s", judge=judge, instructions="Be strict.")
        .preprocess(create_prompt=lambda c: f"words of {c.run.output}", output_schema=Words)
        .analyze(
            create_prompt=lambda c: f"good of {c.results.preprocess.words}",
            output_schema=Words,
            instructions="Be kind.",
        )
        .generate_score(create_prompt=lambda c: f"share of {len(c.results.analyze.words)}")
        .generate_reason(create_prompt=lambda c: f"why {c.score}")
        .run_sync(output="a b")
    )
    assert (result.score, result.reason) == (0.5, "half of them")
    assert result.results.preprocess == Words(words=["a", "b"])
    assert dict(result.prompts) == {
        "preprocess": "words of a b",
        "analyze": "good of ['a', 'b']",
        "generate_score": "share of 1",
        "generate_reason": "why 0.5",
    }
    assert [(r.instructions, r.schema and r.schema.__name__) for r in judge.asked] == [
        ("Be strict.", "Words"),
        ("Be kind.", "Words"),
        ("Be strict.", "JudgedScore"),
        ("Be strict.", None),
    ]
    record = only(result.judge["generate_score"])
    assert (record.status, record.output) == ("success", 0.5)
    assert record.usage == TokenUsage(input_tokens=3, output_tokens=2, total_tokens=5)
    json = result.to_json()
    assert json["analyzeStepResult"] == {"words": ["a"]}
    assert json["judge"]["generateReason"]["executions"][0]["output"] == "half of them"


def test_a_broken_reply_is_a_failure_with_all_that_is_known_and_never_a_score() -> None:
    with pytest.raises(ScorerRunError, match=r"scorer s, step generate_score: .*format") as caught:
        scored(ScriptedJudge([{"text": 'nonsense {"score": 1}'}])).run_sync(output="it")
    result = caught.value.result
    assert result is not None
    assert result.score is None
    record = only(result.judge["generate_score"])
    assert (record.status, record.output, record.raw_output) == (
        "failed",
        None,
        'nonsense {"score": 1}',
    )
    assert (record.attempt_count, record.model_call_count) == (2, 2)
    assert record.usage == TokenUsage(input_tokens=6, output_tokens=4, total_tokens=10)
    assert record.error is not None
    assert record.error["code"] == "format"
    assert "output" not in record.to_json()
    assert "generate_score" not in result.prompts


def test_a_valid_reply_out_of_range_fails_with_its_output_in_the_record() -> None:
    with pytest.raises(ScorerRunError, match="out of range") as caught:
        scored(ScriptedJudge([{"text": '{"score": 9}'}])).run_sync(output="it")
    assert caught.value.result is not None
    assert caught.value.result.score is None
    record = only(caught.value.result.judge["generate_score"])
    assert (record.status, record.output) == ("failed", 9)
    assert record.error is not None
    assert "out of range" in record.error["message"]


@pytest.mark.parametrize("text", ['{"score": "0.7"}', '{"score": true}', "{}", "[]", "0.7"])
def test_a_score_is_a_number_in_its_object(text: str) -> None:
    with pytest.raises(ScorerRunError):
        scored(ScriptedJudge([{"text": text}])).run_sync(output="it")


def test_a_score_that_was_there_stands_beside_the_later_failure() -> None:
    judge = ScriptedJudge([{"text": '{"score": 0.25}'}, {"throw": "model down"}])
    scorer = scored(judge).generate_reason(create_prompt=lambda c: "why")
    with pytest.raises(ScorerRunError, match="step generate_reason: model down") as caught:
        scorer.run_sync(output="it")
    assert caught.value.completed_steps == ("generate_score",)
    assert caught.value.result is not None
    assert caught.value.result.score == 0.25
    assert "result" not in caught.value.to_json()
    record = only(caught.value.result.judge["generate_reason"])
    assert (record.status, record.attempt_count, record.model_call_count) == ("failed", 1, 0)


@dataclass
class Careless:
    """A judge that neither checks the schema nor keeps to the text."""

    output: Any
    model_id: str = "m"
    provider: str | None = None

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        await asyncio.sleep(0)
        if isinstance(self.output, Exception):
            raise self.output
        return JudgeReply(self.output, raw_output="raw")


def test_a_judge_that_checks_nothing_is_checked() -> None:
    assert scored(Careless({"score": 1})).run_sync(output="it").score == 1
    with pytest.raises(ScorerRunError, match="does not keep the schema JudgedScore") as caught:
        scored(Careless({"score": "1"})).run_sync(output="it")
    assert caught.value.result is not None
    assert only(caught.value.result.judge["generate_score"]).raw_output == "raw"
    reason = create_scorer("s", judge=Careless(3)).generate_score(lambda c: 1)
    with pytest.raises(ScorerRunError, match="the reply is no text"):
        reason.generate_reason(create_prompt=lambda c: "why").run_sync(output="it")


def test_what_a_judge_raises_of_its_own_is_recorded() -> None:
    with pytest.raises(ScorerRunError, match="step generate_score: boom") as caught:
        scored(Careless(ValueError("boom"))).run_sync(output="it")
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.result is not None
    record = only(caught.value.result.judge["generate_score"])
    assert record.error == {"name": "ValueError", "message": "boom"}
    assert record.to_json().keys() == {
        "status",
        "prompt",
        "judgeModelId",
        "attemptCount",
        "modelCallCount",
        "durationMs",
        "error",
    }


def test_a_step_has_a_judge_of_its_own() -> None:
    scorers, own = ScriptedJudge([{"text": "x"}]), ScriptedJudge([{"text": '{"score": 1}'}])
    assert scored(scorers, judge=own).run_sync(output="it").score == 1
    assert not scorers.asked


def test_a_prompt_without_a_judge_says_so() -> None:
    with pytest.raises(ScorerRunError, match=r"step generate_score: .*no judge") as caught:
        scored(None).run_sync(output="it")
    assert "judge=" in str(caught.value)
    assert caught.value.result is None


def test_a_prompt_may_be_awaited_and_is_a_text() -> None:
    async def prompt(context: Any) -> str:
        await asyncio.sleep(0)
        return "?"

    judge = ScriptedJudge([{"text": '{"score": 1}'}])
    made = create_scorer("s", judge=judge).generate_score(create_prompt=prompt)
    assert made.run_sync().prompts["generate_score"] == "?"
    bad: Any = lambda c: 3  # noqa: E731
    with pytest.raises(ScorerRunError, match="prompt is no text"):
        create_scorer("s", judge=judge).generate_score(create_prompt=bad).run_sync()


def test_a_prompt_that_raises_asks_nobody() -> None:
    judge = ScriptedJudge([{"text": '{"score": 1}'}])
    made = create_scorer("s", judge=judge).generate_score(create_prompt=lambda c: c.run["nothing"])
    with pytest.raises(ScorerRunError, match="nothing"):
        made.run_sync()
    assert not judge.asked


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"create_prompt": str}, "output_schema is no pydantic model"),
        ({"create_prompt": str, "output_schema": dict}, "output_schema is no pydantic model"),
        ({"output_schema": Words}, "create_prompt is no function"),
        ({"create_prompt": str, "output_schema": Words, "schema": 1}, "schema is unknown"),
        ({}, "is one function, or one prompt"),
    ],
)
def test_a_malformed_prompt_is_refused_at_once(step: dict[str, Any], message: str) -> None:
    scorer: Any = create_scorer("s")
    with pytest.raises(UsageError, match=f"scorer s, step analyze: {message}"):
        scorer.analyze(**step)


def test_a_judge_is_found_by_the_name_of_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(ScorerRunError, match=r"step generate_score: .*no-such-provider"):
        scored("no-such-provider:model").run_sync(output="it")
    asked: list[str] = []

    def resolve(model: str) -> ScriptedJudge:
        asked.append(model)
        return ScriptedJudge([{"text": '{"score": 1}'}])

    monkeypatch.setattr("trajscope.judges.resolve_judge", resolve)
    assert scored("some:model").run_sync(output="it").score == 1
    assert asked == ["some:model"]


def test_a_judge_that_gives_no_reply_is_recorded_as_failed() -> None:
    class Wrong(Careless):
        async def ask(self, request: JudgeRequest) -> JudgeReply:
            wrong: Any = {"score": 1}
            return wrong  # type: ignore[no-any-return]

    with pytest.raises(ScorerRunError, match="a JudgeReply was expected") as caught:
        scored(Wrong(None)).run_sync(output="it")
    assert caught.value.result is not None
    assert only(caught.value.result.judge["generate_score"]).status == "failed"
