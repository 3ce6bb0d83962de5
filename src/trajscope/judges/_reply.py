"""A model's text as the object it was asked for.

One thing a newcomer would get wrong: a reply may quote the data it judges, verdicts in it included.
Where a text holds more than one object of the wanted form, none of them is taken: the reply is
broken, and the judge is asked once more.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

_FENCED = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_decoder = json.JSONDecoder()
MAX_OBJECTS = 64
"""Places of a text at which an object may begin that are tried."""


class BrokenReply(ValueError):  # noqa: N818 - it says what is wrong
    """The text is not what was asked for; what the message says can be told to the model."""


def read_reply(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the object a reply holds: alone, in one code fence, or after some words.

    Raises:
        BrokenReply: it holds none that keeps the schema, or several.
    """
    if not text.strip():
        raise BrokenReply("the reply is empty; one JSON object was expected")
    fenced = _FENCED.match(text)
    whole = fenced[1] if fenced else text
    try:
        found = [json.loads(whole)]
    except ValueError:
        found = list(_objects(text))
    if not found:
        raise BrokenReply("the reply holds no JSON object; one was expected")
    kept: list[BaseModel] = []
    error: Exception | None = None
    for value in found:
        try:
            kept.append(_validated(value, schema))
        except (ValidationError, BrokenReply) as problem:
            error = error or problem
    if len(kept) == 1:
        return kept[0]
    if kept:
        raise BrokenReply("the reply holds several JSON objects; one was expected")
    raise BrokenReply(_told(error))


def _objects(text: str) -> Iterator[Any]:
    """Yield the objects that stand in a text side by side, not those inside another."""
    at = tried = 0
    while (at := text.find("{", at)) >= 0 and tried < MAX_OBJECTS:
        tried += 1
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield value


def _validated(value: Any, schema: type[BaseModel]) -> BaseModel:
    if not isinstance(value, dict):
        raise BrokenReply(f"the reply is a JSON {type(value).__name__}; an object was expected")
    if _holds_no_number(value):
        raise BrokenReply("the reply holds NaN or Infinity; a finite number was expected")
    return schema.model_validate(value)


def _holds_no_number(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            return True
    return False


def _told(error: Exception | None) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    return f"the reply does not keep the schema: {place}: {first['msg']}"
