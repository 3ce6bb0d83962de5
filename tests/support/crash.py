"""Kills an ingest at random moments, and says what the store holds afterwards.

    python -m tests.support.crash FOLDER RUNS SEED

One thing a newcomer would get wrong: everything that touches DuckDB runs in forked children, so the
parent has no threads and a fork of it is safe; forking a warm process is what makes a run cheap.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.bench.generate import traces, write
from trajscope.cli.app import run
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import ingest
from trajscope.store import Store, vacuum

CAPTURES = 3
SPANS = 200
"""Spans of each capture: large enough that a kill falls into every phase of it."""

MEMORY = "100MB"


def captures(folder: Path) -> list[str]:
    """Write the captures and return their paths."""
    paths = [folder / f"{n}.jsonl" for n in range(CAPTURES)]
    for number, path in enumerate(paths):
        write(path, traces(SPANS, seed=number))
    return [str(path) for path in paths]


def fill(db: Path, paths: list[str]) -> None:
    """Ingest the captures."""
    with Store.open(db, memory_limit=MEMORY) as store:
        for _ in ingest(paths, store, InputOptions()):
            pass


def held(db: Path) -> dict[str, Any]:
    """Return what a store holds: spans by capture, and spans and steps in all."""
    if not db.exists():
        return {"captures": {}, "spans": 0, "trajectories": 0, "hash": None}
    with Store.open(db, memory_limit=MEMORY) as store:
        counts = store.query(
            "SELECT c.name, count(*) FROM spans JOIN captures c USING (capture_no) GROUP BY ALL"
        )
        by_capture = {Path(name).stem: count for name, count in counts.rows}
        [[steps]] = store.query(
            "SELECT (SELECT sum(hash(s)) FROM steps s)::VARCHAR || ' ' || "
            "(SELECT sum(hash(t)) FROM trajectories t)::VARCHAR"
        ).rows
        spans, found = store.count()
    return {"captures": by_capture, "spans": spans, "trajectories": found, "hash": steps}


def forked(task: Callable[[], Any], kill_after: float | None = None) -> Any:
    """Run a task in a child and return its result; None if it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(task()).encode())
            os._exit(0)
        except BaseException as error:
            os.write(writing, json.dumps({"error": repr(error)}).encode())
            os._exit(1)
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def main(folder: Path, runs: int, seed: int) -> dict[str, Any]:
    """Kill `runs` ingests, each at a random moment of the time a whole one takes."""
    paths = captures(folder)
    whole = folder / "whole.duckdb"
    forked(lambda: fill(whole, paths))  # the first touches cold files
    whole.unlink()
    began = time.monotonic()
    forked(lambda: fill(whole, paths))
    takes = time.monotonic() - began
    random = Random(seed)
    found = []
    for number in range(runs):
        db = folder / f"killed-{number}.duckdb"
        forked(lambda db=db: fill(db, paths), kill_after=random.uniform(0, takes))  # type: ignore[misc]
        after = forked(lambda db=db: held(db))  # type: ignore[misc]
        if number % 2:
            forked(lambda db=db: vacuum(db, memory_limit=MEMORY) and None, random.uniform(0, 0.3))  # type: ignore[misc]
        forked(lambda db=db: fill(db, paths))  # type: ignore[misc]
        found.append({"killed": after, "again": forked(lambda db=db: held(db))})  # type: ignore[misc]
    left = sorted(p.name for p in folder.iterdir() if p.suffix == ".wal" and p.name[0] != ".")
    return {"whole": forked(lambda: held(whole)), "runs": found, "left": left}


if __name__ == "__main__":
    assert run(["--version"]) == 0  # loads what every command needs, before the first fork
    told = main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stderr.write(json.dumps(told))
