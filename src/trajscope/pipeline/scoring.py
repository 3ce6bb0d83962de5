"""Scores of many trajectories against many expectations.

One thing a newcomer would get wrong: a scorer that crashes is a contained, not evaluable result of
that one trace; a store or file that fails stops the run. `Job` is the only boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from trajscope.errors import UsageError
from trajscope.evals.expectations import unmatched
from trajscope.evals.select import TraceFacts, selects
from trajscope.model.expectation import NamedExpectation, TrajectoryExpectation
from trajscope.model.score import Score
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.custom import as_scorer, load_scorer, names_file
from trajscope.pipeline.provenance import checked, failed, marked
from trajscope.ports import Scorer
from trajscope.registry import discover
from trajscope.scope import merge_session

DEFAULT_SCORERS = ("comparison", "efficiency", "blacklist", "tool-failures", "trajectory")
"""The scorers that run when none is named; each only where the expectation says what it checks."""

NO_EXPECTATION = NamedExpectation(name="(none)", expect=TrajectoryExpectation())
"""Stands where no expectation was given: the failures of tools remain to be looked at."""


@cache
def scorers() -> dict[str, Scorer]:
    """Return every known scorer by name: the package's own and those of entry points."""
    return discover("trajscope.scorers", "SCORER", Scorer, as_scorer)  # type: ignore[type-abstract]


def chosen_scorers(names: Sequence[str]) -> list[Scorer]:
    """Return the scorers of these names, or the default ones; `FILE.py:NAME` is one of a file.

    Raises:
        UsageError: a name is unknown, or a file holds no such scorer.
    """
    said = dict.fromkeys(names)
    chosen = [load_scorer(name) if names_file(name) else _known(name) for name in said]
    taken = [scorer.name for scorer in chosen]
    for name in taken:
        if taken.count(name) > 1:
            raise UsageError(f"two scorers are called {name!r:.80}; their scores could not be told")
    return chosen or [scorers()[name] for name in DEFAULT_SCORERS]


def _known(name: str) -> Scorer:
    known = scorers()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        raise UsageError(
            f"unknown scorer {name!r:.80}; expected one of {', '.join(sorted(known))}",
            hint=f"did you mean {close[0]}?" if close else "one of a file is FILE.py:NAME",
        )
    return known[name]


class Judged(NamedTuple):
    """One trajectory with what its selectors may ask."""

    trajectory: Trajectory
    facts: TraceFacts


class Job(NamedTuple):
    """One scorer on one trajectory against one expectation; None: against none."""

    scorer: Scorer
    trajectory: Trajectory
    named: NamedExpectation | None

    def score(self) -> Score:
        """Return the score; a scorer's own crash becomes a result that says so."""
        try:
            found = checked(
                self.scorer, self.trajectory, self.scorer.score(self.trajectory, self._expect)
            )
        except Exception as error:
            found = failed(self.scorer, self.trajectory, error)
        return self._marked(found)

    async def score_later(self) -> Score:
        """Return what `score` does, of a scorer that mostly waits (see `custom.OfSteps`)."""
        scorer: Any = self.scorer
        try:
            given = await scorer.score_later(self.trajectory, self._expect)
            found = checked(self.scorer, self.trajectory, given)
        except Exception as error:
            found = failed(self.scorer, self.trajectory, error)
        return self._marked(found)

    def _marked(self, found: Score) -> Score:
        """Say who judged; of a session, which one, since it has no trace id to go by."""
        score = marked(found, self.scorer, self.named)
        session_id = self.trajectory.session_id
        if self.trajectory.trace_id is not None or session_id is None:
            return score
        return score.model_copy(update={"session_id": session_id})

    @property
    def _expect(self) -> TrajectoryExpectation:
        return NO_EXPECTATION.expect if self.named is None else self.named.expect


class Scoring:
    """One run of scorers: feed it trajectories, then ask what matched nothing.

    Expectations of scope `session` are judged at the end, over all traces of each session.
    """

    def __init__(
        self, expectations: Sequence[NamedExpectation], chosen: Sequence[Scorer], *, named: bool
    ) -> None:
        self._by_trace = [e for e in expectations if e.expect.scope != "session"]
        self.by_session = [e for e in expectations if e.expect.scope == "session"]
        self.expectations = list(expectations)
        if not expectations:
            self._by_trace = [NO_EXPECTATION]
        self.chosen = chosen
        self.named = named
        self.matched: set[str] = set()
        self._sessions: dict[str, list[Judged]] = {}
        self.traces = 0

    def run(self, found: Iterable[Judged]) -> Iterator[Score]:
        """Yield the scores of every trajectory, then those of the sessions."""
        return (job.score() for job in self.jobs(found))

    def jobs(self, found: Iterable[Judged]) -> Iterator[Job]:
        """Yield what is to be scored, in the order of the scores."""
        for judged in found:
            self.traces += 1
            for expectation in self._by_trace:
                if selects(expectation.select, judged.facts):
                    self.matched.add(expectation.name)
                    yield from self._jobs(judged.trajectory, expectation)
            session = judged.trajectory.session_id
            if self.by_session and session is not None:
                self._sessions.setdefault(session, []).append(judged)
        for session_traces in self._sessions.values():
            yield from self._session_jobs(session_traces)

    def unmatched(self) -> list[str]:
        """Return the names of the expectations that were for no trace."""
        return [e.name for e in unmatched(self.expectations, self.matched)]

    def _session_jobs(self, judged: list[Judged]) -> Iterator[Job]:
        whole = merge_session(j.trajectory for j in judged)
        for expectation in self.by_session:
            if any(selects(expectation.select, j.facts) for j in judged):
                self.matched.add(expectation.name)
                yield from self._jobs(whole, expectation)

    def _jobs(self, trajectory: Trajectory, named: NamedExpectation) -> Iterator[Job]:
        for scorer in self.chosen:
            if self.named or scorer.applies(named.expect):
                yield Job(scorer, trajectory, None if named is NO_EXPECTATION else named)
