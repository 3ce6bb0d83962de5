"""Of many calls of one id a record gets the nearest, and looking for it costs little."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.assemble._calls import Call, Calls

FEW = st.sampled_from(["a", "b"])
NAMES = st.sampled_from(["", "n", "m"])
ENDS = st.integers(0, 6)
CALLS = st.dictionaries(
    st.tuples(FEW, st.integers(0, 9).map(str)),
    st.tuples(ENDS, st.none() | st.integers(0, 9).map(str), NAMES),
    max_size=12,
).map(lambda drawn: [Call(end, *key, above, name) for key, (end, above, name) in drawn.items()])
ASKED = st.lists(
    st.tuples(st.none() | FEW, st.none() | st.integers(0, 9).map(str), NAMES, ENDS), max_size=12
)


def of(calls: list[Call]) -> Calls:
    made = Calls()
    for call in calls:
        made.add(call)
    return made


def nearest(
    calls: list[Call], trace_id: str | None, span_id: str | None, name: str, end_ns: int
) -> Call | None:
    """The same, by looking at every call that is left."""

    def far(call: Call) -> tuple[object, ...]:
        is_near = span_id is not None and span_id in (call.span_id, call.parent_span_id)
        away = abs(call.end_ns - end_ns)
        return (not is_near, away, call.end_ns, call.trace_id, call.span_id)

    fitting = [c for c in calls if c.name in ("", name) and trace_id in (None, c.trace_id)]
    return min(fitting, key=far, default=None)


@given(CALLS, ASKED)
def test_every_record_gets_the_nearest_of_those_that_are_left(
    calls: list[Call], asked: list[tuple[str | None, str | None, str, int]]
) -> None:
    found, left = of(calls), list(calls)
    for question in asked:
        expected = nearest(left, *question)
        assert found.take(*question) == expected
        if expected is not None:
            left.remove(expected)


def test_one_that_names_no_span_is_not_near_to_those_without_a_parent() -> None:
    top, below = Call(90, "t", "1", None, "n"), Call(5, "t", "2", "1", "n")
    assert of([top, below]).take("t", None, "n", 6) == below


@pytest.mark.parametrize("traces", [1, 20_000])
@pytest.mark.parametrize("names_it", [True, False])
def test_many_calls_of_one_id_cost_little_each(traces: int, *, names_it: bool) -> None:
    calls = [Call(n, f"t{n % traces}", f"s{n}", "top", "n") for n in range(20_000)]
    found = of(calls)
    start = time.process_time()
    for call in calls:
        trace_id = call.trace_id if names_it or traces == 1 else None
        assert found.take(trace_id, call.span_id, "n", call.end_ns) == call
    assert time.process_time() - start < 10  # looking at all of them takes minutes
