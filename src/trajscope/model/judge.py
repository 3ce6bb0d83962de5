"""What a judge is asked and what it answers: values between scorers and model libraries.

One thing a newcomer would get wrong: a reply that breaks the schema is a `JudgeError`, never an
output, and what the model said then stands in `raw_output` only; nothing is parsed out of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from trajscope.errors import TrajscopeError


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of the model calls behind one reply, summed; None is not reported.

    cached_input_tokens and cache_creation_input_tokens are part of input_tokens, reasoning_tokens
    of output_tokens.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question to a model.

    prompt: the user message; hostile text in it is already fenced. instructions: the system
    message. schema: the pydantic model of a structured reply; None asks for plain text.
    """

    prompt: str
    instructions: str = ""
    schema: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a model answered.

    output: an instance of the request's schema, or the text. attempt_count: how often the whole
    question was put (2 after a format error). model_call_count: requests that reached the model.
    cost: US dollars, where the provider reports it.
    """

    output: Any
    raw_output: str | None = None
    usage: TokenUsage | None = None
    finish_reason: str | None = None
    attempt_count: int = 1
    model_call_count: int = 1
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What is known of a judge call that gave no reply; counts as in `JudgeReply`.

    code: what kind of failure: `format`, `timeout`, `rate_limit`, `server`, `refusal`, `request`,
    `model` or None.
    """

    code: str | None = None
    raw_output: str | None = None
    usage: TokenUsage | None = None
    finish_reason: str | None = None
    attempt_count: int = 1
    model_call_count: int = 0
    cost: float | None = None
    output: Any = field(default=None)


class JudgeError(TrajscopeError):
    """A judge gave no usable reply; `facts` says what is known. The cause is `__cause__`."""

    def __init__(self, message: str, *, facts: JudgeFacts, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.facts = facts
