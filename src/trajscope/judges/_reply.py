"""A model's text as the object it was asked for.

One thing a newcomer would get wrong: a reply may quote the data it judges, verdicts in it included.
So the verdict is the whole reply, or the one object at its very end and no words of the data; of
anything else nothing is taken: the reply is broken, and the judge is asked once more.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_NO_MATTER = re.compile(r"[\\\s]+")


class BrokenReply(ValueError):  # noqa: N818 - it says what is wrong
    """The text is not what was asked for; what the message says can be told to the model."""


def read_reply(text: str, schema: type[BaseModel], prompt: str = "") -> BaseModel:
    """Return the object a reply holds: alone, in one code fence, or after some words.

    prompt: what was asked; an object that stands in it and comes after words is a quotation. Types
    are held strictly, so that true is no score of 1.

    Raises:
        BrokenReply: it holds none that keeps the schema, or more than one.

    >>> class Verdict(BaseModel):
    ...     score: float
    >>> read_reply('I would say: {"score": 0.6}', Verdict).score
    0.6
    """
    if not text.strip():
        raise BrokenReply("the reply is empty; one JSON object was expected")
    fenced = _FENCE.search(text)
    body, before = (fenced[1], text[: fenced.start()]) if fenced else _split(text)
    value = _decoded(body)
    if "{" in before:
        raise BrokenReply("the reply holds more than one JSON object; one was expected")
    if before.strip() and _plain(body) in _plain(prompt):
        raise BrokenReply("the reply quotes an object of the data; a verdict was expected")
    if not isinstance(value, dict):
        raise BrokenReply(f"the reply is a JSON {type(value).__name__}; an object was expected")
    try:
        return schema.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise BrokenReply(_told(error)) from error


def _split(text: str) -> tuple[str, str]:
    """Return the object at the end of a text, as it begins with the first brace, and the words."""
    at = text.find("{")
    if at < 0:
        raise BrokenReply("the reply holds no JSON object; one was expected")
    return text[at:], text[:at]


def _decoded(text: str) -> Any:
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
    except BrokenReply:
        raise
    except (ValueError, RecursionError) as error:
        raise BrokenReply(
            "the reply is not one JSON object, or does not end with it; that was expected"
        ) from error


def _refuse(name: str) -> NoReturn:
    raise BrokenReply(f"the reply holds {name}; a finite number was expected")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits[:20])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BrokenReply("the reply names a member twice; each was expected once")
    return found


def _plain(text: str) -> str:
    """Return a text without what differs between a text and that text inside JSON texts."""
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _NO_MATTER.sub("", whole)


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))[:80] or "the object"
    return f"the reply does not keep the schema: {place}: {first['msg']}"[:300]
