"""Scorers and evaluations written down as data, as the vectors have them, run through our code.

A program is `{"config", "steps", "run", "judgeScript"?}`; what a step does is one of its members
(`return`, `throw`, `prompt`, …). Only what JavaScript can and Python cannot say is translated here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
from pydantic import BaseModel, RootModel, model_validator

from tests.support.judges import ScriptedJudge
from trajscope.evals.material import TargetReply
from trajscope.evals.results import ScorerResult
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer, not_scorable
from trajscope.match.js import UNDEFINED
from trajscope.pipeline.evals import run_evals_sync

Json = Any

_METHODS = {
    "preprocess": "preprocess",
    "analyze": "analyze",
    "generateScore": "generate_score",
    "generateReason": "generate_reason",
}
_PROMPTS = [f"{name}Prompt" for name in _METHODS]
_PRESENT = ("score", _PROMPTS[2], "reason", _PROMPTS[3], "preprocessStepResult", _PROMPTS[0])
_KEYS = (*_PRESENT, "analyzeStepResult", _PROMPTS[1])
"""What a result of the reference always has, in its order; ours leaves undefined members out."""

_CODES = {"format": "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED"}


class ThrownError(Exception):
    """What a program throws; kind: how the vectors call it."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def run_program(program: Json) -> Json:
    """Return what the scorer of a program gives, as the vectors write it."""
    executed: list[str] = []
    judge = ScriptedJudge(program["judgeScript"]) if "judgeScript" in program else None
    scorer = make_scorer(program, judge, executed)
    result = result_json(scorer.run_sync(program["run"]))
    absent = [key for key in _KEYS if result.get(key, UNDEFINED) is UNDEFINED]
    if "notScorable" in result:
        absent.remove("score")
    return {"result": result, "presentKeys": absent, "executed": executed}


def run_evaluation(given: Json) -> Json:
    """Return what an evaluation gives whose agent answers with the replies in turn."""
    replies, calls = given["replies"], 0

    def agent(_input: Any) -> TargetReply:
        nonlocal calls
        reply = replies[calls % len(replies)]
        calls += 1
        if "throw" in reply:
            raise ThrownError(reply["throw"], "error")
        return TargetReply(reply["output"], reply["input"])

    result = run_evals_sync(
        data=_scored_turns(given["data"]),
        target=agent,
        scorers=_entries(given.get("scorers", ())),
        gates=_entries(given.get("gates", ())),
        compat="mastra",
    )
    return result.to_json()


def _scored_turns(data: Json) -> Json:
    """Return data whose turns have scorers instead of programs."""
    if isinstance(data, list):
        return [_scored_turns(item) for item in data]
    if not isinstance(data, dict):
        return data
    keys = {"turns": _scored_turns, "scorers": _entries, "gates": _entries}
    return {key: keys.get(key, _same)(value) for key, value in data.items()}


def _entries(value: Json) -> Json:
    """Return a list, a mapping of lists, or an entry, with scorers instead of programs."""
    if isinstance(value, list):
        return [_entries(entry) for entry in value]
    if isinstance(value, dict) and "config" in value:
        return make_scorer(value)
    if isinstance(value, dict):
        return {key: value[key] if key == "threshold" else _entries(value[key]) for key in value}
    return value


def _same(value: Json) -> Json:
    return value


def make_scorer(
    program: Json, judge: ScriptedJudge | None = None, executed: list[str] | None = None
) -> StepScorer[Any, Any]:
    """Return the scorer of a program; the steps that run are noted in `executed`."""
    ran = [] if executed is None else executed
    scorer: StepScorer[Any, Any] = create_scorer(**program["config"], judge=judge, compat="mastra")
    for step in program["steps"]:
        scorer = _with(scorer, step, ran)
    return scorer


def result_json(result: ScorerResult[Any, Any]) -> dict[str, Json]:
    """Return a result's JSON with the names JavaScript gives to a judge's errors."""
    out = result.to_json()
    for record in out.get("judge", {}).values():
        for execution in record["executions"]:
            error = execution.get("error")
            if error is not None:
                error["name"] = "Error"
                error.update({"code": _CODES[error["code"]]} if "code" in error else {})
    return out


def _with(scorer: StepScorer[Any, Any], step: Json, ran: list[str]) -> StepScorer[Any, Any]:
    add: Callable[..., StepScorer[Any, Any]] = getattr(scorer, _METHODS[step["step"]])
    if "prompt" not in step:
        return add(_function(step, ran))
    prompt = step["prompt"]

    def create_prompt(context: StepContext) -> str:
        ran.append(f"prompt:{step['step']}")
        if "throw" in prompt:
            raise ThrownError(prompt["throw"], "error")
        return str(prompt["text"])

    schema = {"output_schema": _model(prompt["schema"])} if "schema" in prompt else {}
    return add(create_prompt=create_prompt, **schema)


def _function(step: Json, ran: list[str]) -> Callable[[StepContext], Any]:
    def function(context: StepContext) -> Any:
        ran.append(step["step"])
        return _act(step, context)

    return function


def _act(step: Json, context: StepContext) -> Any:
    if "throw" in step:
        raise _thrown(step["throw"])
    if "notScorable" in step:
        return not_scorable(step["notScorable"].get("reason"))
    if "returnResults" in step:
        names = {ours: f"{theirs}StepResult" for theirs, ours in _METHODS.items()}
        return {names[name]: value for name, value in context.results.items()}
    if "returnScore" in step:
        known = "generate_score" in context.results
        return {"score": context.score} if known else {}
    if "returnRun" in step:
        return dict(context.run)
    if "returnAfterAwait" in step:
        return _later(step["returnAfterAwait"])
    return step.get("return", UNDEFINED)


async def _later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def _thrown(thrown: Json) -> ThrownError:
    """Return the exception for a thrown value; those without words get the reference's own."""
    value = thrown.get("value", thrown)
    if isinstance(value, str) and value:
        return ThrownError(value, "error")
    if isinstance(value, Mapping | list) and "value" in thrown:
        text = value.get("message") if isinstance(value, Mapping) else None
        return ThrownError(text if isinstance(text, str) else json.dumps(value), "error")
    if "message" in thrown:
        kind = "range_error" if thrown.get("type") == "RangeError" else "error"
        return ThrownError(thrown["message"], kind)
    return ThrownError("", "fallback_message")


def _model(schema: Json) -> type[BaseModel]:
    class Structured(RootModel[Any]):
        @model_validator(mode="after")
        def _keeps_the_schema(self) -> Structured:
            try:
                jsonschema.validate(self.root, schema)
            except jsonschema.ValidationError as error:
                raise ValueError(error.message) from error
            return self

    return Structured
