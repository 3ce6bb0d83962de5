"""A stored trajectory read back as rows, and its figures, are those its spans are assembled to."""

from __future__ import annotations

from hypothesis import given, settings

from tests.property.test_store import CAPTURES
from tests.support.recorded import recorded_store
from tests.support.stores import empty_store, ingest
from trajscope.assemble import to_trajectory
from trajscope.pipeline.listing import figures_of
from trajscope.pipeline.load import stored
from trajscope.store import Record, Store


def check(store: Store) -> int:
    made = 0
    rows = list(store.iter_rows())
    whole = [a.trajectory for a in stored(store)]
    assert [r.trace_id for r in rows] == [t.trace_id for t in whole]
    assert store.trace_figures() == [figures_of(t) for t in whole]
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


@settings(max_examples=20)
@given(CAPTURES)
def test_generated_traces(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        check(store)
