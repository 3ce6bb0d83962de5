"""The few rules of JavaScript that the reference's results depend on, on plain JSON values.

One thing a newcomer would get wrong: *undefined* is a missing key here (`UNDEFINED` when it has
to be a value), and null is None; defaults of the reference apply to undefined only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from reprlib import repr as shown
from typing import Any

from trajscope.errors import UsageError
from trajscope.match.canonical import write_json

Json = Any


class Undefined:
    """The type of `UNDEFINED`."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()
"""JavaScript's undefined, where it must be told from null."""


class MalformedValue(UsageError):  # noqa: N818 - it says what is wrong, not that something is
    """A value of a shape on which the reference stops with a TypeError."""


def member(value: Json, key: str) -> Json:
    """Return `value.key`: undefined when absent.

    Raises:
        MalformedValue: the value is null or undefined.
    """
    if value is None or value is UNDEFINED:
        what = "null" if value is None else "undefined"
        raise MalformedValue(f"{key}: cannot be read (got {what}); an object was expected")
    if isinstance(value, Mapping):
        return value.get(key, UNDEFINED)
    if key == "length" and isinstance(value, list | tuple | str):
        return len(value)
    return UNDEFINED


def elements(value: Json, what: str) -> list[Json]:
    """Return the elements of an array, or the characters of a text.

    Raises:
        MalformedValue: the value is neither.
    """
    if isinstance(value, str | list | tuple):
        return list(value)
    raise MalformedValue(f"{what}: is no list (got {shown(value)}); a list was expected")


def truthy(value: Json) -> bool:
    """Return whether JavaScript takes `value` for true; an empty list or object is.

    >>> [truthy(v) for v in ([], {}, "0", 0, "", None)]
    [True, True, True, False, False, False]
    """
    if isinstance(value, list | tuple | Mapping):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value)


def given(value: Json, default: Json) -> Json:
    """Return `default` for undefined only."""
    return default if value is UNDEFINED else value


def coalesce(value: Json, default: Json) -> Json:
    """Return `default` for undefined and null."""
    return default if value is UNDEFINED or value is None else value


def is_number(value: Json) -> bool:
    """Return whether `value` is a number (true and false are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(left: Json, right: Json) -> bool:
    """Return whether two values are identical (`===`).

    >>> same(1, 1.0), same(1, True), same("a", "a"), same({}, {})
    (True, False, True, False)
    """
    if is_number(left) and is_number(right):
        return float(left) == float(right)
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        return type(left) is type(right) and bool(left == right)
    return left is right


def contains(values: Iterable[Json], value: Json) -> bool:
    """Return whether an identical value is among `values`."""
    return any(same(value, other) for other in values)


def to_number(value: Json) -> float:
    """Return `value` as JavaScript's arithmetic takes it; NaN when it is no number."""
    if value is None or value is False:
        return 0.0
    if value is True:
        return 1.0
    if isinstance(value, int | float):
        return _as_float(value)
    if isinstance(value, str):
        try:
            return float(value) if value.strip() else 0.0
        except ValueError:
            return math.nan
    return math.nan


def plain(number: float) -> int | float:
    """Return a whole number as int, so that 1.0 is written 1.

    >>> plain(1.0), plain(0.5)
    (1, 0.5)
    """
    return int(number) if math.isfinite(number) and number == int(number) else number


def round_half_up(number: float) -> float:
    """Return the nearest whole number, halves upwards (`Math.round`)."""
    if not math.isfinite(number):
        return number
    below = math.floor(number)
    return float(below + (number - below >= 0.5))


def round2(number: float) -> int | float:
    """Return `number` to two decimals as the reference does, with its epsilon of 2^-52.

    >>> round2(1.005), round2(-0.015), round2(1)
    (1.01, -0.01, 1)
    """
    return plain(round_half_up((number + 2**-52) * 100) / 100)


def round2_bare(number: float) -> int | float:
    """Return `number` to two decimals without the epsilon, as the unified scorer does."""
    return plain(round_half_up(number * 100) / 100)


def at_least(floor: float, number: float) -> float:
    """Return `Math.max(floor, number)`: NaN stays NaN."""
    return number if math.isnan(number) else max(floor, number)


def total(numbers: Iterable[float]) -> float:
    """Return the sum, added one after the other.

    `sum` corrects rounding errors since Python 3.12, and JavaScript does not.
    """
    result = 0.0
    for number in numbers:
        result += number
    return result


def clamp01(number: float) -> float:
    """Return `number` held between 0 and 1; NaN stays NaN."""
    return number if math.isnan(number) else max(0.0, min(1.0, number))


def json_text(value: Json) -> str | None:
    """Return a text that is equal for two values exactly when their JSON texts are equal.

    Numbers are written alike whatever their spelling (1, 1.0), NaN and infinities as null, keys
    in order but integer-like ones first, as a JavaScript object holds them. None when the value
    contains itself: the reference then finds nothing equal to it.
    """
    return write_json(value, _scalar, ordered_keys)


def same_json(left: Json, right: Json) -> bool:
    """Return whether two values have the same JSON text.

    >>> same_json({"a": 1}, {"a": 1.0}), same_json({"a": 1, "b": 2}, {"b": 2, "a": 1})
    (True, False)
    """
    text = json_text(left)
    return text is not None and text == json_text(right)


def ordered_keys(value: Mapping[str, Json]) -> list[str]:
    """Return the keys with a defined value, in the order a JavaScript object holds them.

    >>> ordered_keys({"b": 1, "10": 1, "2": 1, "01": 1})
    ['2', '10', 'b', '01']
    """
    keys = [k for k, v in value.items() if v is not UNDEFINED]
    indexes = [k for k in keys if is_index(k)]
    if not indexes:
        return keys
    return sorted(indexes, key=int) + [k for k in keys if not is_index(k)]


def is_index(key: str) -> bool:
    """Return whether JavaScript takes the key for an array index (0 to 2^32 - 2)."""
    return (
        key.isascii()
        and key.isdigit()
        and len(key) <= 10
        and (key == "0" or key[0] != "0")
        and int(key) <= 2**32 - 2
    )


def _scalar(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        number = _as_float(value)
        return repr(number + 0.0) if math.isfinite(number) else "null"
    if isinstance(value, str):
        return json.dumps(value)
    return "null"


def _as_float(value: int | float) -> float:
    """Return the number as a double; an int beyond its range is infinite, as it is when parsed."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
