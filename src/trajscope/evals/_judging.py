"""How a step that is a prompt runs: the judge is found, asked once, and its reply recorded.

One thing a newcomer would get wrong: the second try after a broken format is the judge's own; here
every question is put once, and a reply that does not keep the schema is a failure, never a guess.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from trajscope.errors import UsageError
from trajscope.evals.error import cause_text
from trajscope.evals.results import JudgeExecution
from trajscope.evals.steps import PromptStep, ScorerStep, StepContext
from trajscope.model.judge import JudgeError, JudgeFacts, JudgeReply, JudgeRequest
from trajscope.ports import Judge, JudgeResolver
from trajscope.registry import provided

_RESOLVER = "trajscope.judges:resolve_judge"


class JudgedScore(BaseModel):
    """What a judge answers to the prompt of generate_score."""

    model_config = ConfigDict(strict=True)

    score: float


class MissingJudge(UsageError):  # noqa: N818 - it says what is wrong
    """A prompt step has nobody to ask."""

    kind = "judge_config_missing"


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one question: the value, or the error, and its record.

    execution: None when nobody was asked. prompt: None when there is none.
    """

    value: Any = None
    prompt: str | None = None
    execution: JudgeExecution | None = None
    error: Exception | None = None

    def failed(self, error: Exception) -> Asked:
        """Return the same question, failed after its reply had been validated."""
        if self.execution is None:
            return replace(self, error=error)
        record = replace(self.execution, status="failed", error=_error_json(error, None))
        return replace(self, error=error, execution=record)


async def ask(
    step: ScorerStep,
    prompted: PromptStep,
    context: StepContext,
    judge: Judge | str | None,
    instructions: str,
) -> Asked:
    """Put the step's question to its own judge, else to the scorer's."""
    try:
        prompt = await _prompt(prompted, context)
        asked = _found(prompted.judge if prompted.judge is not None else judge)
    except Exception as error:
        return Asked(error=error)
    request = JudgeRequest(
        prompt,
        instructions if prompted.instructions is None else prompted.instructions,
        JudgedScore if step.name == "generate_score" else prompted.output_schema,
    )
    start = time.monotonic_ns()
    reply: JudgeReply | None = None
    try:
        reply = _reply(await asked.ask(request))
        output = _validated(request, reply)
    except Exception as error:
        facts = _facts(error, reply)
        record = JudgeExecution(
            "failed",
            prompt,
            asked.model_id,
            asked.provider,
            facts.attempt_count,
            facts.model_call_count,
            _ms_since(start),
            output=facts.output,
            usage=facts.usage,
            cost=facts.cost,
            finish_reason=facts.finish_reason,
            raw_output=facts.raw_output,
            error=_error_json(error, facts.code),
        )
        return Asked(None, prompt, record, error)
    value = output.score if isinstance(output, JudgedScore) else output
    record = JudgeExecution(
        "success",
        prompt,
        asked.model_id,
        asked.provider,
        reply.attempt_count,
        reply.model_call_count,
        _ms_since(start),
        output=value,
        usage=reply.usage,
        cost=reply.cost,
    )
    return Asked(value, prompt, record)


async def _prompt(step: PromptStep, context: StepContext) -> str:
    made = step.create_prompt(context)
    prompt = await made if isawaitable(made) else made
    if not isinstance(prompt, str):
        raise UsageError(f"the prompt is no text (got {prompt!r:.80}); create_prompt returns one")
    return prompt


def _found(judge: Judge | str | None) -> Judge:
    if judge is None:
        raise MissingJudge(
            "the step is a prompt and there is no judge to ask",
            hint="give judge= to create_scorer, or to the step",
        )
    if not isinstance(judge, str):
        return judge
    resolve: JudgeResolver = provided(_RESOLVER)
    return resolve(judge)


def _reply(given: object) -> JudgeReply:
    """Return what a judge gave; one of the user's may give anything."""
    if isinstance(given, JudgeReply):
        return given
    raise JudgeError(
        f"the judge gave {given!r:.80}; a JudgeReply was expected",
        facts=JudgeFacts(code="format", model_call_count=1),
    )


def _validated(request: JudgeRequest, reply: JudgeReply) -> Any:
    """Return the reply's output, held against the schema: a judge of the user's may not have.

    Raises:
        JudgeError: it does not keep the schema, or is no text where a text was asked for.
    """
    output = reply.output
    if request.schema is None:
        if isinstance(output, str):
            return output
        problem = f"the reply is no text (got {output!r:.80})"
    elif isinstance(output, request.schema):
        return output
    else:
        try:
            return request.schema.model_validate(output)
        except ValidationError as error:
            problem = f"the reply does not keep the schema {request.schema.__name__}: {error}"
    raise JudgeError(problem, facts=replace(_facts_of(reply), code="format"))


def _facts(error: Exception, reply: JudgeReply | None) -> JudgeFacts:
    if isinstance(error, JudgeError):
        return error.facts
    return JudgeFacts() if reply is None else _facts_of(reply)


def _facts_of(reply: JudgeReply) -> JudgeFacts:
    return JudgeFacts(
        raw_output=reply.raw_output,
        usage=reply.usage,
        finish_reason=reply.finish_reason,
        attempt_count=reply.attempt_count,
        model_call_count=reply.model_call_count,
        cost=reply.cost,
    )


def _error_json(error: Exception, code: str | None) -> dict[str, str]:
    found = {"name": type(error).__name__, "message": cause_text(error)}
    return found if code is None else {**found, "code": code}


def _ms_since(start_ns: int) -> int:
    return (time.monotonic_ns() - start_ns) // 1_000_000
