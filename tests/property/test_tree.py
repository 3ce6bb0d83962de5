"""Laws of tree building, for spans recorded in every wrong way there is."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import spans as spans_of_traces
from trajscope.model.span import Span
from trajscope.tree import Forest, build_forests, iter_ancestors

CAPTURES = spans_of_traces(traces=2)


def shape(forests: list[Forest]) -> list[object]:
    """Everything a forest says, as comparable text (a NaN equals itself there)."""
    return [
        (
            forest.trace_id,
            [(repr(node.span), node.parent and node.parent.span.span_id) for node in forest.walk()],
            [node.span.span_id for node in forest.tops],
            [node.span.span_id for node in forest.roots],
            [node.span.span_id for node in forest.orphans],
            forest.missing_parents,
            forest.repairs,
        )
        for forest in forests
    ]


@given(CAPTURES)
def test_every_distinct_span_is_walked_exactly_once(spans: list[Span]) -> None:
    walked = Counter(
        (forest.trace_id, node.span.span_id)
        for forest in build_forests(spans)
        for node in forest.walk()
    )
    assert walked == Counter({(span.trace_id, span.span_id) for span in spans})


@given(CAPTURES, st.randoms(use_true_random=False))
def test_building_does_not_depend_on_the_order_of_the_spans(spans: list[Span], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(spans)
    random.shuffle(shuffled)
    assert shape(build_forests(shuffled)) == shape(build_forests(spans))


@given(CAPTURES)
def test_sending_everything_again_changes_nothing_but_the_count(spans: list[Span]) -> None:
    def places(forests: list[Forest]) -> list[object]:
        return [part[:-1] for part in shape(forests)]  # type: ignore[index]

    assert places(build_forests(spans * 2)) == places(build_forests(spans))


@given(CAPTURES)
def test_a_parent_is_the_recorded_one_unless_a_repair_says_otherwise(spans: list[Span]) -> None:
    for forest in build_forests(spans):
        lifted = {
            repair.span_id
            for repair in forest.repairs
            if repair.kind in ("self_parent_broken", "cycle_broken", "orphan")
        }
        for span_id, node in forest.nodes.items():
            placed = node.parent.span.span_id if node.parent else None
            assert placed == (None if span_id in lifted else node.span.parent_span_id)


@given(CAPTURES)
def test_no_span_is_its_own_ancestor_and_all_hang_from_the_tops(spans: list[Span]) -> None:
    for forest in build_forests(spans):
        for node in forest.nodes.values():
            above = list(iter_ancestors(node))
            assert node not in above
            assert (above[-1] if above else node) in forest.tops


@given(CAPTURES)
def test_tops_are_the_roots_and_the_orphans(spans: list[Span]) -> None:
    for forest in build_forests(spans):
        assert set(forest.tops) == set(forest.roots) | set(forest.orphans)
        assert not set(forest.roots) & set(forest.orphans)
        assert {node.span.parent_span_id for node in forest.orphans} == set(forest.missing_parents)
        assert all(node.is_orphan == (node in forest.orphans) for node in forest.nodes.values())


@given(CAPTURES)
def test_the_kept_record_is_one_that_was_sent_and_ended_if_any_did(spans: list[Span]) -> None:
    for forest in build_forests(spans):
        for span_id, node in forest.nodes.items():
            sent = [s for s in spans if (s.trace_id, s.span_id) == (forest.trace_id, span_id)]
            assert any(node.span is s for s in sent)
            assert node.span.ended == any(s.ended for s in sent)
            assert (node.span.end_ns or 0) == max(s.end_ns or 0 for s in sent)


@given(CAPTURES)
def test_repeats_are_reported_with_their_number(spans: list[Span]) -> None:
    sent = Counter((span.trace_id, span.span_id) for span in spans)
    reported = {
        (repair.trace_id, repair.span_id): repair.detail
        for forest in build_forests(spans)
        for repair in forest.repairs
        if repair.kind == "duplicate_merged"
    }
    assert set(reported) == {key for key, count in sent.items() if count > 1}
    assert all(f"received {sent[key]} times" in detail for key, detail in reported.items())
