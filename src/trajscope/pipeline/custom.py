"""Scorers of the user's own: from a Python file, from an entry point, made of steps or whole.

One thing a newcomer would get wrong: the file is run. It is the user's own program, named on the
command line, and may import what stands beside it.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from trajscope.errors import Location, UsageError
from trajscope.evals.loop import wait_for
from trajscope.evals.rebuilt import messages_of
from trajscope.evals.results import ScorerResult, jsonable
from trajscope.evals.scorer import StepScorer
from trajscope.evals.steps import PromptStep
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.ports import Scorer

_MODULE = "trajscope_own_scorers"


class OfSteps:
    """A scorer made with `create_scorer` as a scorer of trajectories.

    Its runs have the trajectory as output, or the calls as messages when its type is `agent`; what
    is expected, where anything is; and the trace id as run id.
    """

    def __init__(self, scorer: StepScorer[Any, Any]) -> None:
        scorer.check_runnable()
        self.name = scorer.id
        self.description = scorer.description or f"The scorer {scorer.name}."
        self.waits = any(_waits(step.does) for step in scorer.steps)
        self._scorer = scorer

    @property
    def parameters(self) -> Json | None:
        """What is known of its set-up: the model that judges."""
        judge = self._scorer.judge
        if judge is None:
            return None
        return {"judge": judge if isinstance(judge, str) else judge.model_id}

    def applies(self, expectation: TrajectoryExpectation) -> bool:  # noqa: ARG002
        """Always: what it needs is its own affair."""
        return True

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Run the steps; a step that decides the run cannot be judged gives no value.

        Raises:
            ScorerRunError: a step raised, or the score is no number from 0 to 1.
        """
        return wait_for(self.score_later(trajectory, expectation))

    async def score_later(
        self, trajectory: Trajectory, expectation: TrajectoryExpectation
    ) -> Score:
        """Return what `score` does, for many at a time: most of the time goes by waiting.

        Raises:
            ScorerRunError: as `score` does.
        """
        result = await self._scorer.run(self._members(trajectory, expectation))
        return self._to_score(trajectory, result)

    def _members(
        self, trajectory: Trajectory, expectation: TrajectoryExpectation
    ) -> dict[str, Any]:
        is_agent = self._scorer.type == "agent"
        found: dict[str, Any] = {"output": messages_of(trajectory) if is_agent else trajectory}
        if not expectation.says_nothing:
            found["expected_trajectory"] = expectation
        if trajectory.trace_id is not None:
            found["run_id"] = trajectory.trace_id
        return found

    def _to_score(self, trajectory: Trajectory, result: ScorerResult[Any, Any]) -> Score:
        reason, members = result.reason, result.to_members()
        if result.not_scorable is not None:
            reason = result.not_scorable.get("reason") or "a step could not judge the run"
        return Score(
            scorer=self.name,
            value=result.score,
            reason="" if reason is None else str(reason),
            trace_id=trajectory.trace_id,
            details=jsonable({k: v for k, v in result.to_json().items() if k not in members}),
        )


def as_scorer(value: Any) -> Any:
    """Return a scorer made of steps as a scorer of trajectories; anything else as it is.

    Raises:
        UsageError: it has no step that gives a score.
    """
    return OfSteps(value) if isinstance(value, StepScorer) else value


def names_file(name: str) -> bool:
    """Return whether the name of a scorer is that of a file: `FILE.py:NAME` or `FILE.py`.

    >>> names_file("own/scorers.py:quality"), names_file("blacklist")
    (True, False)
    """
    return name.partition(".py:")[1] != "" or name.endswith(".py")


def load_scorer(spec: str) -> Scorer:
    """Return the scorer `FILE.py:NAME`; the name may be left out where the file has only one.

    Its `version` is the file's `__version__`, else a hash of the file.

    Raises:
        UsageError: the file is not there or cannot be run (with the line), the name is not in it
            (with what was probably meant), or what has the name is no scorer.
    """
    before, colon, name = spec.partition(".py:")
    path = Path(before + ".py" if colon else spec)
    module = _run(path)
    known = {key: value for key, value in vars(module).items() if _is_scorer(value)}
    if not name and len(known) == 1:
        (name,) = known
    if name not in known:
        raise _not_there(path, name, vars(module), list(known))
    scorer: Any = as_scorer(known[name])
    said = getattr(scorer, "version", None)
    version = said if isinstance(said, str) else _version(path, module)
    return _OfFile(scorer, version, f"{path}:{name}")


def spec_of(scorer: Scorer) -> str:
    """Return the name by which another process finds the scorer too."""
    return getattr(scorer, "spec", scorer.name)


class _OfFile:
    """A scorer with what its file adds: a version, and where another process finds it."""

    def __init__(self, scorer: Any, version: str, spec: str) -> None:
        self._scorer = scorer
        self.version = version
        self.spec = spec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)


def _is_scorer(value: Any) -> bool:
    if isinstance(value, StepScorer):
        return True
    members = ("name", "description", "applies", "score")
    return not isinstance(value, type) and all(hasattr(value, member) for member in members)


def _run(path: Path) -> ModuleType:
    at = Location(str(path))
    if not path.is_file():
        beside = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise UsageError("no such file of scorers", at=at, hint=_near(path.name, beside))
    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"{_MODULE}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError("cannot be run as Python", at=at)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickle look it up
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        del sys.modules[name]
        at = Location(error.filename or str(path), line=error.lineno)
        raise UsageError(f"is no valid Python ({error.msg})", at=at) from error
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(
            f"cannot be run ({type(error).__name__}: {error})",
            at=Location(str(path), line=_line_in(path, error)),
            hint=_missing(error),
        ) from error
    return module


def _line_in(path: Path, error: BaseException) -> int | None:
    """Return the last line of the file that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
    return lines[-1] if lines else None


def _missing(error: BaseException) -> str | None:
    if isinstance(error, ModuleNotFoundError):
        return f"install {error.name}, or put it beside the file"
    return None


def _not_there(path: Path, name: str, every: dict[str, Any], known: list[str]) -> UsageError:
    at = Location(str(path))
    if not known:
        hint = "make one with create_scorer, or an object with name, description, applies, score"
        return UsageError("holds no scorer", at=at, hint=hint)
    if not name:
        first = f"--scorer {path}:{known[0]}"
        return UsageError(f"holds {len(known)} scorers: {', '.join(known)}", at=at, hint=first)
    if name in every:
        kind = type(every[name]).__name__
        hint = f"scorers in it: {', '.join(known)}"
        return UsageError(f"{name!r:.80} is no scorer (got {kind})", at=at, hint=hint)
    return UsageError(f"holds no scorer {name!r:.80}", at=at, hint=_near(name, known))


def _near(wanted: str, known: list[str]) -> str | None:
    close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"there are: {', '.join(sorted(known)[:8])}" if known else None


def _version(path: Path, module: ModuleType) -> str:
    said = getattr(module, "__version__", None)
    if isinstance(said, str):
        return said
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def _waits(does: Any) -> bool:
    """Return whether a step mostly waits: an asynchronous function, or a prompt to a judge."""
    return isinstance(does, PromptStep) or inspect.iscoroutinefunction(does)
