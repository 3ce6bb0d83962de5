"""Recorded captures with log records: whichever comes first, the store tells the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import empty_store, expected_step, steps, tables
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import LogRecord, Span
from trajscope.pipeline.dropping import Dropper
from trajscope.pipeline.load import InputOptions, records
from trajscope.pipeline.taking import Taker
from trajscope.store import CaptureInfo, Store
from trajscope.store.resolve import to_row

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"
LOGGED = sorted(path.parent.name for path in TRACES.glob("*/logs.*"))


def recorded(case: str) -> tuple[list[Span], list[LogRecord]]:
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for record in records([str(TRACES / case)], InputOptions()):
        if isinstance(record, Span):
            spans.append(record)
        else:
            logs.append(record)
    return spans, logs


def ingest(store: Store, *captures: tuple[list[Span], list[LogRecord]]) -> dict[str, list[str]]:
    read = Reader()
    take = Taker(read, Dropper(()))
    for number, (spans, logs) in enumerate(captures):
        info = CaptureInfo(id=f"c{number}", name=f"c{number}", format="test")
        store.ingest(info, [*((s, read(s)) for s in spans), *map(take, logs)], read)
    return tables(store)


@pytest.mark.parametrize("case", LOGGED)
def test_whatever_comes_first_the_store_says_the_same(case: str) -> None:
    """Spans stay one capture: where no session is named, a call is answered in its capture."""
    spans, logs = recorded(case)
    half = len(logs) // 2
    orders: dict[str, list[tuple[list[Span], list[LogRecord]]]] = {
        "logs first": [([], logs), (spans, [])],
        "spans first": [(spans, []), ([], logs)],
        "spans between": [([], logs[half:]), (spans, logs[:half]), ([], logs)],
        "every other record": [([], logs[::2]), (spans, []), ([], logs[1::2])],
    }
    with empty_store() as store:
        together = ingest(store, (spans, logs))
    for name, captures in orders.items():
        with empty_store() as store:
            assert ingest(store, *captures) == together, name


@pytest.mark.parametrize("case", LOGGED)
def test_the_steps_are_those_of_one_reading_in_memory(case: str) -> None:
    spans, logs = recorded(case)
    with empty_store() as store:
        ingest(store, ([], logs), (spans, []))
        found = steps(store)
        kept = [span for _, trace in store.iter_traces() for span, _ in trace]
    expected: dict[tuple[str, str], Any] = {}
    for trajectory in assemble(spans, Reader(), logs):
        row = to_row(trajectory, [s for s in kept if s.trace_id == trajectory.trace_id])
        expected |= {(s.trace_id, s.step_id): expected_step(s) for s in row.steps}
    assert found == expected
