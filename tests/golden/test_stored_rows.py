"""A stored trajectory read back as rows, and its figures, are those its spans are assembled to."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings

from tests.property.test_store import CAPTURES, derived
from tests.support.recorded import recorded_spans, recorded_store
from tests.support.stores import empty_store, ingest
from trajscope.assemble import to_trajectory
from trajscope.conventions import Reader
from trajscope.model.span import Span
from trajscope.pipeline.listing import figures_of
from trajscope.pipeline.load import stored
from trajscope.store import Record, Store, derive


def check(store: Store) -> int:
    made = 0
    rows = list(store.iter_rows())
    whole = [a.trajectory for a in stored(store)]
    assert [r.trace_id for r in rows] == [t.trace_id for t in whole]
    figures = [figures_of(t) for t in whole]
    assert store.trace_figures() == figures
    assert store.trace_figures([f.trace_id or "" for f in figures[::2]]) == figures[::2]
    assert [t.has_steps for t in whole] == [f.steps > 0 for f in figures]
    for row, trajectory in zip(rows, whole, strict=True):
        found = to_trajectory(row)
        assert (found is None) == bool(trajectory.orphans)
        if found is not None:
            made += 1
            assert found.model_dump() == trajectory.model_dump()
    return made


def test_recorded_traces() -> None:
    with recorded_store() as store:
        assert check(store) > 80


def test_recorded_traces_in_python() -> None:
    """What a small capture makes: all of it passes through Python, and the rows are the same."""
    with recorded_store() as many, pytest.MonkeyPatch.context() as patch:
        patch.setattr(derive, "FEW_SPANS", sys.maxsize)
        with recorded_store() as few:
            assert derived(few) == derived(many)


def damaged(spans: list[Span], chance: random.Random) -> Iterator[Span]:
    """Recorded spans as they may come too: lost, twice, open, below others, over months."""
    ids = [span.span_id for span in spans]
    for span in spans:
        if chance.random() > 0.2:
            yield span
            continue
        start = span.start_ns or 0
        changes = (
            None,
            {"end_ns": None},
            {"start_ns": None, "end_ns": None},
            {"end_ns": start + chance.randrange(2**53, 2**58)},
            {"end_ns": start - 1},
            {"parent_span_id": chance.choice([None, "f" * 16, *ids])},
            {"status_code": chance.choice(["OK", "ERROR"])},
            {"attributes": {k: v for k, v in span.attributes.items() if chance.random() < 0.7}},
        )
        changed = chance.choice(changes)
        if changed is None:
            continue
        if chance.random() < 0.3:
            yield span
        yield msgspec.structs.replace(span, **changed)


@pytest.mark.parametrize("seed", range(2))
def test_damaged_traces(seed: int) -> None:
    read, chance = Reader(), random.Random(seed)
    with empty_store() as store:
        ingest(store, ((span, read(span)) for span in damaged(recorded_spans(), chance)))
        assert check(store) > 20


@settings(max_examples=20)
@given(CAPTURES)
def test_generated_traces(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        check(store)
