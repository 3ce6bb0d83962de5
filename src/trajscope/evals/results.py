"""What a run of a scorer gave: score, reason, step results, prompts and the record of each judge.

One thing a newcomer would get wrong: a score of None is no 0; `not_scorable` then says which step
could not judge the run and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from trajscope.evals.steps import A_co, P_co, Run, StepResults
from trajscope.model.judge import TokenUsage


@dataclass(frozen=True, slots=True)
class JudgeExecution:
    """One question put to a judge.

    A success has output and usage. A failure has error (name, message, code if known) and what
    is known of raw_output, usage and finish_reason; it has an output only if the reply had been
    validated before something else failed. duration_ms: milliseconds, whole. cost: US dollars,
    where the provider reports it.
    """

    status: Literal["success", "failed"]
    prompt: str
    judge_model_id: str
    judge_provider: str | None
    attempt_count: int
    model_call_count: int
    duration_ms: int
    output: Any = None
    usage: TokenUsage | None = None
    cost: float | None = None
    finish_reason: str | None = None
    raw_output: str | None = None
    error: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record under the reference's names; what is not known is left out."""
        out = {to_camel(f.name): getattr(self, f.name) for f in fields(self)}
        if self.usage is not None:
            out["usage"] = _usage_json(self.usage)
        return {name: jsonable(value) for name, value in out.items() if value is not None}


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What was asked of a judge in one step."""

    executions: tuple[JudgeExecution, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the record under the reference's names."""
        return {"executions": [one.to_json() for one in self.executions]}


@dataclass(frozen=True, slots=True, repr=False)
class ScorerResult(Generic[P_co, A_co]):
    """What a run of a scorer gave.

    score: None with a `not_scorable` (step, reason) when the run could not be judged. results,
    prompts, judge: by step name, of the steps that ran; a prompt only of those a judge took.
    """

    run: Run
    score: Any = None
    reason: Any = None
    not_scorable: Mapping[str, Any] | None = None
    results: StepResults[P_co, A_co] = field(default_factory=lambda: StepResults({}))
    prompts: Mapping[str, str] = field(default_factory=dict)
    judge: Mapping[str, JudgeRecord] = field(default_factory=dict)

    def __repr__(self) -> str:
        # Short: asyncio.run writes out what it returns, and the run may hold a whole trajectory.
        said = f"score={self.score!r}, reason={self.reason!r:.80}"
        if self.not_scorable is not None:
            said = f"not_scorable={dict(self.not_scorable)!r:.120}"
        return f"ScorerResult(run_id={self.run_id!r:.80}, {said})"

    @property
    def run_id(self) -> Any:
        """The id of the run."""
        return self.run.run_id

    def to_members(self) -> dict[str, Any]:
        """Return the members of the run under the reference's names."""
        return {_MEMBER_NAMES.get(key, key): jsonable(v) for key, v in self.run.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the reference's result object: run members, score, reason, results, judges."""
        out = self.to_members()
        if self.not_scorable is not None:
            out["notScorable"] = dict(self.not_scorable)
        elif "generate_score" in self.results:
            out["score"] = self.score
        if "generate_reason" in self.results:
            out["reason"] = jsonable(self.reason)
        for name in ("preprocess", "analyze"):
            if name in self.results:
                out[f"{name}StepResult"] = jsonable(self.results[name])
        out.update({f"{to_camel(name)}Prompt": text for name, text in self.prompts.items()})
        if self.judge:
            out["judge"] = {to_camel(name): one.to_json() for name, one in self.judge.items()}
        return out


_MEMBER_NAMES = {
    name: to_camel(name)
    for name in ("run_id", "ground_truth", "expected_trajectory", "request_context")
}


def jsonable(value: Any) -> Any:
    """Return the JSON of a value; what is no JSON and no model either is left as it is.

    >>> jsonable((1, {"a": None}))
    [1, {'a': None}]
    """
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    try:
        return to_jsonable_python(value, by_alias=True, inf_nan_mode="constants")
    except PydanticSerializationError:
        return value


def _usage_json(usage: TokenUsage) -> dict[str, int]:
    """Return the known counts; an absent total is the sum when both parts are known."""
    known = {to_camel(f.name): getattr(usage, f.name) for f in fields(usage)}
    parts = (usage.input_tokens, usage.output_tokens)
    if usage.total_tokens is None and None not in parts:
        known["totalTokens"] = sum(count for count in parts if count is not None)
    return {name: count for name, count in known.items() if count is not None}
