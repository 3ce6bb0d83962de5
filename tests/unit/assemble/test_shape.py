"""Where steps stand: noise gone, orphans in place, the single run unwrapped, order by time."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import spans
from tests.unit.assemble.readings import agent, assembled, model, noise, only, shape, tool
from trajscope.assemble import assemble, assemble_traces
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span


def test_noise_vanishes_and_its_children_stand_at_their_place_in_time() -> None:
    found = only(
        [
            agent("run", start=0),
            tool("first", "run", 10),
            noise("wrapper", "run", 5),
            tool("second", "wrapper", 20),
            tool("third", "run", 30),
        ]
    )
    assert shape(found.steps) == ["first", "second", "third"]
    assert found.root is not None
    assert found.root.name == "run"
    assert found.noise_span_count == 1


def test_the_single_run_is_unwrapped_even_beside_orphans_and_under_noise() -> None:
    pairs = [noise("POST", start=0), agent("run", "POST", 1), tool("a", "run", 10)]
    assert shape(only(pairs).steps) == ["a"]
    with_orphan = only([*pairs, tool("lost", "gone", 5)])
    assert shape(with_orphan.steps) == ["lost", "a"]
    assert with_orphan.orphans == ("lost",)
    assert with_orphan.missing_parents == ("gone",)
    assert with_orphan.total_duration_ms is not None


def test_several_runs_at_the_top_are_all_kept() -> None:
    found = only([agent("one", start=0), agent("two", start=5), tool("a", "two", 6)])
    assert found.root is None
    assert shape(found.steps) == ["one", "two", ["a"]]


def test_ties_are_broken_by_the_order_in_the_assistant_message_then_by_span_id() -> None:
    from tests.unit.assemble.readings import asks

    found = only(
        [
            agent("run"),
            model("llm", "run", 1, requests=(asks("zeta", "c1"), asks("alpha", "c2"))),
            tool("s1", "run", 10, name="alpha", tool_call_id="c2"),
            tool("s2", "run", 10, name="zeta", tool_call_id="c1"),
        ]
    )
    assert shape(found.steps) == ["llm", "zeta", "alpha"]


def test_a_chain_of_many_spans_is_assembled_without_recursion() -> None:
    deep = 20_000
    pairs = [agent("0", start=0)]
    pairs += [tool(str(i), str(i - 1), i, name=f"tool {i}") for i in range(1, deep)]
    found = only(pairs)
    assert sum(1 for _ in found.walk()) == deep


KINDS = st.sampled_from([None, *StepType])


@given(spans(traces=2), st.data())
def test_every_span_is_a_step_or_noise_whatever_the_tree(
    drawn: list[Span], data: st.DataObject
) -> None:
    ids = sorted({s.span_id for s in drawn})
    kinds = {i: data.draw(KINDS) for i in ids}

    def read(span: Span) -> Reading:
        kind = kinds[span.span_id]
        is_model = kind is StepType.MODEL_GENERATION
        return Reading(step_type=kind, name=f"n{span.span_id}", is_model_call=is_model)

    for found in assemble_traces(drawn, read):
        steps = list(found.trajectory.walk())
        rows = found.outline()
        assert len({s.span_id for s in steps}) == len(steps)
        noise_count = sum(r.step_type is None for r in rows)
        assert noise_count == found.trajectory.noise_span_count
        assert len(steps) + noise_count == found.trajectory.span_count == len(rows)
        assert sorted(s.order for s in steps if s.order is not None) == list(range(len(steps)))


@given(spans(traces=2), st.randoms())
def test_assembly_does_not_depend_on_the_order_of_the_input(
    drawn: list[Span], random: object
) -> None:
    def read(span: Span) -> Reading:
        kind = list(StepType)[int(span.span_id, 16) % len(StepType)]
        is_model = kind is StepType.MODEL_GENERATION
        return Reading(step_type=kind, name=span.span_id, is_model_call=is_model)

    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert assemble(drawn, read) == assemble(shuffled, read)


def test_traces_come_in_order_of_their_first_span() -> None:
    found = assembled([tool("b", start=9, trace="t1"), tool("a", start=3, trace="t2")])
    assert [t.trace_id for t in found] == ["t2", "t1"]
