"""Processes that judge stored traces: what they are told, and what is done when one dies.

One thing a newcomer would get wrong: a worker reads its traces from the store itself, since sending
them would take longer than judging them. Scorers are sent by name, for functions cannot be.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import NamedTuple

from trajscope.errors import PluginError
from trajscope.model.expectation import NamedExpectation
from trajscope.model.score import Score
from trajscope.pipeline.ahead import worker_context
from trajscope.pipeline.load import facts, stored
from trajscope.pipeline.provenance import failed, marked
from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
from trajscope.pipeline.waiting import run_here
from trajscope.store import Store

MOST_DEATHS = 10
"""Workers that may die before the run is given up: a scorer that always kills is no accident."""


class WorkerDied(Exception):  # noqa: N818 - the name users see as error_type
    """The process of a scorer ended while it judged."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker needs to know; it can be sent to another process."""

    db: str
    expectations: tuple[NamedExpectation, ...]
    specs: tuple[str, ...]
    named: bool = True

    def scoring(self, specs: Sequence[str] | None = None) -> Scoring:
        """Return the scoring, of all the scorers or of some."""
        chosen = chosen_scorers(self.specs if specs is None else specs)
        return Scoring(self.expectations, chosen, named=self.named)


class Part(NamedTuple):
    """The scores of some traces, in order: one list a trace. matched: names of expectations."""

    scores: list[list[Score]]
    matched: set[str]
    has_steps: bool


def parts_of(work: Work, store: Store, units: list[list[str]], workers: int) -> Iterator[Part]:
    """Yield the part of each unit in order; after a death the suspects are looked at alone."""
    known: dict[int, Part] = {}
    alone = _Alone(work, store)
    at = 0
    while at < len(units):
        left = [index for index in range(at, len(units)) if index not in known]
        with _pool(work, workers) as pool:
            futures = {index: pool.submit(_judge, units[index], None) for index in left}
            try:
                while at < len(units):
                    yield known.pop(at) if at in known else futures[at].result()
                    at += 1
            except BrokenProcessPool:
                known |= {index: f.result() for index, f in futures.items() if _is_whole(f)}
                # Units are taken in order: what was running is among the first that are left.
                suspects = [index for index in left if index >= at and index not in known]
                for index in suspects[: 2 * workers]:
                    known[index] = alone.judge(units[index])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _is_whole(future: Future[Part]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


class _Alone:
    """Judges units in a process of their own, down to the one trace and scorer that kill it."""

    def __init__(self, work: Work, store: Store) -> None:
        self._work = work
        self._store = store
        self._names = [scorer.name for scorer in work.scoring().chosen]
        self._specs = list(work.specs)
        self._deaths = 0

    def judge(self, trace_ids: list[str], specs: list[str] | None = None) -> Part:
        """Return the part of some traces by some scorers (None: all)."""
        try:
            with _pool(self._work, 1) as pool:
                return pool.submit(_judge, trace_ids, specs).result()
        except BrokenProcessPool:
            pass
        chosen = self._specs if specs is None else specs
        if len(trace_ids) > 1:
            half = len(trace_ids) // 2
            first, second = (self.judge(ids, specs) for ids in (trace_ids[:half], trace_ids[half:]))
            scores = first.scores + second.scores
        elif len(chosen) > 1:
            half = len(chosen) // 2
            first, second = (self.judge(trace_ids, part) for part in (chosen[:half], chosen[half:]))
            scores = [self._ordered(first.scores[0] + second.scores[0])]
        else:
            return self._dead(trace_ids, chosen)
        both = first.matched | second.matched
        return Part(scores, both, first.has_steps or second.has_steps)

    def _ordered(self, scores: list[Score]) -> list[Score]:
        expectations = [expectation.name for expectation in self._work.expectations]

        def place(score: Score) -> tuple[int, int]:
            named = score.expectation
            return (
                -1 if named is None else expectations.index(named),
                self._names.index(score.scorer),
            )

        return sorted(scores, key=place)

    def _dead(self, trace_ids: list[str], specs: list[str]) -> Part:
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            raise PluginError(
                f"the process of scorer {specs[0]} died {self._deaths} times",
                hint="run it on one trace in this process: --workers 1",
            )
        scoring = self._work.scoring(specs)
        died = WorkerDied("its process ended while it judged this trace")
        found = list(_judged(self._store, trace_ids))
        scores = [
            [
                marked(failed(job.scorer, job.trajectory, died), job.scorer, job.named)
                for job in scoring.jobs([judged])
            ]
            for judged in found
        ]
        return Part(scores, scoring.matched, any(one.trajectory.has_steps for one in found))


def _pool(work: Work, workers: int) -> ProcessPoolExecutor:
    context = worker_context([__name__])
    return ProcessPoolExecutor(workers, context, initializer=_start, initargs=(work,))


_worker: list[Work] = []
"""In a worker: what it works on."""


def _start(work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    _worker.append(work)


def _judge(trace_ids: list[str], specs: list[str] | None) -> Part:
    """In a worker: return the part of some traces, by some scorers."""
    work = _worker[0]
    scoring = work.scoring(specs)
    with Store.open(work.db, read_only=True, threads=1) as store:
        found = list(_judged(store, trace_ids))
    scores = [list(run_here(scoring, [judged])) for judged in found]
    return Part(scores, scoring.matched, any(one.trajectory.has_steps for one in found))


def _judged(store: Store, trace_ids: Sequence[str]) -> Iterator[Judged]:
    return (Judged(a.trajectory, facts(a)) for a in stored(store, trace_ids))
