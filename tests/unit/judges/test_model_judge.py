"""The real client library against a model endpoint on loopback."""

from __future__ import annotations

import asyncio
import sys

import pytest
from pydantic import BaseModel, Field

from tests.support.model_server import Answer, ModelServer, model_server
from trajscope.errors import UsageError
from trajscope.judges import ModelJudge, Patience, resolve_judge
from trajscope.model.judge import JudgeError, JudgeReply, JudgeRequest, TokenUsage

SOON = Patience(timeout_s=5, tries=3, wait_s=0.01, max_wait_s=0.05)


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)
    reason: str = ""


GOOD = Answer('{"score": 0.25, "reason": "deleted data"}')
REQUEST = JudgeRequest("judge this", "You are a judge.", Verdict)


def ask(
    server: ModelServer, request: JudgeRequest = REQUEST, patience: Patience = SOON
) -> JudgeReply:
    judge = resolve_judge(
        "openai-chat:stub-1", base_url=server.url, api_key="sk-secret", patience=patience
    )
    return asyncio.run(judge.ask(request))


def failure(
    server: ModelServer, request: JudgeRequest = REQUEST, patience: Patience = SOON
) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        ask(server, request, patience)
    assert "sk-secret" not in str(caught.value)
    return caught.value


def test_a_good_reply() -> None:
    with model_server([GOOD]) as server:
        reply = ask(server)
    assert reply.output == Verdict(score=0.25, reason="deleted data")
    assert (reply.attempt_count, reply.model_call_count, reply.finish_reason) == (1, 1, "stop")
    assert reply.usage == TokenUsage(100, 10, 110, 4, 60, None)
    [request] = server.requests
    assert request["path"].endswith("/chat/completions")
    system, user = request["messages"]
    assert system["content"].startswith("You are a judge.")
    assert '"minimum": 0' in system["content"]
    assert (user["role"], user["content"]) == ("user", "judge this")


def test_plain_text_where_no_schema_is_asked_for() -> None:
    with model_server([Answer("It went well.")]) as server:
        reply = ask(server, JudgeRequest("why?"))
    assert reply.output == "It went well."


def test_a_broken_reply_is_asked_for_once_more() -> None:
    with model_server([Answer("I think 0.9"), GOOD]) as server:
        reply = ask(server)
    assert reply.output == Verdict(score=0.25, reason="deleted data")
    assert (reply.attempt_count, reply.model_call_count) == (2, 2)
    assert reply.usage == TokenUsage(200, 20, 220, 8, 120, None)
    said = server.requests[1]["messages"]
    assert [m["role"] for m in said[-3:]] == ["user", "assistant", "user"]
    assert "no JSON object" in said[-1]["content"]


def test_two_broken_replies_are_an_error_never_a_score() -> None:
    with model_server([Answer("nothing"), Answer('{"score": 85}')]) as server:
        error = failure(server)
    facts = error.facts
    assert (facts.code, facts.attempt_count, facts.model_call_count) == ("format", 2, 2)
    assert (facts.output, facts.raw_output) == (None, '{"score": 85}')
    assert facts.usage == TokenUsage(200, 20, 220, 8, 120, None)
    assert "85" in str(error)
    assert len(server.requests) == 2


def test_a_busy_provider_is_waited_for() -> None:
    busy = Answer(status=429, headers={"retry-after": "0.01"})
    with model_server([busy, busy, GOOD]) as server:
        reply = ask(server)
    assert (reply.output.score, reply.attempt_count, reply.model_call_count) == (0.25, 1, 1)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "code"), [(429, "rate_limit"), (500, "server"), (503, "server")]
)
def test_a_provider_that_stays_busy_is_given_up(status: int, code: str) -> None:
    with model_server([Answer(status=status)]) as server:
        error = failure(server)
    assert (error.facts.code, error.facts.model_call_count) == (code, 0)
    assert str(status) in str(error)
    assert len(server.requests) == SOON.tries


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_waiting_cannot_mend_is_not_tried_again(status: int) -> None:
    with model_server([Answer(status=status)]) as server:
        error = failure(server)
    assert (error.facts.code, len(server.requests)) == ("request", 1)
    assert error.hint == "check the model's name and the key"


def test_a_model_that_hangs_is_left() -> None:
    with model_server([Answer("late", hang_s=0.6)]) as server:
        error = failure(server, patience=Patience(timeout_s=0.15, tries=3, wait_s=0.01))
    assert (error.facts.code, len(server.requests)) == ("timeout", 1)
    assert "0.15 s" in str(error)


def test_a_refusal_is_an_error() -> None:
    with model_server([Answer("", finish_reason="content_filter")]) as server:
        error = failure(server)
    assert (error.facts.code, error.facts.finish_reason) == ("refusal", "content_filter")


@pytest.mark.parametrize("raw", [b"{not json", b"[]", b"{}", b""])
def test_a_server_that_talks_nonsense(raw: bytes) -> None:
    with model_server([Answer(raw=raw)]) as server:
        error = failure(server)
    assert error.facts.code in ("server", "format", "request")


def test_a_refusal_in_words_is_shown() -> None:
    with model_server([Answer(refusal="I will not judge that.")]) as server:
        error = failure(server)
    assert (error.facts.code, error.facts.raw_output) == ("refusal", "I will not judge that.")
    assert (error.facts.attempt_count, error.facts.model_call_count) == (1, 1)
    assert "I will not judge that." in str(error)


def test_a_reply_that_was_cut_off_is_none_even_if_it_ends_well() -> None:
    cut = Answer('{"score": 1}', finish_reason="length")
    with model_server([cut]) as server:
        error = failure(server)
    assert (error.facts.code, error.facts.finish_reason) == ("format", "length")
    with model_server([Answer("so far", finish_reason="length")]) as server:
        assert ask(server, JudgeRequest("why?")).output == "so far"


def test_who_is_asked_to_wait_too_long_gives_up_at_once() -> None:
    with model_server([Answer(status=429, headers={"retry-after": "3600"})]) as server:
        error = failure(server)
    assert (error.facts.code, len(server.requests)) == ("rate_limit", 1)


def test_retry_after_may_be_a_date() -> None:
    past = Answer(status=503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
    slow = Patience(timeout_s=5, tries=2, wait_s=20, max_wait_s=30)
    with model_server([past, GOOD]) as server:
        assert ask(server, patience=slow).output.score == 0.25


def test_a_quota_that_is_used_up_is_not_waited_for() -> None:
    body = b'{"error": {"message": "no money", "code": "insufficient_quota"}}'
    with model_server([Answer(status=429, raw=body)]) as server:
        error = failure(server)
    assert (error.facts.code, len(server.requests)) == ("request", 1)


@pytest.mark.parametrize("status", [401, 500])
def test_a_key_that_the_server_repeats_is_hidden(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "other-key-1")
    said = "no access for sk-secret nor other-key-1"
    with model_server([Answer(said, status=status)]) as server:
        error = failure(server)
    assert "no access for [key] nor [key]" in str(error)


def test_open_questions_share_their_connections() -> None:
    with model_server([Answer("fine")]) as server:
        judge = resolve_judge("openai-chat:stub-1", base_url=server.url, patience=SOON)
        assert resolve_judge("openai-chat:stub-1", base_url=server.url, patience=SOON) is judge

        async def some() -> None:
            first = asyncio.create_task(_several(judge, 5))
            await asyncio.gather(first, _several(judge, 5))

        asyncio.run(some())
        assert len({request["peer"] for request in server.requests}) < len(server.requests) == 10
        asyncio.run(_several(judge, 1))
        assert len(judge._models) == 1


async def _several(judge: ModelJudge, times: int) -> None:
    for _ in range(times):
        await judge.ask(JudgeRequest("why?"))


def test_a_reply_without_usage_has_none() -> None:
    with model_server([Answer('{"score": 1}', usage=None)]) as server:
        assert ask(server).usage is None


def test_nobody_listens() -> None:
    with model_server([GOOD]) as server:
        pass
    error = failure(server)
    assert error.facts.code == "server"
    assert "cannot be reached" in str(error)


def test_several_questions_in_several_loops() -> None:
    with model_server([GOOD]) as server:
        judge = resolve_judge("openai-chat:stub-1", base_url=server.url, patience=SOON)

        async def both() -> list[JudgeReply]:
            return list(await asyncio.gather(judge.ask(REQUEST), judge.ask(REQUEST)))

        replies = asyncio.run(both()) + asyncio.run(both())
    assert [r.output.score for r in replies] == [0.25] * 4


def test_keys_and_addresses_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server([GOOD]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
        judge = resolve_judge("openai-chat:stub-1", patience=SOON)
        reply = asyncio.run(judge.ask(REQUEST))
    assert (judge.model_id, judge.provider, reply.output.score) == ("stub-1", "openai", 0.25)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt", "Unknown model: gpt"),
        ("nobody:model", "Unknown model: nobody:model"),
        ("", "no model name"),
        ("openai:", "names no model"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
    ],
)
def test_a_judge_that_cannot_be(model: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=said) as caught:
        resolve_judge(model)
    assert caught.value.hint


def test_the_library_of_a_provider_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "groq", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.groq", raising=False)
    with pytest.raises(UsageError, match="judge groq:llama: the library") as caught:
        resolve_judge("groq:llama")
    assert caught.value.hint == "pip install 'pydantic-ai-slim[groq]'"


def test_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(UsageError) as caught:
        resolve_judge("openai:gpt-5")
    assert caught.value.hint == "pip install 'trajscope[judge]'"
