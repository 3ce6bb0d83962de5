"""`create_scorer`: a scorer of your own from up to four steps, each a function or a prompt.

One thing a newcomer would get wrong: the steps run in the fixed order preprocess, analyze,
generate_score, generate_reason whatever the order of the calls; only `compat="mastra"` runs them
in the order they were added, as the reference does.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import Any, Generic, Literal, cast, overload

from pydantic import BaseModel
from typing_extensions import TypeVar

from trajscope.errors import UsageError
from trajscope.evals._checks import check_judge, to_trajectory
from trajscope.evals._running import Running
from trajscope.evals.loop import wait_for
from trajscope.evals.results import ScorerResult
from trajscope.evals.steps import (
    STEP_NAMES,
    A_co,
    Compat,
    NotScorable,
    P_co,
    Run,
    ScorerStep,
    StepContext,
    StepName,
    check_compat,
    make_run,
    not_scorable,
    prompt_step,
)
from trajscope.ports import Judge

__all__ = [
    "STEP_NAMES",
    "Compat",
    "NotScorable",
    "ScorerResult",
    "ScorerType",
    "StepContext",
    "StepName",
    "StepScorer",
    "check_compat",
    "create_scorer",
    "not_scorable",
]

ScorerType = Literal["agent", "trajectory"]
"""What a scorer's runs hold as output: the agent's messages, or its trajectory."""

T = TypeVar("T", default=Any)
M = TypeVar("M", bound=BaseModel, default=BaseModel)

Schema = type[M]
Step = Callable[[StepContext[P_co, A_co]], T | NotScorable]
AsyncStep = Callable[[StepContext[P_co, A_co]], Awaitable[T | NotScorable]]
LastStep = Callable[[StepContext[P_co, A_co]], T | NotScorable | Awaitable[T | NotScorable]]
Prompt = Callable[[StepContext[P_co, A_co]], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class StepScorer(Generic[P_co, A_co]):
    """A scorer made of steps. Every method that adds one returns a new scorer.

    The type parameters are what preprocess and analyze return, None while there is no such step.
    """

    id: str
    name: str
    description: str = ""
    type: ScorerType | None = None
    judge: Judge | str | None = None
    instructions: str = ""
    compat: Compat | None = None
    steps: tuple[ScorerStep, ...] = ()

    @overload
    def preprocess(self, function: AsyncStep[P_co, A_co, T], /) -> StepScorer[T, A_co]: ...
    @overload
    def preprocess(self, function: Step[P_co, A_co, T], /) -> StepScorer[T, A_co]: ...
    @overload
    def preprocess(
        self,
        *,
        create_prompt: Prompt[P_co, A_co],
        output_schema: Schema[M],
        description: str = "",
        judge: Judge | str | None = None,
        instructions: str | None = None,
    ) -> StepScorer[M, A_co]: ...
    def preprocess(self, *function: Any, **prompt: Any) -> Any:
        """Return the scorer with a first step that prepares what the others need."""
        return self._with("preprocess", function, prompt)

    @overload
    def analyze(self, function: AsyncStep[P_co, A_co, T], /) -> StepScorer[P_co, T]: ...
    @overload
    def analyze(self, function: Step[P_co, A_co, T], /) -> StepScorer[P_co, T]: ...
    @overload
    def analyze(
        self,
        *,
        create_prompt: Prompt[P_co, A_co],
        output_schema: Schema[M],
        description: str = "",
        judge: Judge | str | None = None,
        instructions: str | None = None,
    ) -> StepScorer[P_co, M]: ...
    def analyze(self, *function: Any, **prompt: Any) -> Any:
        """Return the scorer with a step that finds what the score is made of."""
        return self._with("analyze", function, prompt)

    @overload
    def generate_score(
        self, function: LastStep[P_co, A_co, float], /
    ) -> StepScorer[P_co, A_co]: ...
    @overload
    def generate_score(
        self,
        *,
        create_prompt: Prompt[P_co, A_co],
        description: str = "",
        judge: Judge | str | None = None,
        instructions: str | None = None,
    ) -> StepScorer[P_co, A_co]: ...
    def generate_score(self, *function: Any, **prompt: Any) -> Any:
        """Return the scorer with the step that gives the score, 0 to 1.

        As a prompt it is answered by `{"score": number}`.
        """
        return self._with("generate_score", function, prompt)

    @overload
    def generate_reason(self, function: LastStep[P_co, A_co, Any], /) -> StepScorer[P_co, A_co]: ...
    @overload
    def generate_reason(
        self,
        *,
        create_prompt: Prompt[P_co, A_co],
        description: str = "",
        judge: Judge | str | None = None,
        instructions: str | None = None,
    ) -> StepScorer[P_co, A_co]: ...
    def generate_reason(self, *function: Any, **prompt: Any) -> Any:
        """Return the scorer with a last step that says why.

        As a prompt it is answered by text.
        """
        return self._with("generate_reason", function, prompt)

    def check_runnable(self) -> None:
        """Refuse a scorer that has no step to give a score.

        Raises:
            UsageError: it has no generate_score step.
        """
        if not any(step.name == "generate_score" for step in self.steps):
            raise UsageError(
                f"scorer {self.id}: has no generate_score step; a scorer needs one to run",
                hint="add .generate_score(lambda context: …)",
            )

    async def run(
        self, run: Mapping[str, Any] | None = None, /, **members: Any
    ) -> ScorerResult[P_co, A_co]:
        """Run the steps on one run, given as a mapping, as keywords, or both.

        Members are input, output, ground_truth, expected_trajectory, run_id, request_context and
        what else the steps need; camelCase is understood too.

        Raises:
            UsageError: the scorer has no generate_score step.
            ScorerRunError: a step raised, a judge gave no usable reply, or the score is no number
                from 0 to 1.
        """
        self.check_runnable()
        running = Running(
            self.id,
            self._run_of(run, members),
            self._ordered(),
            judge=self.judge,
            instructions=self.instructions,
            compat=self.compat,
        )
        return cast("ScorerResult[P_co, A_co]", await running.result())

    def run_sync(
        self, run: Mapping[str, Any] | None = None, /, **members: Any
    ) -> ScorerResult[P_co, A_co]:
        """Run the steps and wait for them; works inside a running event loop (a notebook) too.

        Raises:
            UsageError, ScorerRunError: as `run` does.
        """
        return wait_for(self.run(run, **members))

    def _run_of(self, run: Any, members: Mapping[str, Any]) -> Run:
        if run is not None and not isinstance(run, Mapping):
            raise UsageError(f"scorer {self.id}: the run is no mapping (got {shown(run)})")
        made = make_run(self.id, {**(run or {}), **members}, self.compat)
        if self.type != "trajectory" or self.compat is not None:
            return made
        output = to_trajectory(f"scorer {self.id}", made.output)
        return Run({**made.members, "output": output})

    def _with(
        self, name: StepName, functions: Sequence[Any], prompt: Mapping[str, Any]
    ) -> StepScorer:
        place = f"scorer {self.id}, step {name}"
        if not functions and prompt:
            return self._added(ScorerStep(name, prompt_step(place, name, prompt)))
        if prompt or len(functions) != 1:
            raise UsageError(f"{place}: is one function, or one prompt by keywords; not both")
        function = functions[0]
        if not callable(function):
            raise UsageError(
                f"{place}: is no function (got {shown(function)}); a function was expected",
                hint="for a judge give create_prompt= and output_schema=",
            )
        return self._added(ScorerStep(name, function))

    def _added(self, step: ScorerStep) -> StepScorer:
        if self.compat is None and any(other.name == step.name for other in self.steps):
            raise UsageError(f"scorer {self.id}: has a {step.name} step already; one was expected")
        return replace(self, steps=(*self.steps, step))

    def _ordered(self) -> tuple[ScorerStep, ...]:
        if self.compat is not None:
            return self.steps
        return tuple(sorted(self.steps, key=lambda step: STEP_NAMES.index(step.name)))


def create_scorer(
    id: str | None = None,
    *,
    name: str | None = None,
    description: str = "",
    type: ScorerType | None = None,
    judge: Judge | str | None = None,
    instructions: str = "",
    compat: Compat | None = None,
) -> StepScorer[None, None]:
    """Return a scorer without steps; add them with its methods.

    id: a slug of the name when absent; under compat it must be given. type: what `output` is; a
    trajectory may be given as JSON and reaches the steps as `Trajectory`. judge: who answers the
    steps that are prompts, a `Judge` or a model's name. instructions: their system message.

    Raises:
        UsageError: neither id nor name is given, or an argument is malformed.

    >>> scorer = create_scorer("short").generate_score(lambda c: float(len(c.run.output) < 9))
    >>> scorer.run_sync(output="four").score
    1.0
    >>> create_scorer(name="Tone & style").id
    'tone-style'
    """
    check_compat(compat)
    if id is None and compat is None and name is not None:
        id = _slug(name)
    if not isinstance(id, str) or not id:
        raise UsageError(
            f"id: is empty or no text (got {shown(id)}); a scorer needs an id or a name"
        )
    if type not in (None, "agent", "trajectory"):
        raise UsageError(
            f"scorer {id}: type is unknown (got {shown(type)}); expected agent or trajectory"
        )
    check_judge(f"scorer {id}", judge)
    return StepScorer(id, name or id, description, type, judge, instructions, compat)


def _slug(name: str) -> str:
    if not isinstance(name, str):
        raise UsageError(f"name: is no text (got {shown(name)}); a text was expected")
    slug = re.sub(r"[\W_]+", "-", name.lower()).strip("-")
    if not slug:
        raise UsageError(
            f"name: has no letter or digit to make an id of (got {name!r})", hint="give id= too"
        )
    return slug
