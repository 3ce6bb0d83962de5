"""Examples of trees that were recorded badly, after public bug reports."""

import gc
import time

from tests.unit.tree.shapes import ids, span
from trajscope.model.span import Span, SpanEvent
from trajscope.tree import Forest, build_forests, iter_ancestors


def only(spans: list[Span]) -> Forest:
    (forest,) = build_forests(spans)
    return forest


def kinds(forest: Forest) -> list[tuple[str, str]]:
    return [(repair.kind, repair.span_id) for repair in forest.repairs]


def test_orphans_stay_at_their_place_in_time_and_keep_what_is_below_them() -> None:
    # The parents of both tools were filtered out by the exporter.
    forest = only(
        [
            span("agent", None, 0, 60),
            span("model", "agent", 1, 59),
            span("search", "gone-1", 12, 15),
            span("refund", "gone-2", 31, 48),
            span("flow", "refund", 32, 47),
            span("check", "flow", 33, 34),
        ]
    )
    assert ids(forest.walk()) == ["agent", "model", "search", "refund", "flow", "check"]
    assert ids(forest.roots) == ["agent"]
    assert ids(forest.orphans) == ["search", "refund"]
    assert ids(forest.tops) == ["agent", "search", "refund"]
    assert forest.missing_parents == ("gone-1", "gone-2")
    assert kinds(forest) == [("orphan", "search"), ("orphan", "refund")]
    assert [node.is_orphan for node in forest.walk()] == [False, False, True, True, False, False]


def test_two_orphans_of_one_parent_miss_one_parent() -> None:
    forest = only([span("b", "gone", 5), span("a", "gone", 9)])
    assert forest.missing_parents == ("gone",)
    assert ids(forest.orphans) == ["b", "a"]


def test_a_parent_in_another_trace_is_missing() -> None:
    here, there = build_forests([span("a", "b", 1, trace="t1"), span("b", None, 2, trace="t2")])
    assert (here.missing_parents, there.missing_parents) == (("b",), ())


def test_a_span_that_is_its_own_parent_becomes_the_root() -> None:
    forest = only([span("agent", "agent", 0, 9), span("tool", "agent", 1, 5)])
    assert ids(forest.walk()) == ["agent", "tool"]
    assert ids(forest.roots) == ["agent"]
    assert kinds(forest) == [("self_parent_broken", "agent")]
    assert forest.nodes["agent"].span.parent_span_id == "agent", "the record stays as it was sent"


def test_the_earliest_span_of_a_cycle_becomes_the_root() -> None:
    forest = only(
        [
            span("critic", "planner", 1, 39),
            span("planner", "critic", 0, 40),
            span("read", "critic", 2, 3),
            span("save", "planner", 10, 13),
        ]
    )
    assert ids(forest.walk()) == ["planner", "critic", "read", "save"]
    assert kinds(forest) == [("cycle_broken", "planner")]
    assert "2 spans" in forest.repairs[0].detail
    assert not forest.orphans


def test_a_tail_that_leads_into_a_cycle_is_no_part_of_it() -> None:
    # The tail starts first, but it is not on the cycle and keeps its parent.
    forest = only([span("tail", "x", 0), span("x", "y", 5), span("y", "z", 4), span("z", "x", 6)])
    assert kinds(forest)[0] == ("cycle_broken", "y")
    assert "3 spans" in forest.repairs[0].detail
    assert ids(forest.walk()) == ["y", "x", "tail", "z"]


def test_repeats_are_merged_and_counted() -> None:
    tool = span("tool", "agent", 1, 5)
    forest = only([span("agent", None, 0, 9), tool, tool, tool])
    assert ids(forest.walk()) == ["agent", "tool"]
    assert kinds(forest) == [("duplicate_merged", "tool")]
    assert forest.repairs[0].detail == "received 3 times, all alike"


def test_the_finished_version_wins_then_the_later_end_then_the_fuller() -> None:
    started = span("a", None, 0, None, many=1, more=2)
    ended = span("a", None, 0, 8)
    assert only([started, ended]).nodes["a"].span is ended
    later = span("a", None, 0, 9)
    assert only([later, ended]).nodes["a"].span is later
    fuller = span("a", None, 0, 9, status="done")
    assert only([fuller, later]).nodes["a"].span is fuller
    evented = Span(
        trace_id="t", span_id="a", start_ns=0, end_ns=9, events=(SpanEvent("x"), SpanEvent("y"))
    )
    assert only([evented, fuller]).nodes["a"].span is evented
    assert "2 versions" in only([fuller, evented, evented]).repairs[0].detail


def test_a_late_parent_adopts_its_orphans() -> None:
    children = [span("chat", "root", 1, 6), span("scan", "root", 7, 15), span("write", "root", 16)]
    before = only(children)
    assert (len(before.roots), len(before.orphans)) == (0, 3)
    assert before.missing_parents == ("root",)
    after = only([*children, span("root", None, 0, 20)])
    assert (ids(after.roots), after.orphans, after.repairs) == (["root"], (), ())
    assert ids(after.walk()) == ["root", "chat", "scan", "write"]


def test_times_flag_but_never_move_a_span() -> None:
    ms = 1_000_000
    forest = only(
        [
            span("agent", None, 10_000 * ms, 12_000 * ms),
            span("geo", "agent", 8_500 * ms, 9_100 * ms),
            span("charge", "agent", 10_950 * ms, 10_700 * ms),
            span("late", "agent", 11_000 * ms, 99_000 * ms),
        ]
    )
    assert ids(forest.walk()) == ["agent", "geo", "charge", "late"]
    assert kinds(forest) == [("negative_duration", "charge"), ("clock_skew", "geo")]
    assert "250 ms" in forest.repairs[0].detail
    assert "1500 ms" in forest.repairs[1].detail
    charge = forest.nodes["charge"].span
    assert (charge.start_ns, charge.end_ns, charge.duration_ns) == (
        10_950 * ms,
        10_700 * ms,
        None,
    )


def test_a_child_within_the_rounding_of_a_millisecond_clock_is_not_skewed() -> None:
    assert not only([span("a", None, 1_999_999), span("b", "a", 1_000_000)]).repairs
    assert not only([span("a", None, 1_999_999), span("b", "a", 999_999)]).repairs
    assert kinds(only([span("a", None, 2_000_000), span("b", "a", 999_999)])) == [
        ("clock_skew", "b")
    ]


def test_siblings_stand_by_nanosecond_and_unknown_starts_stand_last() -> None:
    forest = only(
        [
            span("root", None, 0),
            span("set", "root", 180),
            span("c", "root", None),
            span("read", "root", 100),
            span("b", "root", None),
            span("notify", "root", 140),
        ]
    )
    assert ids(forest.nodes["root"].children) == ["read", "notify", "set", "b", "c"]


def test_traces_stand_by_their_earliest_span() -> None:
    forests = build_forests(
        [
            span("a", None, None, trace="timeless"),
            span("a", None, 9, trace="second"),
            span("a", None, 7, trace="first"),
            span("b", "a", 20, trace="first"),
        ]
    )
    assert [forest.trace_id for forest in forests] == ["first", "second", "timeless"]


def test_no_spans_make_no_forest() -> None:
    assert build_forests([]) == []


def test_ancestors_are_nearest_first() -> None:
    forest = only([span("a", None, 0), span("b", "a", 1), span("c", "b", 2)])
    assert ids(iter_ancestors(forest.nodes["c"])) == ["b", "a"]
    assert ids(forest.nodes["b"].walk()) == ["b", "c"]


def test_a_chain_of_100_000_spans_is_built_walked_and_freed() -> None:
    count = 100_000
    chain = [span(f"{i:06d}", f"{i - 1:06d}" if i else None, i, count) for i in range(count)]
    chain.reverse()
    began = time.process_time()
    forest = only(chain)
    assert sum(1 for _ in forest.walk()) == count
    assert sum(1 for _ in iter_ancestors(forest.nodes[f"{count - 1:06d}"])) == count - 1
    del forest
    gc.collect()
    assert time.process_time() - began < 10


def test_a_cycle_of_100_000_spans_is_broken_once() -> None:
    count = 100_000
    forest = only([span(f"{i:06d}", f"{(i + 1) % count:06d}", count - i) for i in range(count)])
    assert kinds(forest)[0] == ("cycle_broken", f"{count - 1:06d}")
    assert sum(1 for _ in forest.walk()) == count


def test_values_nested_too_deep_to_compare_are_still_merged() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    deepest = span("a", None, 0, 5, value=deep)
    assert kinds(only([deepest, deepest])) == [("duplicate_merged", "a")]


def test_versions_that_differ_in_content_only_are_chosen_alike_whatever_the_order() -> None:
    one, other = span("a", None, 0, 5, x=float("nan")), span("a", None, 0, 5, x=2**80)
    kept = only([one, other]).nodes["a"].span
    assert only([other, one]).nodes["a"].span is kept
