"""Scores of many stored traces on all cores.

One thing a newcomer would get wrong: nothing depends on who computes what. Results come in the
order of one process, and are the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from trajscope.model.score import Score
from trajscope.pipeline.custom import spec_of
from trajscope.pipeline.scoring import Scoring
from trajscope.pipeline.waiting import Progress, waits
from trajscope.pipeline.workers import Work, parts_of
from trajscope.store import Store

ENOUGH_TRACES = 400
"""From here on a second process pays for its start (about one second)."""
_SMALLEST, _LARGEST = 25, 500
"""Traces a worker takes at once."""


@dataclass(slots=True)
class Bulk:
    """Scores in the order of the traces, and what is known of the whole."""

    scores: list[Score] = field(default_factory=list)
    matched: set[str] = field(default_factory=set)
    traces: int = 0
    has_steps: bool = False

    def nothing_understood(self) -> str | None:
        """Return a sentence when no trace has a step, else None."""
        return None if self.has_steps else f"no agent steps in any of {self.traces:,} traces"


def workers_for(scoring: Scoring, traces: int) -> int:
    """Return how many processes pay: one for few traces, for sessions, and for mere waiting."""
    if traces < ENOUGH_TRACES or scoring.by_session or all(map(waits, scoring.chosen)):
        return 1
    return max(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, 1)


def score_on_all_cores(
    db: str,
    trace_ids: Sequence[str],
    scoring: Scoring,
    workers: int | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Bulk | None:
    """Return the scores of traces of a store (none named: all); None where one process is better.

    workers: None leaves it to `workers_for`. What is known of the whole is noted in `scoring`.

    Raises:
        Whatever `score_stored` does.
    """
    with Store.open(db, read_only=True) as store:
        known = store.trace_ids(list(trace_ids) or None)
    if workers is None:
        workers = workers_for(scoring, len(known))
    if workers < 2 or scoring.by_session or len(known) < len(set(trace_ids)):
        return None
    specs = tuple(spec_of(scorer) for scorer in scoring.chosen)
    work = Work(db, tuple(scoring.expectations), specs, scoring.named)
    bulk = score_stored(work, known, workers, progress)
    scoring.traces, scoring.matched = bulk.traces, bulk.matched
    return bulk


def score_stored(
    work: Work,
    trace_ids: Sequence[str],
    workers: int,
    progress: Progress = lambda _done, _all: None,
) -> Bulk:
    """Return the scores of stored traces, computed by `workers` processes.

    A worker that dies costs the one score it died at, which then says so.

    Raises:
        PluginError: workers die again and again.
        StoreError: the store cannot be read. UsageError: an expectation or scorer is at fault.
    """
    bulk = Bulk(traces=len(trace_ids))
    size = min(max(len(trace_ids) // (workers * 8), _SMALLEST), _LARGEST)
    units = [list(trace_ids[at : at + size]) for at in range(0, len(trace_ids), size)]
    with Store.open(work.db, read_only=True) as store:  # held, so that no writer comes between
        done = 0
        for part, unit in zip(parts_of(work, store, units, workers), units, strict=True):
            bulk.scores += [score for scores in part.scores for score in scores]
            bulk.matched |= part.matched
            bulk.has_steps |= part.has_steps
            done += len(unit)
            progress(done, len(trace_ids))
    return bulk
