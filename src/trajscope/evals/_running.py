"""One run of a scorer: its steps in order, what they gave, and what is known when one fails.

One thing a newcomer would get wrong: whatever a step raises becomes a `ScorerRunError` with all
that was known until then; only a cancelled run and an interrupt pass through as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_json

from trajscope.errors import UsageError
from trajscope.evals._judging import Asked, ask
from trajscope.evals.error import ScorerRunError
from trajscope.evals.results import JudgeRecord, ScorerResult
from trajscope.evals.steps import (
    Compat,
    NotScorable,
    PromptStep,
    Run,
    ScorerStep,
    StepContext,
    StepName,
    StepResults,
)
from trajscope.match.js import UNDEFINED
from trajscope.ports import Judge


class Running:
    """The state of one run: results, prompts and judges by step name, and which steps are done."""

    def __init__(
        self,
        scorer: str,
        run: Run,
        steps: Sequence[ScorerStep],
        *,
        judge: Judge | str | None,
        instructions: str,
        compat: Compat | None,
    ) -> None:
        self._scorer = scorer
        self._run = run
        self._steps = steps
        self._judge = judge
        self._instructions = instructions
        self._compat = compat
        self._results: dict[str, Any] = {}
        self._prompts: dict[str, str] = {}
        self._judged: dict[str, JudgeRecord] = {}
        self._done: list[StepName] = []

    async def result(self) -> ScorerResult:
        """Run the steps and return what they gave.

        Raises:
            ScorerRunError: a step failed.
        """
        for step in self._steps:
            value = await self._value(step)
            if isinstance(value, NotScorable):
                return self._unscored(step.name, value)
            self._results[step.name] = value
            if step.name not in self._done:
                self._done.append(step.name)
        return self._snapshot()

    async def _value(self, step: ScorerStep) -> Any:
        score = self._results.get("generate_score") if step.name == "generate_reason" else None
        context = StepContext(self._run, StepResults(dict(self._results)), score)
        if isinstance(step.does, PromptStep):
            return await self._asked(step, step.does, context)
        try:
            value = step.does(context)
            return self._checked(step.name, await value if isawaitable(value) else value)
        except Exception as error:
            raise self._error(step.name, error) from error

    async def _asked(self, step: ScorerStep, prompted: PromptStep, context: StepContext) -> Any:
        asked = await ask(step, prompted, context, self._judge, self._instructions)
        if asked.error is None:
            try:
                self._checked(step.name, asked.value)
            except UsageError as error:
                asked = asked.failed(error)
        self._record(step.name, asked)
        if asked.error is not None:
            raise self._error(step.name, asked.error) from asked.error
        if asked.prompt is not None:
            self._prompts[step.name] = asked.prompt
        return asked.value

    def _record(self, name: StepName, asked: Asked) -> None:
        if asked.execution is not None:
            before = self._judged.get(name, JudgeRecord())
            self._judged[name] = JudgeRecord((*before.executions, asked.execution))

    def _checked(self, name: StepName, value: Any) -> Any:
        """Return what a step returned, which must be a score, or must go into JSON.

        Raises:
            UsageError: it is neither.
        """
        if self._compat is not None or isinstance(value, NotScorable):
            return value
        if name == "generate_score":
            return _checked_score(value)
        try:
            to_json(value)
        except (PydanticSerializationError, ValueError) as error:
            raise UsageError(
                f"the result is no JSON ({error}); a value of JSON, a dataclass or a pydantic "
                "model was expected",
                hint="return the facts later steps need, and make objects from them there",
            ) from error
        return value

    def _label(self, name: StepName) -> str:
        return name if self._compat is None else to_camel(name)

    def _unscored(self, name: StepName, value: NotScorable) -> ScorerResult:
        """Return the result of a run that a step called not scorable.

        A reason that cannot be given takes nothing from a score that was; the reference drops it.
        """
        if name == "generate_reason" and self._compat is None:
            return self._snapshot(reason=value.reason)
        mark = {"step": self._label(name)}
        if value.reason is not None:
            mark["reason"] = value.reason
        return self._snapshot(not_scorable=mark)

    def _snapshot(
        self, *, reason: str | None = None, not_scorable: dict[str, str] | None = None
    ) -> ScorerResult:
        return ScorerResult(
            self._run,
            self._results.get("generate_score") if not_scorable is None else None,
            self._results.get("generate_reason", reason),
            not_scorable,
            StepResults(self._results),
            self._prompts,
            self._judged,
        )

    def _error(self, name: StepName, error: Exception) -> ScorerRunError:
        self._results.pop(name, None)
        self._prompts.pop(name, None)
        known = any(value is not UNDEFINED for value in self._results.values())
        return ScorerRunError(
            self._scorer,
            steps=tuple(self._label(step.name) for step in self._steps),
            failed_step=self._label(name),
            completed_steps=tuple(self._label(done) for done in self._done if done != name),
            cause=error,
            result=self._snapshot() if known or self._prompts or self._judged else None,
        )


def _checked_score(value: Any) -> Any:
    """Return the score: a finite number from 0 to 1.

    Raises:
        UsageError: it is anything else.
    """
    if value is None:
        raise UsageError(
            "the score is None; a finite number from 0 to 1 was expected",
            hint="return not_scorable(reason) when the run cannot be judged",
        )
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
