"""Decoding recorded values: laws, then the traps met in real traces."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from tests.support.spans import attribute_values
from trajscope.values import count_of, decode_arguments, decode_json, decode_result, equal_json

OBJECTS = st.dictionaries(st.text(max_size=5), attribute_values(), max_size=4)


@given(OBJECTS)
def test_arguments_are_the_same_however_often_they_were_encoded(args: dict[str, Any]) -> None:
    plain = decode_arguments(args)
    if args.keys() & {"kwargs", "input_str"}:
        return
    once, twice = json.dumps(args), json.dumps(json.dumps(args))
    for form in (once, twice):
        found = decode_arguments(form)
        assert equal_json(found.args, plain.args)
        assert found.bare is UNSET


@given(attribute_values())
def test_equality_is_reflexive_and_blind_to_key_order(value: Any) -> None:
    again = json.loads(json.dumps(value, sort_keys=True))
    assert equal_json(value, again)
    assert equal_json(again, value)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), ("2", 2), (None, {}), ([], {}), ("a", "a "), (None, 0)],
)
def test_values_of_different_types_are_not_equal(one: Any, other: Any) -> None:
    assert not equal_json(one, other)
    assert not equal_json(other, one)


ORDER = {"order_id": "12"}
FORMS = {
    "object": ORDER,
    "JSON": '{"order_id": "12"}',
    "JSON twice": '"{\\"order_id\\": \\"12\\"}"',
    "Python repr": "{'order_id': '12'}",
    "decorator": '{"args": [], "kwargs": {"order_id": "12"}}',
    "kwargs": {"kwargs": ORDER},
    "a wrapper's options": {"args": [], "sanitize_inputs_outputs": True, "kwargs": ORDER},
    "LangChain repr": {"input_str": "{'order_id': '12'}", "tags": [], "metadata": {}},
    "LangChain inputs": {"input_str": "12", "inputs": ORDER},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_recorded_form_gives_the_arguments(form: str) -> None:
    assert decode_arguments(FORMS[form]).args == ORDER


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        "",
        "N/A",
        "<not serializable>",
        '{"order_id": "1',
        "{'a': obj}",
        {"args": [1, 2], "kwargs": {}},
    ],
)
def test_what_is_not_recorded_or_cut_is_unknown(unknown: Any) -> None:
    assert decode_arguments(unknown) == (UNSET, UNSET)


def test_a_bare_value_keeps_its_value_and_no_name() -> None:
    assert decode_arguments("Paris") == (UNSET, "Paris")
    assert decode_arguments('{"args": ["err"], "kwargs": {}}') == (UNSET, "err")


MESSAGE = {"content": "18 C", "tool_call_id": "c1", "name": "get", "status": "error"}


@pytest.mark.parametrize(
    "form",
    [
        {"lc": 1, "type": "constructor", "id": ["langchain", "ToolMessage"], "kwargs": MESSAGE},
        {"type": "tool", "data": MESSAGE},
        {"type": "tool", **MESSAGE},
        {"output": {"type": "tool", "data": MESSAGE}, "kwargs": {}},
    ],
)
def test_a_serialised_tool_message_gives_result_call_id_and_status(form: Any) -> None:
    for written in (form, json.dumps(form)):
        assert decode_result(written) == ("18 C", "c1", "get", "error")


def test_text_results_stay_text_and_data_that_looks_like_a_message_stays_data() -> None:
    assert decode_result("12").value == "12"
    data = {"type": "tool", "price": 3}
    assert decode_result(data).value == data


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("12", 12),
        (12, 12),
        (12.0, 12),
        (True, None),
        (-1, None),
        ("x", None),
        (float("nan"), None),
        (float("inf"), None),
        (None, None),
        ("9" * 30, None),
        (2**70, None),
        ("\u0661", None),
    ],
)
def test_counts(raw: Any, count: int | None) -> None:
    assert count_of(raw) == count


@given(st.text())
def test_decoding_never_raises(text: str) -> None:
    decode_json(text)
    decode_arguments(text)
    decode_result(text)


def test_hostile_depth_is_left_as_text() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert decode_json(deep) == deep
    assert decode_arguments("{" * 5000 + "}" * 5000) == (UNSET, UNSET)
