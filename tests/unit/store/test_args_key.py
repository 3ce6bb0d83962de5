"""Keys of arguments are equal exactly where the arguments are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import attribute_values
from trajscope.store.args_key import NAN_MARK, args_key
from trajscope.store.encoding import decode_json, encode_json
from trajscope.values import equal_json


def values() -> st.SearchStrategy[Any]:
    few = st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, False, None, "1", "", "null", 0.5, 1e300])
    return st.recursive(
        few | attribute_values(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=6,
    ).filter(lambda value: value is not None)


@given(values(), values())
def test_keys_are_equal_exactly_where_values_are(one: Any, other: Any) -> None:
    stored, other_stored = (decode_json(encode_json(v).decode()) for v in (one, other))
    if any((args_key(v) or "").startswith(NAN_MARK) for v in (one, other)):
        return
    assert (args_key(one) == args_key(other)) == equal_json(stored, other_stored)


@given(values())
def test_neither_key_order_nor_the_spelling_of_numbers_counts(value: Any) -> None:
    def respelled(item: Any) -> Any:
        if isinstance(item, dict):
            return {k: respelled(v) for k, v in reversed(item.items())}
        if isinstance(item, list):
            return [respelled(v) for v in item]
        whole = isinstance(item, int) and not isinstance(item, bool) and abs(item) < 2**53
        return float(item) if whole else item

    assert args_key(respelled(value)) == args_key(value)


def test_a_nan_is_marked_and_an_infinity_is_not() -> None:
    assert str(args_key({"a": [float("nan")]})).startswith(NAN_MARK)
    assert args_key({"a": float("inf")}) != args_key({"a": None}) != args_key({"a": float("-inf")})
    assert not str(args_key({"a": float("inf")})).startswith(NAN_MARK)


def test_depth_makes_no_difference() -> None:
    def nested(leaf: str) -> Any:
        return json.loads('{"a":' * 400 + leaf + "}" * 400)

    assert args_key(nested("1")) == args_key(nested("1.0")) != args_key(nested("2"))
