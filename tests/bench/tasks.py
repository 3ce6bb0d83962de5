"""The things that are measured, each by name: `python -m tests.bench.tasks NAME ARGS`.

One thing a newcomer would get wrong: what is measured is the work, not the start of Python nor
opening the store; a task is set up first and timed then.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trajscope.model.expectation import (
    ExpectedStep,
    NamedExpectation,
    Selector,
    TrajectoryExpectation,
)
from trajscope.pipeline.auditing import audit_store
from trajscope.pipeline.engine import SetScoring
from trajscope.pipeline.load import InputOptions, facts, load, stored
from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
from trajscope.pipeline.storing import ingest
from trajscope.rules import load_policy
from trajscope.store import Store

POLICY = Path(__file__).parent / "policy.yaml"
QUERY = "SELECT tool, count(*), count(*) FILTER (success = false) FROM tool_calls GROUP BY tool"
CALLS = """SELECT trace_id, list({name: name, args: args} ORDER BY ord) FROM steps
WHERE step_type = 'tool_call' AND args IS NOT NULL GROUP BY trace_id"""
EXPECTATION = TrajectoryExpectation(
    steps=(ExpectedStep(name="search_docs"), ExpectedStep(name="fetch_page")),
    ordering="relaxed",
    max_steps=20,
    max_total_tokens=100_000,
    blacklisted_tools=("rm_rf",),
    blacklisted_sequences=(("sql_query", "mail"),),
    max_retries_per_tool=1,
)


def ingested(capture: str, db: str) -> Callable[[], Any]:
    """Ingest with steps, as `trajscope ingest` does."""
    store = Store.open(db)
    jobs = os.cpu_count() or 1

    def run() -> int:
        done = sum(i.report.spans for i in ingest([capture], store, InputOptions(), jobs=jobs))
        store.close()
        return done

    return run


def derived(db: str) -> Callable[[], Any]:
    """Derive steps and trajectories of all traces afresh."""
    store = Store.open(db)

    def run() -> int:
        done = store.derive().traces
        store.close()
        return done

    return run


def queried(db: str) -> Callable[[], Any]:
    """Ask which tools fail."""
    store = Store.open(db, read_only=True)
    return lambda: len(list(store.query(QUERY).rows))


def tree(capture: str) -> Callable[[], Any]:
    """Assemble the one trace of a capture in memory."""
    return lambda: load([capture], InputOptions()).span_count


def audited(db: str) -> Callable[[], Any]:
    """Hold 25 rules against every stored trace."""
    rules = load_policy(POLICY).rules
    store = Store.open(db, read_only=True)
    return lambda: sum(sum(c.values()) for c in audit_store(store, rules).verdicts.values())


def sequence(db: str) -> Callable[[], Any]:
    """Find a forbidden contiguous sequence, set-wise."""
    forbidden = TrajectoryExpectation(blacklisted_sequences=(("sql_query", "read_file"),))
    return _set_wise(db, ("blacklist",), NamedExpectation(name="bench", expect=forbidden))


def three(db: str) -> Callable[[], Any]:
    """Score efficiency, blacklist and tool failures together, set-wise."""
    expected = NamedExpectation(name="bench", expect=EXPECTATION)
    return _set_wise(db, ("efficiency", "blacklist", "tool-failures"), expected)


def _set_wise(db: str, names: tuple[str, ...], *expected: NamedExpectation) -> Callable[[], Any]:
    store = Store.open(db, read_only=True)
    chosen = chosen_scorers(names)

    def run() -> int:
        with SetScoring(store, expected, chosen, named=True) as scoring:
            return scoring.summary().scores

    return run


def scored(db: str, scorer: str, engine: str) -> Callable[[], Any]:
    """Score every stored trace by one scorer: with the definition, or set-wise."""
    expected = NamedExpectation(name="bench", expect=EXPECTATION)
    if engine == "sql":
        return _set_wise(db, (scorer,), expected)
    chosen = chosen_scorers([scorer])
    store = Store.open(db, read_only=True)

    def run() -> int:
        scoring = Scoring([expected], chosen, named=True)
        return sum(1 for _ in scoring.run(Judged(a.trajectory, facts(a)) for a in stored(store)))

    return run


def each_its_own(db: str) -> Callable[[], Any]:
    """Compare every trace with an expectation of its own: the calls it made, with arguments."""
    store = Store.open(db, read_only=True)
    asked = [
        NamedExpectation(
            name=trace_id,
            select=Selector(trace_id=trace_id),
            expect=TrajectoryExpectation(
                steps=tuple(
                    ExpectedStep(name=call["name"], tool_args=json.loads(call["args"]))
                    for call in calls
                )
            ),
        )
        for trace_id, calls in store.query(CALLS).rows
    ]
    return _set_wise(db, ("comparison",), *asked)


TASKS: dict[str, Callable[..., Callable[[], Any]]] = {
    "ingest": ingested,
    "derive": derived,
    "query": queried,
    "tree": tree,
    "score": scored,
    "audit": audited,
    "sequence": sequence,
    "three": three,
    "each": each_its_own,
}

if __name__ == "__main__":
    task = TASKS[sys.argv[1]](*sys.argv[2:])
    began = time.perf_counter()
    said = task()
    seconds = time.perf_counter() - began
    sys.stdout.write(json.dumps({"seconds": seconds, "said": said}) + "\n")
