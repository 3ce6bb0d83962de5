"""`run_evals`: data through an agent, or recorded runs, judged by any scorers.

One thing a newcomer would get wrong: an item with a trace id is judged by its trace in the store,
messages being only the second witness; which of them it was stands in the result.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from trajscope.evals.engine import Progress, Target, evaluate, prepare
from trajscope.evals.material import Traces
from trajscope.evals.outcome import EvalsResult
from trajscope.evals.scorer import Compat
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.load import stored
from trajscope.pipeline.named import step_scorer

if TYPE_CHECKING:
    from trajscope.store import Store


async def run_evals(
    *,
    data: Any,
    scorers: Any = (),
    gates: Any = (),
    target: Target | None = None,
    store: Store | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
    compat: Compat | None = None,
) -> EvalsResult:
    """Run every item of the data and return what every scorer said of it, and averages.

    data: mappings with `input` (or `inputs`, or `turns`) for the target, or with what is recorded:
    `output` (messages), `trajectory` or `trace_id` of the store; beside it `ground_truth`,
    `expected_trajectory`, `request_context`. scorers: a list, or a mapping with the lists `agent`
    and `trajectory`; each entry a scorer, the name of a ready one, or a mapping with `scorer` and
    `threshold`. gates: scorers whose average must be 1. target: the agent, a sync or async
    function. store: where the traces are. concurrency: items at a time.

    Raises:
        UsageError: an argument is malformed; under compat, a target or a scorer failed.
    """
    evaluation = prepare(
        data,
        target=target,
        scorers=scorers,
        gates=gates,
        named=step_scorer,
        traces=None if store is None else _traces(store),
        compat=compat,
    )
    return await evaluate(evaluation, concurrency=concurrency, progress=progress)


def run_evals_sync(**arguments: Any) -> EvalsResult:
    """Run `run_evals` and wait for it; works inside a running event loop (a notebook) too.

    Raises:
        UsageError: as `run_evals` does.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run_evals(**arguments))
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(run_evals(**arguments))).result()


def _traces(store: Store) -> Traces:
    def find(trace_id: str) -> Trajectory | None:
        known = store.trace_ids([trace_id])
        found = next(iter(stored(store, known)), None) if known else None
        return None if found is None else found.trajectory

    return find
