"""`run_evals`: data through an agent, or recorded runs, judged by any scorers.

One thing a newcomer would get wrong: an item with a trace id is judged by its trace in the store,
messages being only the second witness; which of them it was stands in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from trajscope.errors import UsageError
from trajscope.evals.engine import Progress, Target, evaluate, prepare
from trajscope.evals.error import ScorerRunError
from trajscope.evals.evaluated import EvalsResult
from trajscope.evals.loop import wait_for
from trajscope.evals.outcome import ItemScore
from trajscope.evals.scorer import Compat
from trajscope.model.score import Score
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.load import stored
from trajscope.pipeline.named import step_scorer
from trajscope.pipeline.provenance import scorer_version

if TYPE_CHECKING:
    from trajscope.ports import Scorer
    from trajscope.store import Store

_AT_A_TIME = 64
"""Traces read from the store at once."""


async def run_evals(
    *,
    data: Any,
    scorers: Any = (),
    gates: Any = (),
    target: Target | None = None,
    store: Store | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
    save: bool = False,
    compat: Compat | None = None,
) -> EvalsResult:
    """Run every item of the data and return what every scorer said of it, and averages.

    data: mappings with `input` (or `inputs`, or `turns`) for the target, or with what is recorded:
    `output` (messages), `trajectory` or `trace_id` of the store; beside it `ground_truth`,
    `expected_trajectory`, `request_context`. scorers: a list, or a mapping with the lists `agent`
    and `trajectory`; each entry a scorer, the name of a ready one, or a mapping with `scorer` and
    `threshold`. gates: scorers whose average must be 1. target: the agent, a sync or async
    function. store: where the traces are. concurrency: items at a time. save: write the scores of
    stored traces beside them.

    Raises:
        UsageError: an argument is malformed; under compat, a target or a scorer failed.
        StoreError: the store cannot be read or written.
    """
    if save and store is None:
        raise UsageError("save: there is no store to write the scores to", hint="give store=")
    evaluation = prepare(
        data, target=target, scorers=scorers, gates=gates, named=step_scorer, compat=compat
    )
    if store is not None:
        traces = StoredTraces(store, evaluation.trace_ids())
        evaluation = replace(evaluation, traces=traces.find)
    result = await evaluate(evaluation, concurrency=concurrency, progress=progress)
    if save and store is not None:
        found = scores_of(result)
        known = set(store.trace_ids([s.trace_id for s in found if s.trace_id is not None]))
        store.save_scores(score for score in found if score.trace_id in known)
    return result


def run_evals_sync(**arguments: Any) -> EvalsResult:
    """Run `run_evals` and wait for it; works inside a running event loop (a notebook) too.

    Raises:
        UsageError: as `run_evals` does.
    """
    return wait_for(run_evals(**arguments))


def scores_of(result: EvalsResult) -> list[Score]:
    """Return the scores of whole items with one trace, as they are stored.

    What failed or was not scorable has no value, and a reason; nothing recovered becomes one.
    """
    return [
        _score(item.trace_id, score)
        for item in result.items
        for score in item.scores
        if item.trace_id is not None and score.turn is None
    ]


def _score(trace_id: str, found: ItemScore) -> Score:
    if found.error is not None:
        cause = found.error.__cause__ if isinstance(found.error, ScorerRunError) else found.error
        return Score(
            scorer=found.scorer,
            value=None,
            reason=f"the scorer failed: {found.error}",
            trace_id=trace_id,
            scorer_version=scorer_version(cast("Scorer", found.graded.scorer)),
            error_type=type(cause).__name__,
        )
    said = {} if found.result is None else found.result.to_json()
    members = () if found.result is None else found.result.to_members()
    return Score(
        scorer=found.scorer,
        value=found.score,
        reason="" if found.reason is None else str(found.reason),
        trace_id=trace_id,
        details={key: value for key, value in said.items() if key not in members},
        scorer_version=scorer_version(cast("Scorer", found.graded.scorer)),
    )


class StoredTraces:
    """Trajectories of a store, read some at a time in the order they will be asked for.

    One query per trace takes longer than the scorers; all at once takes the memory of all.
    """

    def __init__(self, store: Store, wanted: Sequence[str]) -> None:
        self._store = store
        self._wanted = wanted
        self._place = {trace_id: index for index, trace_id in enumerate(wanted)}
        self._read: dict[str, Trajectory] = {}

    def find(self, trace_id: str) -> Trajectory | None:
        """Return the trajectory of a trace; None when it is not stored."""
        if trace_id not in self._read:
            first = self._place.get(trace_id)
            ids = [trace_id] if first is None else self._wanted[first : first + _AT_A_TIME]
            known = self._store.trace_ids(ids)
            found = stored(self._store, known) if known else ()
            read = {a.trajectory.trace_id: a.trajectory for a in found}
            self._read = {key: value for key, value in read.items() if key is not None}
        return self._read.get(trace_id)
