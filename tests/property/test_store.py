"""Laws of the store: nothing is lost, order is nothing, and SQL agrees with Python."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spans import any_spans
from tests.support.spans import spans as spans_of_traces
from tests.support.stores import (
    any_readings,
    empty_store,
    expected_step,
    expected_trajectory,
    ingest,
    readings,
    select,
    steps,
    tables,
    trajectories,
)
from trajscope.model.reading import NOT_UNDERSTOOD, Reading
from trajscope.model.span import Span
from trajscope.store import Record, Store, derive
from trajscope.store.resolve import resolve
from trajscope.tree import build_forests

FEW = settings(max_examples=12)
"""Opening and filling a store takes a tenth of a second, so examples are few and large."""


def by_key(records: list[Record]) -> dict[tuple[str, str], str]:
    return {(span.trace_id, span.span_id): repr((span, reading)) for span, reading in records}


def read_everything(store: Store) -> list[Record]:
    return [record for _, records in store.iter_traces() for record in records]


@st.composite
def with_readings(draw: Any, spans: st.SearchStrategy[list[Span]], *, one_each: bool) -> Any:
    """Records of spans; with `one_each` all records of one span share one reading."""
    found = draw(spans)
    if not one_each:
        return [(span, draw(any_readings())) for span in found]
    known = {(span.trace_id, span.span_id): draw(readings()) for span in found}
    return [(span, known[span.trace_id, span.span_id]) for span in found]


CAPTURES = with_readings(spans_of_traces(traces=5, max_size=80, rich=False), one_each=True)


@FEW
@given(with_readings(any_spans(), one_each=False))
def test_what_is_stored_and_loaded_is_what_was_there(records: list[Record]) -> None:
    distinct = list({(s.trace_id, s.span_id): (s, r) for s, r in records}.values())
    with empty_store() as store:
        ingest(store, distinct)
        loaded = read_everything(store)
    assert len(loaded) == len(distinct)
    assert by_key(loaded) == by_key(distinct)


@FEW
@given(spans_of_traces(traces=2))
def test_of_every_span_the_version_is_kept_that_the_tree_keeps(spans: list[Span]) -> None:
    with empty_store() as store:
        report = ingest(store, [(span, NOT_UNDERSTOOD) for span in spans])
        loaded = read_everything(store)
    kept = {
        (forest.trace_id, span_id): node.span
        for forest in build_forests(spans)
        for span_id, node in forest.nodes.items()
    }
    assert {(s.trace_id, s.span_id): comparable(s) for s, _ in loaded} == {
        key: comparable(span) for key, span in kept.items()
    }
    assert len(loaded) == len(kept)
    assert report.duplicates == len(spans) - len(kept)


def comparable(span: Span) -> str:
    """The content of a span; two records may differ in the order of their attributes."""
    return json.dumps([repr(span.parent_span_id), _sorted(span.attributes), repr(span.events)])


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((k, _sorted(v)) for k, v in value.items())
    return [_sorted(v) for v in value] if isinstance(value, list) else repr(value)


@FEW
@given(CAPTURES, st.randoms(use_true_random=False), st.integers(0, 80))
def test_neither_order_nor_the_cut_into_captures_matters(
    records: list[Record], random: Any, cut: int
) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)
    with empty_store() as whole, empty_store() as parts:
        ingest(whole, records)
        ingest(parts, shuffled[:cut], "first")
        ingest(parts, shuffled[cut:], "second")
        assert tables(parts) == tables(whole)


@FEW
@given(CAPTURES)
def test_ingesting_again_changes_nothing(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        before = tables(store), select(store, "FROM repairs"), store.captures()
        again = ingest(store, records)
        renamed = ingest(store, records, "under another name")
        after = tables(store), select(store, "FROM repairs"), store.captures()[:1]
    assert after == before
    assert (again.known, again.added, again.traces) == (True, 0, 0)
    assert (renamed.known, renamed.added, renamed.traces) == (False, 0, 0)


@settings(max_examples=30)
@given(CAPTURES)
def test_steps_and_trajectories_are_those_of_assemble(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        found_steps, found = steps(store), trajectories(store)
        kept = dict(store.iter_traces())
        contexts = store.contexts()
    for trace_id, own in kept.items():
        answering = contexts.get(trace_id, [])
        group = [*own, *(record for other in answering for record in kept[other])]
        expected = msgspec.structs.replace(
            resolve(trace_id, group), context_ids=tuple(sorted(answering))
        )
        assert found.pop(trace_id) == expected_trajectory(expected)
        for step in expected.steps:
            assert found_steps.pop((trace_id, step.step_id)) == expected_step(step)
    assert (found, found_steps) == ({}, {})


@FEW
@given(CAPTURES)
def test_few_spans_are_derived_in_python_and_the_same(records: list[Record]) -> None:
    with empty_store() as many, empty_store() as few:
        ingest(many, records)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(derive, "FEW_SPANS", len(records))
            assert ingest(few, records).resolved == len(trajectories(few))
        assert derived(few) == derived(many)


def derived(store: Store) -> Any:
    """What was derived; but for where answers were looked for, which for a few is everywhere."""
    found: dict[str, Any] = tables(store)
    found["trajectories"] = select(
        store, "SELECT * EXCLUDE (context_ids) FROM trajectories ORDER BY trace_id"
    )
    return found


@FEW
@given(CAPTURES)
def test_repairs_are_those_of_the_tree(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        found = [r for r in store.repairs() if r.kind != "duplicate_merged"]
        merged = {(r.trace_id, r.span_id) for r in store.repairs() if r.kind == "duplicate_merged"}
    made = [r for forest in build_forests(s for s, _ in records) for r in forest.repairs]
    assert sorted(map(repr, found)) == sorted(repr(r) for r in made if r.kind != "duplicate_merged")
    assert merged == {(r.trace_id, r.span_id) for r in made if r.kind == "duplicate_merged"}


@FEW
@given(CAPTURES)
def test_deriving_afresh_gives_the_same(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        before = tables(store)
        store.derive()
        assert tables(store) == before


@FEW
@given(CAPTURES)
def test_below_is_between(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        rows = select(store, "FROM steps")
    parents = {(r["trace_id"], r["step_id"]): r["parent_step_id"] for r in rows}
    for low in rows:
        above = set()
        at = low["step_id"]
        while at is not None:
            above.add(at)
            at = parents[low["trace_id"], at]
        assert low["depth"] == len(above) - 1
        assert above == {
            high["step_id"]
            for high in rows
            if high["trace_id"] == low["trace_id"] and high["lft"] <= low["lft"] <= high["rgt"]
        }


def test_the_laws_meet_both_ways_of_deriving() -> None:
    """Of the generated captures some are derived in SQL alone and some in Python."""
    seen: set[bool] = set()

    @settings(max_examples=12, database=None)
    @given(CAPTURES)
    def look(records: list[Record]) -> None:
        with empty_store() as store:
            report = ingest(store, records)
        seen.update([report.resolved > 0, report.resolved == report.traces])

    look()
    assert seen == {True, False}


def test_a_reading_with_a_new_word_passes_through_python() -> None:
    """Whatever field a reading has that SQL does not know: the trace is left to `assemble`."""
    spans = [Span(trace_id="t", span_id="a", start_ns=1, end_ns=2)]
    for reading, resolved in (
        (Reading(convention="x"), 0),
        (Reading(convention="x", is_part=True), 1),
    ):
        with empty_store() as store:
            assert ingest(store, [(spans[0], reading)]).resolved == resolved
