"""Scores of trajectories in this process: one after the other, or many at a time where they wait.

One thing a newcomer would get wrong: a scorer that waits for a judge costs no processor. Eight of
them at a time in one process are faster than two processes with one each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from trajscope.evals.loop import wait_for
from trajscope.model.score import Score
from trajscope.pipeline.scoring import Job, Judged, Scoring

MOST_WAITING = 8
"""Runs of scorers that wait, judges mostly, at a time in one process."""
_AT_A_TIME = 64

Progress = Callable[[int, int], None]
"""Called with the number of traces that are judged, and of all."""


def waits(scorer: object) -> bool:
    """Return whether a scorer mostly waits, for a judge or another service."""
    return bool(getattr(scorer, "waits", False))


def run_here(
    scoring: Scoring, found: Sequence[Judged], progress: Progress = lambda _done, _all: None
) -> Iterator[Score]:
    """Yield the scores of `scoring.run`, those of scorers that wait many at a time."""
    jobs = scoring.jobs(told(found, progress))
    if not any(map(waits, scoring.chosen)):
        yield from (job.score() for job in jobs)
        return
    while some := list(islice(jobs, _AT_A_TIME)):
        yield from wait_for(_all(some))


def told(found: Sequence[Judged], progress: Progress) -> Iterator[Judged]:
    """Yield what was found, telling how far it is."""
    for done, judged in enumerate(found):
        progress(done, len(found))
        yield judged


async def _all(jobs: Sequence[Job]) -> list[Score]:
    free = asyncio.Semaphore(MOST_WAITING)

    async def one(job: Job) -> Score:
        if not waits(job.scorer):
            return await asyncio.to_thread(job.score)
        async with free:
            return await job.score_later()

    return list(await asyncio.gather(*map(one, jobs)))
