"""What a step of a scorer is, what it is given, and what it may return.

One thing a newcomer would get wrong: a step that cannot judge the run returns `not_scorable()`;
returning None is a result like any other, and raising is a failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any, Generic, Literal, cast
from uuid import uuid4

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from typing_extensions import TypeVar

from trajscope.errors import UsageError
from trajscope.evals._checks import check_judge
from trajscope.ports import Judge

Compat = Literal["mastra"]
StepName = Literal["preprocess", "analyze", "generate_score", "generate_reason"]
STEP_NAMES: tuple[StepName, ...] = ("preprocess", "analyze", "generate_score", "generate_reason")
"""The steps of a scorer, in the order they run."""

_MEMBERS = ("input", "output", "ground_truth", "expected_trajectory", "run_id", "request_context")
_SNAKE = {to_camel(name): name for name in _MEMBERS}

P_co = TypeVar("P_co", covariant=True, default=Any)
A_co = TypeVar("A_co", covariant=True, default=Any)


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


@dataclass(frozen=True, slots=True, eq=False)
class Run(Mapping[str, Any]):
    """What a scorer judges: a mapping whose usual members are attributes, None when absent.

    Members are called as in `_MEMBERS`; under compat as the reference calls them (`runId`).
    """

    members: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def run_id(self) -> Any:
        """The id of the run; a fresh one when none was given."""
        return self._member("run_id")

    @property
    def input(self) -> Any:
        """What the agent was given."""
        return self._member("input")

    @property
    def output(self) -> Any:
        """What the agent gave: messages, a text; for trajectory scorers the trajectory."""
        return self._member("output")

    @property
    def ground_truth(self) -> Any:
        """The right answer, where there is one."""
        return self._member("ground_truth")

    @property
    def expected_trajectory(self) -> Any:
        """What the trajectory is held against."""
        return self._member("expected_trajectory")

    @property
    def request_context(self) -> Any:
        """What the caller passed along with the request."""
        return self._member("request_context")

    def _member(self, name: str) -> Any:
        return self.members.get(name, self.members.get(to_camel(name)))


def make_run(scorer: str, members: Mapping[str, Any], compat: Compat | None) -> Run:
    """Return the run of these members; the reference's spelling is understood by default too.

    Raises:
        UsageError: a member is given in both spellings.
    """
    made = {key: value for key, value in members.items() if key != "_internal"}
    if compat is not None:
        made["runId"] = made.get("runId") or str(uuid4())
        return Run(made)
    for camel, snake in _SNAKE.items():
        if camel != snake and camel in made:
            if snake in made:
                raise UsageError(
                    f"scorer {scorer}: the run has both {camel} and {snake}; one was expected"
                )
            made[snake] = made.pop(camel)
    made["run_id"] = made.get("run_id") or str(uuid4())
    return Run(made)


@dataclass(frozen=True, slots=True, eq=False)
class StepResults(Mapping[str, Any], Generic[P_co, A_co]):
    """What earlier steps returned, by step name; `preprocess` and `analyze` keep their types."""

    by_step: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.by_step[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_step)

    def __len__(self) -> int:
        return len(self.by_step)

    @property
    def preprocess(self) -> P_co:
        """What preprocess returned; None when there is no such step."""
        return cast("P_co", self.by_step.get("preprocess"))

    @property
    def analyze(self) -> A_co:
        """What analyze returned; None when there is no such step."""
        return cast("A_co", self.by_step.get("analyze"))


@dataclass(frozen=True, slots=True)
class StepContext(Generic[P_co, A_co]):
    """What a step is given.

    run: what is judged. results: what earlier steps returned. score: the score, for
    generate_reason only.
    """

    run: Run
    results: StepResults[P_co, A_co]
    score: Any = None


StepFunction = Callable[[StepContext], Any | Awaitable[Any]]
PromptFunction = Callable[[StepContext], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class PromptStep:
    """A step that a judge takes: the prompt, and what the reply must look like.

    output_schema: None for the text of generate_reason. judge, instructions: of this step alone;
    None stands for the scorer's.
    """

    create_prompt: PromptFunction
    output_schema: type[BaseModel] | None = None
    description: str = ""
    judge: Judge | str | None = None
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class ScorerStep:
    """One step of a scorer: a function, or a prompt to a judge."""

    name: StepName
    does: StepFunction | PromptStep


def prompt_step(place: str, name: StepName, prompt: Mapping[str, Any]) -> PromptStep:
    """Return the step of these keywords.

    Raises:
        UsageError: one is unknown, or one that is needed is missing.
    """
    structured = name in ("preprocess", "analyze")
    known = ["create_prompt", "description", "judge", "instructions"]
    known += ["output_schema"] if structured else []
    for key in prompt:
        if key not in known:
            raise UsageError(f"{place}: {key} is unknown; expected one of {', '.join(known)}")
    if not callable(prompt.get("create_prompt")):
        raise UsageError(
            f"{place}: create_prompt is no function (got {shown(prompt.get('create_prompt'))})"
        )
    schema = prompt.get("output_schema")
    if structured and not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise UsageError(
            f"{place}: output_schema is no pydantic model (got {shown(schema)}); the class of what "
            "the judge answers was expected"
        )
    check_judge(place, prompt.get("judge"))
    return PromptStep(**prompt)


def check_compat(compat: str | None) -> None:
    """Refuse an unknown `compat`.

    Raises:
        UsageError: it is neither None nor "mastra".
    """
    if compat not in (None, "mastra"):
        raise UsageError(
            f"compat: is unknown (got {shown(compat)})",
            hint='choose None (the default) or "mastra"',
        )
