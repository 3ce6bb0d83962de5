"""What is remembered of claims is what the claims themselves would say."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.support.truth import FIXTURES
from trajscope.conventions import Reader
from trajscope.conventions._memory import Looked, Memory
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import Span, StatusCode


@pytest.fixture(scope="module")
def recorded() -> list[Span]:
    found = read_captures([str(FIXTURES)], Problems())
    return [record for record in found if isinstance(record, Span)]


def variants(spans: list[Span], seed: int) -> list[Span]:
    """Return spans, some values exchanged for those of others or for odd ones, in any order."""
    chance = random.Random(seed)
    pool: dict[str, list[Any]] = {}
    for span in spans:
        for key, value in span.attributes.items():
            pool.setdefault(key, []).append(value)
    odd: list[Any] = [None, "", 0, 1, True, 1.0, [], {}, "tool", "agent", "x" * 50]
    made = []
    for span in spans:
        attributes = dict(span.attributes)
        for key in attributes:
            if chance.random() < 0.2:
                attributes[key] = chance.choice(chance.choice((pool[key], odd)))
        changed = msgspec.structs.replace(
            span,
            attributes=attributes,
            name=chance.choice((span.name, chance.choice(spans).name)),
            resource=chance.choice((span.resource, {}, {"service.name": chance.choice(odd)})),
        )
        made += [span, changed]
    chance.shuffle(made)
    return made


def test_a_remembered_claim_is_the_claim(recorded: list[Span]) -> None:
    reader, fresh = Reader(), Reader()
    asked = 0
    for span in variants(recorded, 1) + variants(recorded, 2):
        known = reader._memory.find(span)
        asked += known is None
        expected = fresh._asked(span)
        assert (reader._highest(span) if known is None else known[0]) is expected
    assert asked < 3 * len(recorded)  # of four times as many


def test_no_value_of_an_attribute_makes_a_reading_crash(recorded: list[Span]) -> None:
    reader = Reader()
    for seed in range(3, 6):
        for span in variants(recorded, seed):
            assert reader(span).noise_reason is not None


def test_most_spans_of_a_program_are_remembered(recorded: list[Span]) -> None:
    reader = Reader()
    for _ in range(2):
        asked = 0
        for span in recorded:
            asked += reader._memory.find(span) is None
            reader(span)
    assert asked < len(recorded) / 4


@pytest.mark.parametrize(
    "look",
    [
        lambda span: span.attributes["a"] == 1,
        lambda span: span.attributes.get("a") is True,
        lambda span: "b" in span.attributes,
        lambda span: [k for k in span.attributes if k > "a"],
        lambda span: sorted(map(repr, span.attributes.values())),
        lambda span: span.attributes.items() >= {("a", 1)},
        lambda span: len(span.attributes),
        lambda span: (*span.attributes,),
        lambda span: len(span.resource),
        lambda span: span.resource.get("r"),
        lambda span: "r" in span.resource,
        lambda span: dict(span.resource),
        lambda span: {**span.attributes},
        lambda span: span.attributes | {"c": 1},
        lambda span: span.name.startswith("x"),
        lambda span: span.service_name,
        lambda span: span.trace_id,
        lambda span: [e.name for e in span.events],
        lambda span: (span.status_code, span.kind, span.scope_name, span.parent_span_id),
    ],
)
def test_whatever_a_claim_looks_at_tells_spans_apart(look: Any) -> None:
    statuses: tuple[StatusCode, ...] = ("UNSET", "ERROR")
    values: list[Any] = [1, 1.0, True, "1", None, [1], {"x": 1}]
    spans = [
        Span(
            trace_id=f"t{i}",
            span_id="s",
            name=name,
            attributes={"a": value, **more},
            resource=resource,
            status_code=status,
        )
        for i, (value, more, name, resource, status) in enumerate(
            (value, more, name, resource, status)
            for value in values
            for more in ({}, {"b": 1}, {"b": 2})
            for name in ("x", "y")
            for resource in ({}, {"r": 1}, {"r": None, "service.name": "s"}, {"q": [1]})
            for status in statuses
        )
    ]
    memory: Memory[str] = Memory()
    for span in spans * 2:
        expected = repr(look(span))
        known = memory.find(span)
        assert known is None or known[0] == expected
        looked: Any = Looked(span)
        assert repr(look(looked)) == expected
        memory.keep(span, looked, expected)


@pytest.mark.parametrize(
    "look",
    [
        lambda span: len(span.attributes),
        lambda span: tuple(span.attributes),
        lambda span: "b" in span.attributes,
        lambda span: span.attributes.get("c"),
    ],
)
def test_the_names_of_attributes_are_the_shape_and_no_news(look: Any) -> None:
    looked: Any = Looked(Span(trace_id="t", span_id="s", attributes={"a": [1], "b": {}}))
    look(looked)
    assert not looked.blurred
    assert not looked.asked
