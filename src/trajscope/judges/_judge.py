"""A judge that is a model: asked, asked once more after a broken reply, waited for within bounds.

One thing a newcomer would get wrong: two kinds of retry. A reply that breaks the schema is put to
the model once more (`attempt_count` 2); a provider that is busy or down is waited for, and that is
no attempt of the judge.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trajscope.errors import UsageError
from trajscope.judges._reply import BrokenReply, read_reply
from trajscope.judges._usage import cost_of, sum_usage, usage_of
from trajscope.model.judge import JudgeError, JudgeFacts, JudgeReply, JudgeRequest, TokenUsage

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET = 6
SHOWN_REPLY = 200
"""Characters of a broken reply that its message shows; all of it is in the facts."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a judge is waited for.

    timeout_s: one call of the model, in seconds. tries: calls in all while the provider answers
    429, 5xx or not at all. wait_s: before the second call, doubled each time, and up to a quarter
    more, so that many do not come back at once; `Retry-After` counts instead where the provider
    names it. max_wait_s: longest wait between two calls; who is asked to wait longer gives up.
    """

    timeout_s: float = 120
    tries: int = 4
    wait_s: float = 1
    max_wait_s: float = 30


@dataclass
class _Spent:
    """What one question has cost so far."""

    attempts: int = 0
    calls: int = 0
    usage: TokenUsage | None = None
    cost: float | None = None
    finish_reason: str | None = None
    raw_output: str | None = None

    def add(self, response: ModelResponse) -> None:
        self.calls += 1
        self.usage = sum_usage(self.usage, usage_of(response))
        cost = cost_of(response)
        known = self.calls == 1 or self.cost is not None
        self.cost = (self.cost or 0.0) + cost if known and cost is not None else None
        self.finish_reason = response.finish_reason
        details = response.provider_details or {}
        self.raw_output = response.text or str(details.get("refusal") or "")

    def facts(self, code: str) -> JudgeFacts:
        return JudgeFacts(
            code=code,
            raw_output=self.raw_output,
            usage=self.usage,
            finish_reason=self.finish_reason,
            attempt_count=max(1, self.attempts),
            model_call_count=self.calls,
            cost=self.cost,
        )


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model of any provider pydantic-ai knows.

    make: gives the model; called once per event loop, since connections belong to one. Questions
    that are open at the same time share them, and the last one closes them.
    """

    make: Callable[[], Model] = field(repr=False)
    model_id: str
    provider: str | None
    patience: Patience = Patience()
    _models: dict[asyncio.AbstractEventLoop, Model] = field(
        default_factory=dict, repr=False, compare=False
    )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Put one question; once more when the reply breaks the schema.

        Raises:
            JudgeError: no usable reply came; `facts.code` is `format`, `timeout`, `rate_limit`,
                `server`, `refusal` or `request`.
        """
        model = self._model(asyncio.get_running_loop())
        async with model:
            return await self._ask(model, request, _Spent())

    def _model(self, loop: asyncio.AbstractEventLoop) -> Model:
        if loop not in self._models:
            for other in list(self._models):
                if other.is_closed():
                    self._models.pop(other, None)
            self._models[loop] = self.make()
        return self._models[loop]

    async def _ask(self, model: Model, request: JudgeRequest, spent: _Spent) -> JudgeReply:
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        instructions = _instructions(request)
        history: list[ModelMessage] = [
            ModelRequest([UserPromptPart(request.prompt)], instructions=instructions)
        ]
        while True:
            spent.attempts += 1
            response = await self._call(model, history, request, spent)
            spent.add(response)
            text = spent.raw_output or ""
            if response.finish_reason == "content_filter":
                said = f" (got {text[:SHOWN_REPLY]!r})" if text else ""
                raise self._error(f"the model refused to judge{said}", "refusal", spent)
            try:
                output = _output(text, request, cut=response.finish_reason == "length")
            except BrokenReply as error:
                if spent.attempts > 1:
                    said = f"{error} (got {text[:SHOWN_REPLY]!r})"
                    raise self._error(said, "format", spent) from error
                again = f"{error}. Answer with that one JSON object and nothing else."
                history += [
                    response,
                    ModelRequest([UserPromptPart(again)], instructions=instructions),
                ]
            else:
                return JudgeReply(
                    output,
                    raw_output=text,
                    usage=spent.usage,
                    finish_reason=spent.finish_reason,
                    attempt_count=spent.attempts,
                    model_call_count=spent.calls,
                    cost=spent.cost,
                )

    async def _call(
        self, model: Model, history: list[ModelMessage], request: JudgeRequest, spent: _Spent
    ) -> ModelResponse:
        """Call the model, waiting while its provider is busy or down."""
        from pydantic_ai import direct, exceptions

        patience = self.patience
        for number in range(1, patience.tries + 1):
            try:
                async with asyncio.timeout(patience.timeout_s):
                    return await direct.model_request(
                        model, history, model_request_parameters=_parameters(model, request)
                    )
            except (TimeoutError, exceptions.ModelTimeoutError) as error:
                said = f"no reply within {patience.timeout_s:g} s"
                raise self._error(said, "timeout", spent) from error
            except exceptions.ContentFilterError as error:
                raise self._error("the model refused to judge", "refusal", spent) from error
            except exceptions.ModelAPIError as error:
                status = getattr(error, "status_code", None)
                wait = _wait(error, number, patience)
                if not _may_pass(error, status) or number == patience.tries or wait is None:
                    said = hidden(_said(error, status), model)
                    raise self._error(said, _code(error, status), spent) from error
                await asyncio.sleep(wait)
            except exceptions.UserError as error:
                raise UsageError(hidden(f"judge {self.model_id}: {error}", model)) from error
            except exceptions.AgentRunError as error:
                said = hidden(f"an unusable answer ({str(error)[:SHOWN_REPLY]})", model)
                raise self._error(said, "server", spent) from error
        raise AssertionError  # the last try returns or raises

    def _error(self, said: str, code: str, spent: _Spent) -> JudgeError:
        hint = {
            "rate_limit": "ask fewer at once, or later (Patience.tries, Patience.max_wait_s)",
            "timeout": "give it more time (Patience.timeout_s), or take a faster model",
            "request": "check the model's name and the key",
        }.get(code)
        return JudgeError(f"judge {self.model_id}: {said}", facts=spent.facts(code), hint=hint)


def _instructions(request: JudgeRequest) -> str:
    if request.schema is None:
        return request.instructions
    schema = json.dumps(request.schema.model_json_schema(), sort_keys=True)
    asked = (
        "Answer with one JSON object and nothing else: no code fence, no words around it. "
        f"It keeps this JSON schema: {schema}"
    )
    return f"{request.instructions}\n\n{asked}".strip()


def _parameters(model: Model, request: JudgeRequest) -> Any:
    """Ask for structured output where the provider can hold a reply to a schema itself."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if request.schema is None or not model.profile.get("supports_json_schema_output"):
        return ModelRequestParameters()
    definition = OutputObjectDefinition(
        json_schema=request.schema.model_json_schema(), name=request.schema.__name__
    )
    return ModelRequestParameters(output_mode="native", output_object=definition)


def _output(text: str, request: JudgeRequest, *, cut: bool) -> Any:
    if cut and request.schema is not None:
        raise BrokenReply("the reply was cut off at its longest; a shorter one was expected")
    if request.schema is not None:
        return read_reply(text, request.schema, request.prompt)
    if not text.strip():
        raise BrokenReply("the reply is empty; a text was expected")
    return text


def _may_pass(error: Exception, status: int | None) -> bool:
    from pydantic_ai.exceptions import ModelConnectionError, ModelQuotaExceededError

    if isinstance(error, ModelQuotaExceededError):
        return False
    return status in _BUSY if status is not None else isinstance(error, ModelConnectionError)


def _said(error: Exception, status: int | None) -> str:
    said = f"cannot be reached ({error}" if status is None else f"its provider answered {status} ("
    body = "" if status is None else str(getattr(error, "body", None) or "no more was said")
    return f"{said}{body}"[:SHOWN_REPLY] + ")"


def _code(error: Exception, status: int | None) -> str:
    from pydantic_ai.exceptions import ModelQuotaExceededError

    if status == 429 and not isinstance(error, ModelQuotaExceededError):
        return "rate_limit"
    return "server" if status is None or status >= 500 else "request"


def _wait(error: ModelAPIError, number: int, patience: Patience) -> float | None:
    """Return the seconds to wait; None where the provider asks for more than is allowed."""
    if error.retry_after is not None:
        asked = float(error.retry_after)
        return asked if asked <= patience.max_wait_s else None
    longest: float = min(patience.wait_s * 2 ** (number - 1), patience.max_wait_s)
    return longest + random.uniform(0, longest / 4)  # noqa: S311 - no secret


def hidden(text: str, model: Any = None) -> str:
    """Return a text without the keys of the model and of the environment, should it quote one."""
    key = getattr(getattr(model, "client", None), "api_key", None)
    named = [value for name, value in os.environ.items() if name.upper().endswith(_SECRET)]
    for secret in (key, *named):
        if isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    return text
