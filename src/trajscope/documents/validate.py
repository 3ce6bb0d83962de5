"""Values against models: what pydantic finds wrong becomes a UsageError with its place.

One thing a newcomer would get wrong: the location names the *file's* spelling of a key, so a
message can be pasted into a search; the models know camelCase and snake_case.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from trajscope.documents.read import Document, show_keys
from trajscope.errors import Location, UsageError
from trajscope.model.span import Json

M = TypeVar("M", bound=BaseModel)

_MAX_SHOWN = 10
_repr = Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlevel = 2
_WANTED = {
    "tuple_type": "a list was expected",
    "list_type": "a list was expected",
    "model_type": "a mapping was expected",
    "model_attributes_type": "a mapping was expected",
    "dict_type": "a mapping was expected",
    "string_type": "a text was expected",
    "bool_type": "true or false was expected",
    "float_type": "a number was expected",
    "int_type": "a whole number was expected",
    "finite_number": "a finite number was expected",
    "greater_than_equal": "at least {ge} was expected",
    "too_short": "at least {min_length} was expected",
    "string_too_short": "a text that is not empty was expected",
    "enum": "{expected} was expected",
    "literal_error": "{expected} was expected",
}
"""What was expected, in the words of whoever writes a YAML file, by kind of mistake."""
_OWN = ("no_such_field", "one_comparator", "tolerance_without_number", "no_time")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_A_KEY = re.compile(r"[\[(|]|^function-|^tagged-union|^literal|^constrained|^json-or-python")


def validate(
    model: type[M], document: Document, value: Json, keys: tuple[str | int, ...] = ()
) -> M:
    """Return `value`, the part of a document at `keys`, as a value of the model.

    Raises:
        UsageError: it is none; with file, line, key, value and, for a key that is nearly right,
            the right one. Several mistakes are reported together.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise usage_error(error, model, document, keys) from error


def usage_error(
    error: ValidationError,
    model: type[BaseModel],
    document: Document | None = None,
    keys: tuple[str | int, ...] = (),
    hint: str | None = None,
) -> UsageError:
    """Return what pydantic found wrong as one UsageError; the first mistake leads."""
    found = [_Mistake(raw, model, document, keys) for raw in error.errors(include_url=False)]
    found.sort(key=lambda mistake: (mistake.at.line or 0, mistake.at.column or 0))
    mistakes = list({str(mistake): mistake for mistake in found}.values())
    first, rest = mistakes[0], mistakes[1:_MAX_SHOWN]
    lines = [first.message, *map(str, rest)]
    if len(mistakes) > _MAX_SHOWN:
        lines.append(f"and {len(mistakes) - _MAX_SHOWN} more")
    return UsageError("\n".join(lines), at=first.at, hint=first.hint or hint)


class _Mistake:
    """One mistake: where, what, and what was probably meant."""

    def __init__(
        self,
        raw: Any,
        model: type[BaseModel],
        document: Document | None,
        keys: tuple[str | int, ...],
    ) -> None:
        context = raw.get("ctx", {})
        self._kind: str = raw["type"]
        # The last part of an unknown key's place is the user's, whatever it looks like.
        above, own = raw["loc"], ()
        if self._kind == "extra_forbidden":
            above, own = above[:-1], above[-1:]
        place = [*(part for part in above if not _is_internal(part)), *own]
        if "field" in context:
            place.append(context["field"])
        path = (*keys, *place)
        self.at = document.locate(path) if document else Location(key=show_keys(path) or None)
        self.hint: str | None = None
        self.message = self._said(raw, str(place[-1]) if place else "")
        if self._kind == "extra_forbidden":
            self.hint = _did_you_mean(str(place[-1]), _fields_at(model, place[:-1]))
        elif self._kind in ("enum", "literal_error"):
            choices = re.findall(r"'([^']*)'", context.get("expected", ""))
            near = get_close_matches(str(raw["input"]).lower(), choices, n=1, cutoff=0.6)
            self.hint = f"did you mean {near[0]}?" if near else None

    def _said(self, raw: Any, key: str) -> str:
        if self._kind == "extra_forbidden":
            return f"the key {key!r:.80} is unknown"
        if self._kind == "missing":
            return f"{key} is missing"
        got = raw["input"]
        if "field" in raw.get("ctx", {}) and isinstance(got, dict):
            got = got.get(key, got)
        template = _WANTED.get(self._kind)
        if template is not None:
            wanted = template.format_map({"expected": "", **raw.get("ctx", {})})
        else:  # a whole sentence, which may hold braces of its own
            wanted = raw["msg"].removeprefix("Value error, ")
        if not wanted.endswith("expected") and self._kind not in _OWN:
            wanted = f"{wanted[:1].lower()}{wanted[1:]}"
        return f"is wrong (got {_repr.repr(got)}); {wanted}"

    def __str__(self) -> str:
        return f"{self.at}: {self.message}" + (f"; {self.hint}" if self.hint else "")


def _is_internal(part: str | int) -> bool:
    """Whether a part of pydantic's location is the name of a type and no key."""
    return isinstance(part, str) and bool(_NOT_A_KEY.search(part))


def _did_you_mean(key: str, known: dict[str, str]) -> str:
    """Return a hint with the nearest key in the spelling the user uses, else all keys."""
    snake = _CAMEL.sub("_", key).lower()
    near = get_close_matches(snake, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0] if '_' in key else known[near[0]]}?"
    return f"known keys: {', '.join(known.values())}" if known else "drop it"


def _fields_at(model: type[BaseModel], place: list[str | int]) -> dict[str, str]:
    """Return the keys (snake_case to camelCase) of the model at a place inside a model."""
    current: type[BaseModel] | None = model
    free_keys = False
    for part in place:
        if current is None or isinstance(part, int):
            continue
        if free_keys:
            free_keys = False
            continue
        field = next(
            (f for name, f in current.model_fields.items() if part in (name, f.alias)), None
        )
        current = _model_in(field.annotation) if field else None
        free_keys = field is not None and _is_mapping(field.annotation)
    fields = current.model_fields if current else {}
    return {name: field.alias or name for name, field in fields.items()}


def _is_mapping(annotation: Any) -> bool:
    """Whether the annotation is a dict, so that the next part of a place is one of its keys."""
    return get_origin(annotation) is dict or any(map(_is_mapping, get_args(annotation)))


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside an annotation such as `tuple[Model, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
