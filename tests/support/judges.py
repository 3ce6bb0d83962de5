"""A judge that answers what a script says: for tests of what is done with a judge's answers.

It stands for the client library, not for our code: replies are parsed and held against the schema
as such a library does, with one more try after a reply that breaks the format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from trajscope.model.judge import JudgeError, JudgeFacts, JudgeReply, JudgeRequest, TokenUsage

_PARTS = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
_COUNTS = {
    **_PARTS,
    "totalTokens": "total_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_input_tokens",
}
_USUAL = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}

Reply = Mapping[str, Any]


class ModelError(Exception):
    """What the model's transport raises."""


@dataclass
class ScriptedJudge:
    """Answers with the replies of a script, the last one again and again.

    A reply is `{"text": …, "usage": …}`, or `{"throw": message}`. asked: the requests so far.
    parse: another way to read a structured reply than by the request's schema.
    """

    script: Sequence[Reply]
    model_id: str = "mock-judge"
    provider: str | None = "mock"
    parse: Callable[[JudgeRequest, str], Any] | None = None
    asked: list[JudgeRequest] = field(default_factory=list)
    _calls: int = 0

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Answer; a structured reply gets a second try."""
        self.asked.append(request)
        usages: list[Mapping[str, int]] = []
        problem: Exception | None = None
        raw = ""
        for _ in range(1 if request.schema is None else 2):
            reply = self._next()
            raw = reply["text"]
            usages.append(reply.get("usage", _USUAL))
            try:
                output = self._parsed(request, raw)
            except (ValueError, ValidationError) as error:
                problem = error
                continue
            return JudgeReply(
                output,
                raw_output=raw,
                usage=_summed(usages),
                attempt_count=len(usages),
                model_call_count=len(usages),
            )
        raise JudgeError(
            f"the reply breaks the format: {problem}",
            facts=JudgeFacts(
                code="format",
                raw_output=raw,
                usage=_summed(usages),
                finish_reason="error",
                attempt_count=len(usages),
                model_call_count=len(usages),
            ),
        )

    def _next(self) -> Reply:
        reply = self.script[min(self._calls, len(self.script) - 1)]
        self._calls += 1
        if "throw" in reply:
            raise JudgeError(
                reply["throw"], facts=JudgeFacts(finish_reason="error")
            ) from ModelError(reply["throw"])
        return reply

    def _parsed(self, request: JudgeRequest, text: str) -> Any:
        if request.schema is None:
            return text
        if self.parse is not None:
            return self.parse(request, text)
        return request.schema.model_validate(json.loads(text))


def _summed(usages: Sequence[Mapping[str, int]]) -> TokenUsage:
    """Return the sum of the counts; an absent total is the sum of the parts there are."""
    counts: dict[str, int] = {}
    for usage in usages:
        whole = {"totalTokens": sum(usage.get(part, 0) for part in _PARTS), **usage}
        for name, count in whole.items():
            counts[_COUNTS[name]] = counts.get(_COUNTS[name], 0) + count
    return TokenUsage(**counts)
