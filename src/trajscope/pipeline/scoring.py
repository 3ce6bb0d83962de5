"""Scores of many trajectories against many expectations.

One thing a newcomer would get wrong: a scorer that crashes is a contained, not evaluable result of
that one trace; a store or file that fails stops the run. `_contained` is the only boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

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


class Scoring:
    """One run of scorers: feed it trajectories, then ask what matched nothing.

    Expectations of scope `session` are judged at the end, over all traces of each session.
    """

    def __init__(
        self, expectations: Sequence[NamedExpectation], chosen: Sequence[Scorer], *, named: bool
    ) -> None:
        self._by_trace = [e for e in expectations if e.expect.scope != "session"]
        self._by_session = [e for e in expectations if e.expect.scope == "session"]
        self._all = list(expectations)
        if not expectations:
            self._by_trace = [NO_EXPECTATION]
        self._chosen = chosen
        self._named = named
        self.matched: set[str] = set()
        self._sessions: dict[str, list[Judged]] = {}
        self.traces = 0

    def run(self, found: Iterable[Judged]) -> Iterator[Score]:
        """Yield the scores of every trajectory, then those of the sessions."""
        for judged in found:
            self.traces += 1
            for expectation in self._by_trace:
                if selects(expectation.select, judged.facts):
                    self.matched.add(expectation.name)
                    yield from self._scores(judged.trajectory, expectation)
            session = judged.trajectory.session_id
            if self._by_session and session is not None:
                self._sessions.setdefault(session, []).append(judged)
        for session_traces in self._sessions.values():
            yield from self._session_scores(session_traces)

    def unmatched(self) -> list[str]:
        """Return the names of the expectations that were for no trace."""
        return [e.name for e in unmatched(self._all, self.matched)]

    def _session_scores(self, judged: list[Judged]) -> Iterator[Score]:
        whole = merge_session(j.trajectory for j in judged)
        for expectation in self._by_session:
            if any(selects(expectation.select, j.facts) for j in judged):
                self.matched.add(expectation.name)
                yield from self._scores(whole, expectation)

    def _scores(self, trajectory: Trajectory, named: NamedExpectation) -> Iterator[Score]:
        for scorer in self._chosen:
            if self._named or scorer.applies(named.expect):
                score = _contained(scorer, trajectory, named.expect)
                yield marked(score, scorer, None if named is NO_EXPECTATION else named)


def _contained(scorer: Scorer, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
    """Score one trajectory; a scorer's own crash becomes a result that says so."""
    try:
        return checked(scorer, trajectory, scorer.score(trajectory, expectation))
    except Exception as error:
        return failed(scorer, trajectory, error)
