"""`create_scorer`: a scorer of your own from up to four functions, and how it runs.

One thing a newcomer would get wrong: the steps run in the fixed order preprocess, analyze,
generate_score, generate_reason whatever the order of the calls; only `compat="mastra"` runs them
in the order they were added, as the reference does.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Any, Literal
from uuid import uuid4

from trajscope.errors import UsageError
from trajscope.evals.error import ScorerRunError

Compat = Literal["mastra"]
StepName = Literal["preprocess", "analyze", "generate_score", "generate_reason"]
STEP_NAMES: tuple[StepName, ...] = ("preprocess", "analyze", "generate_score", "generate_reason")
"""The steps of a scorer, in the order they run."""

_CAMEL: dict[StepName, str] = {
    "preprocess": "preprocess",
    "analyze": "analyze",
    "generate_score": "generateScore",
    "generate_reason": "generateReason",
}


@dataclass(frozen=True, slots=True)
class NotScorable:
    """What a step returns when the run cannot be judged, with the reason."""

    reason: str | None = None


def not_scorable(reason: str | None = None) -> NotScorable:
    """Return the value with which a step says that this run cannot be judged.

    >>> not_scorable("no answer").reason
    'no answer'
    """
    return NotScorable(reason)


@dataclass(frozen=True, slots=True)
class StepContext:
    """What a step function is given.

    run: the members of the run (`input`, `output`, `run_id`, …). results: what earlier steps
    returned, by step name. score: the score, for generate_reason only.
    """

    run: Mapping[str, Any]
    results: Mapping[str, Any]
    score: Any = None


StepFunction = Callable[[StepContext], Any | Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """What a run of a scorer gave.

    score: None with a `not_scorable` when the run could not be judged. results: what each step
    returned, by step name.
    """

    run: Mapping[str, Any]
    score: Any = None
    reason: Any = None
    not_scorable: Mapping[str, Any] | None = None
    results: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the reference's result object: the run's members, score, reason, step results."""
        out = dict(self.run)
        if self.not_scorable is not None:
            out["notScorable"] = dict(self.not_scorable)
        elif "generate_score" in self.results:
            out["score"] = self.score
        if "generate_reason" in self.results:
            out["reason"] = self.reason
        for name in ("preprocess", "analyze"):
            if name in self.results:
                out[f"{name}StepResult"] = self.results[name]
        return out


@dataclass(frozen=True, slots=True)
class _Step:
    name: StepName
    function: StepFunction


@dataclass(frozen=True, slots=True)
class StepScorer:
    """A scorer made of steps. Every method that adds one returns a new scorer."""

    id: str
    name: str
    description: str = ""
    compat: Compat | None = None
    steps: tuple[_Step, ...] = ()

    def preprocess(self, function: StepFunction) -> StepScorer:
        """Return the scorer with a first step that prepares what the others need."""
        return self._with("preprocess", function)

    def analyze(self, function: StepFunction) -> StepScorer:
        """Return the scorer with a step that finds what the score is made of."""
        return self._with("analyze", function)

    def generate_score(self, function: StepFunction) -> StepScorer:
        """Return the scorer with the step that gives the score, 0 to 1."""
        return self._with("generate_score", function)

    def generate_reason(self, function: StepFunction) -> StepScorer:
        """Return the scorer with a last step that says why."""
        return self._with("generate_reason", function)

    async def run(self, run: Mapping[str, Any] | None = None, /, **members: Any) -> ScorerResult:
        """Run the steps on one run, given as a mapping, as keywords, or both.

        Raises:
            UsageError: the scorer has no generate_score step.
            ScorerRunError: a step raised, or the score is no number from 0 to 1.
        """
        if not any(step.name == "generate_score" for step in self.steps):
            raise UsageError(
                f"scorer {self.id}: has no generate_score step; a scorer needs one to run",
                hint="add .generate_score(lambda context: …)",
            )
        data = self._run_data({**(run or {}), **members})
        results: dict[str, Any] = {}
        done: list[StepName] = []
        for step in self._ordered():
            score = results.get("generate_score") if step.name == "generate_reason" else None
            try:
                value = step.function(StepContext(data, dict(results), score))
                value = await value if isawaitable(value) else value
                if step.name == "generate_score" and self.compat is None:
                    value = _checked_score(value)
            except Exception as error:
                raise self._error(step.name, done, data, results, error) from error
            if isinstance(value, NotScorable):
                return self._unscored(step.name, value, data, results)
            results[step.name] = value
            if step.name not in done:
                done.append(step.name)
        return ScorerResult(
            data, results["generate_score"], results.get("generate_reason"), None, results
        )

    def run_sync(self, run: Mapping[str, Any] | None = None, /, **members: Any) -> ScorerResult:
        """Run the steps and wait for them; works inside a running event loop (a notebook) too.

        Raises:
            UsageError, ScorerRunError: as `run` does.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(run, **members))
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(lambda: asyncio.run(self.run(run, **members))).result()

    def _with(self, name: StepName, function: StepFunction) -> StepScorer:
        if not callable(function):
            raise UsageError(
                f"scorer {self.id}, step {name}: is no function (got {function!r:.80})"
            )
        if self.compat is None and any(step.name == name for step in self.steps):
            raise UsageError(f"scorer {self.id}: has a {name} step already; one was expected")
        return replace(self, steps=(*self.steps, _Step(name, function)))

    def _ordered(self) -> tuple[_Step, ...]:
        if self.compat is not None:
            return self.steps
        return tuple(sorted(self.steps, key=lambda step: STEP_NAMES.index(step.name)))

    def _run_data(self, members: dict[str, Any]) -> dict[str, Any]:
        members.pop("_internal", None)
        key = "run_id" if self.compat is None else "runId"
        if not members.get(key):
            members[key] = str(uuid4())
        return members

    def _label(self, name: StepName) -> str:
        return name if self.compat is None else _CAMEL[name]

    def _unscored(
        self, name: StepName, value: NotScorable, data: dict[str, Any], results: dict[str, Any]
    ) -> ScorerResult:
        """Return the result of a run that a step called not scorable.

        A reason that cannot be given takes nothing from a score that was; the reference drops it.
        """
        if name == "generate_reason" and self.compat is None:
            return ScorerResult(data, results["generate_score"], value.reason, None, results)
        mark = {"step": self._label(name)}
        if value.reason is not None:
            mark["reason"] = value.reason
        return ScorerResult(data, None, None, mark, results)

    def _error(
        self,
        name: StepName,
        done: list[StepName],
        data: dict[str, Any],
        results: dict[str, Any],
        error: Exception,
    ) -> ScorerRunError:
        return ScorerRunError(
            self.id,
            steps=tuple(self._label(step.name) for step in self._ordered()),
            failed_step=self._label(name),
            completed_steps=tuple(self._label(n) for n in done if n != name),
            cause=error,
            result=ScorerResult(data, results.get("generate_score"), None, None, results).to_json()
            if results
            else None,
        )


def _checked_score(value: Any) -> Any:
    """Return the score: a finite number from 0 to 1, None, or not scorable.

    Raises:
        UsageError: it is anything else.
    """
    if value is None or isinstance(value, NotScorable):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(
            f"the score is no number (got {value!r:.80}); a finite number was expected"
        )
    if not 0 <= value <= 1:
        raise UsageError(
            f"the score is out of range (got {value}); 0 to 1 was expected",
            hint="divide by the largest possible value",
        )
    return value


def create_scorer(
    *,
    id: str,
    name: str | None = None,
    description: str = "",
    compat: Compat | None = None,
) -> StepScorer:
    """Return a scorer without steps; add them with its methods.

    Raises:
        UsageError: `id` is empty or no text, or `compat` is unknown.

    >>> scorer = create_scorer(id="short").generate_score(lambda c: float(len(c.run["output"]) < 9))
    >>> scorer.run_sync(output="four").score
    1.0
    """
    if not isinstance(id, str) or not id:
        raise UsageError(f"id: is empty or no text (got {id!r}); a scorer needs an id")
    check_compat(compat)
    return StepScorer(id, name or id, description, compat)


def check_compat(compat: str | None) -> None:
    """Refuse an unknown `compat`.

    Raises:
        UsageError: it is neither None nor "mastra".
    """
    if compat not in (None, "mastra"):
        raise UsageError(
            f"compat: is unknown (got {compat!r})", hint='choose None (the default) or "mastra"'
        )
