"""The error of a scorer whose step failed, with everything that is known of the run.

One thing a newcomer would get wrong: the failure of a scorer is no failure of the trajectory; the
pipeline contains it as a result, and only a caller of `run` sees it raised.
"""

from __future__ import annotations

import itertools
from typing import Any

from trajscope.errors import TrajscopeError
from trajscope.evals.results import ScorerResult

_CODE = "MASTR_SCORER_FAILED_TO_RUN_WORKFLOW_FAILED"


class ScorerRunError(TrajscopeError):
    """A step of a scorer raised.

    scorer: its id. steps: names of its steps in order. failed_step, completed_steps: where it
    stopped and what had run (in order, each once). result: what was computed until then, None if
    nothing; its score and reason stand beside the error and are no success. The original
    exception is `__cause__`.
    """

    def __init__(
        self,
        scorer: str,
        *,
        steps: tuple[str, ...],
        failed_step: str,
        completed_steps: tuple[str, ...],
        cause: BaseException,
        result: ScorerResult | None = None,
    ) -> None:
        super().__init__(
            f"scorer {scorer}, step {failed_step}: {cause_text(cause)}",
            hint=getattr(cause, "hint", None),
        )
        self.scorer = scorer
        self.steps = steps
        self.failed_step = failed_step
        self.completed_steps = completed_steps
        self.result = result
        self.__cause__ = cause

    def __reduce__(self) -> tuple[Any, ...]:
        # Scorers run in other processes; without this the error could not come back from one.
        known = (self.scorer, self.steps, self.failed_step, self.completed_steps)
        return _restored, (*known, self.__cause__, self.result)

    @property
    def details(self) -> dict[str, str]:
        """The run in four texts, under the reference's names."""
        return {
            "scorerId": self.scorer,
            "steps": ", ".join(self.steps),
            "failedStep": self.failed_step,
            "completedSteps": ", ".join(self.completed_steps),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the reference's JSON: message, domain, category, code, details, cause.

        The result is not part of it: it may hold all of what was judged.
        """
        return {
            "message": self.message,
            "domain": "SCORER",
            "category": "USER",
            "code": _CODE,
            "details": self.details,
            "cause": _chain(self.__cause__),
        }


def _restored(
    scorer: str,
    steps: tuple[str, ...],
    failed_step: str,
    completed_steps: tuple[str, ...],
    cause: BaseException,
    result: ScorerResult | None,
) -> ScorerRunError:
    return ScorerRunError(
        scorer,
        steps=steps,
        failed_step=failed_step,
        completed_steps=completed_steps,
        cause=cause,
        result=result,
    )


def cause_text(error: BaseException) -> str:
    """Return what an exception says, or its type when it says nothing.

    >>> cause_text(ValueError("boom")), cause_text(KeyError())
    ('boom', 'KeyError')
    """
    text = error.message if isinstance(error, TrajscopeError) else str(error)
    return text or type(error).__name__


def _chain(error: BaseException | None) -> dict[str, Any] | None:
    """Return an exception and its causes as JSON, each once."""
    links: list[dict[str, Any]] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        link: dict[str, Any] = {"message": cause_text(error), "name": type(error).__name__}
        code = getattr(error, "code", None)
        if isinstance(code, str | int):
            link["code"] = code
        links.append(link)
        error = error.__cause__
    for outer, inner in itertools.pairwise(links):
        outer["cause"] = inner
    return links[0] if links else None
