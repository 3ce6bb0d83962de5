"""A vocabulary within the attributes of a span says of that span what the whole of it says."""

from dataclasses import fields
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trajscope.conventions import _vocabulary
from trajscope.conventions._build import build_reading
from trajscope.conventions._kind import step
from trajscope.conventions._vocabulary import GEN_AI, Vocabulary
from trajscope.model.reading import StepType
from trajscope.model.span import Span

FIELDS = [f.name for f in fields(Vocabulary)]
NAMES = sorted({name for field in FIELDS for name in getattr(GEN_AI, field)})
LEAVES = [f"{prefix}0.role" for prefix in (*GEN_AI.flat_output, *GEN_AI.flat_input)]
VALUES: list[Any] = ["x", "", "null", '"quoted"', 3, "7", None, [], '[{"role": "tool"}]', {"a": 1}]

spans = st.dictionaries(
    st.sampled_from([*NAMES, *LEAVES, "other"]), st.sampled_from(VALUES), max_size=12
).map(lambda attributes: Span(trace_id="t", span_id="s", name="n", attributes=attributes))


@given(spans, st.sampled_from(StepType))
def test_names_that_are_not_there_say_nothing(span: Span, step_type: StepType) -> None:
    kind = step(step_type)
    whole = build_reading(span, GEN_AI, kind, "c", 1)
    within = build_reading(span, GEN_AI.within(span.attributes), kind, "c", 1)
    assert msgspec.structs.replace(within, sources={}) == msgspec.structs.replace(whole, sources={})
    assert within.sources.keys() == whole.sources.keys()


@given(st.lists(st.sampled_from([*NAMES, *LEAVES, "other"]), unique=True))
def test_what_is_there_keeps_its_order(shape: list[str]) -> None:
    within = GEN_AI.within(shape)
    for field in FIELDS:
        of = getattr(GEN_AI, field)
        if field.startswith("flat_"):
            kept = tuple(p for p in of if any(name.startswith(p) for name in shape))
        else:
            kept = tuple(name for name in of if name in shape)
        assert getattr(within, field) == kept


def test_a_program_that_invents_names_fills_no_memory(monkeypatch: Any) -> None:
    monkeypatch.setattr(_vocabulary, "_MAX_SHAPES", 4)
    words = Vocabulary(model=("m",))
    for number in range(50):
        assert words.within((f"a{number}", "m")).model == ("m",)
    assert len(words._within) <= 4
