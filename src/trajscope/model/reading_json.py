"""A reading as JSON text and back: how stores and exports keep it.

One thing a newcomer would get wrong: JSON has no tuples and no NaN. Fields that a step holds as
tuples come back as such, and NaN comes as the word both DuckDB and Python write.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from trajscope.model.reading import Reading
from trajscope.model.step import STEP_CLASSES

_readings = msgspec.json.Decoder(Reading)

_TUPLES = frozenset(
    name
    for cls in STEP_CLASSES.values()
    for name, field in cls.model_fields.items()
    if "tuple[str" in str(field.annotation)
)


def with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields of steps as JSON gave them, with the tuples of texts that JSON has as lists.

    >>> with_tuples({"selected_steps": ["a"], "output": ["b"]})
    {'selected_steps': ('a',), 'output': ['b']}
    """
    if fields.keys().isdisjoint(_TUPLES):
        return fields
    return {
        name: tuple(value) if name in _TUPLES and isinstance(value, list) else value
        for name, value in fields.items()
    }


def reading_from_json(text: str) -> Reading:
    """Return the reading whose JSON text this is.

    >>> reading_from_json('{"claim": 2}').claim
    2

    Raises:
        ValueError: it is none.
    """
    try:
        reading = _readings.decode(text)
    except msgspec.DecodeError:
        reading = msgspec.convert(json.loads(text), Reading)
    fields = with_tuples(reading.fields)
    return reading if fields is reading.fields else msgspec.structs.replace(reading, fields=fields)
