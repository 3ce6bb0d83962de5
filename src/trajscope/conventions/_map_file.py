"""What a user's mapping file may say, and reading it: rules in order, checked with file and line.

One thing a newcomer would get wrong: a rule without any condition would claim every span of every
capture; it is a mistake here and never means "all".
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictStr,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from trajscope.documents import Document, read_document, validate
from trajscope.errors import UsageError
from trajscope.match import compile_pattern
from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.span import Json
from trajscope.model.value import Value

NOISE = "noise"
_AS = (*(t.value for t in StepType), NOISE)

Text = Annotated[StrictStr, Field(min_length=1)]


def _check_as(word: str) -> str:
    if word.lower() not in _AS:
        choices = ", ".join(f"'{known}'" for known in _AS)
        raise PydanticKnownError("literal_error", {"expected": f"one of {choices}"})
    return word.lower()


class _Part(Value):
    model_config = ConfigDict(extra="forbid")


class Presence(_Part):
    """Whether an attribute is there, whatever its value."""

    exists: StrictBool


def _read_tests(given: Any) -> Any:
    """Read every `{exists: …}` as a presence; any other mapping is a slip and refused."""
    if not isinstance(given, dict):
        return given
    return {name: _read_test(name, wanted) for name, wanted in given.items()}


def _read_test(name: str, wanted: Json) -> Json:
    if not isinstance(wanted, dict):
        return wanted
    if wanted.keys() == {"exists"} and isinstance(wanted["exists"], bool):
        return Presence(exists=wanted["exists"])
    raise PydanticCustomError(
        "no_test",
        "a pattern, a value or {wanted} was expected",
        {"field": name, "wanted": "{exists: true}"},
    )


Tests = Annotated[dict[str, Any], BeforeValidator(_read_tests)]
"""Conditions on attributes: a pattern for text, another value for equality, or a presence."""


class Match(_Part):
    """Which spans a rule is for: everything that is given must hold.

    name, scope, service: exact text, a glob, or `re:` and an expression, held against the whole
    label of the span, its instrumentation scope, its resource's `service.name`. attributes: by
    name, a pattern for text, any other JSON value for equality, or `{exists: true}`.
    """

    name: Text | None = None
    scope: Text | None = None
    service: Text | None = None
    attributes: Tests = Field(default_factory=dict)

    @model_validator(mode="after")
    def _not_empty(self) -> Match:
        if not (self.name or self.scope or self.service or self.attributes):
            raise PydanticCustomError(
                "no_condition", "at least one of name, scope, service and attributes was expected"
            )
        return self


class Source(_Part):
    """Where the value of a field comes from: exactly one of attribute, literal and span_name.

    path: keys and positions inside the attribute's value, JSON text too (`call.args`, `0.name`).
    span_name: true for the whole label, or `re:` and an expression whose first group is the value.
    """

    attribute: Text | None = None
    path: Text | None = None
    literal: Json = None
    span_name: Literal[True] | Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Source:
        given = self.model_fields_set & {"attribute", "literal", "span_name"}
        if len(given) != 1:
            raise PydanticCustomError(
                "one_source", "exactly one of attribute, literal and span_name was expected"
            )
        if self.path and self.attribute is None:
            raise PydanticCustomError("path_alone", "a path was expected beside an attribute only")
        return self


def _form(value: Any) -> str:
    if isinstance(value, str):
        return "(name)"
    return "(list)" if isinstance(value, list | tuple) else "(source)"


One = Annotated[
    Annotated[Text, Tag("(name)")] | Annotated[Source, Tag("(source)")], Discriminator(_form)
]
Sources = Annotated[
    Annotated[Text, Tag("(name)")]
    | Annotated[Source, Tag("(source)")]
    | Annotated[tuple[One, ...], Tag("(list)")],
    Discriminator(_form),
]
"""An attribute's name, a source, or a list of them of which the first that has a value counts."""


class Fields(_Part):
    """Where each field of the step lives."""

    name: Sources | None = None
    args: Sources | None = None
    result: Sources | None = None
    tool_call_id: Sources | None = None
    mcp_server: Sources | None = None
    agent: Sources | None = None
    agent_id: Sources | None = None
    session_id: Sources | None = None
    model: Sources | None = None
    provider: Sources | None = None
    input_tokens: Sources | None = None
    output_tokens: Sources | None = None
    cached_input_tokens: Sources | None = None
    reasoning_output_tokens: Sources | None = None
    finish_reason: Sources | None = None
    response_id: Sources | None = None
    output_messages: Sources | None = None
    input_messages: Sources | None = None
    from_agent: Sources | None = None
    to_agent: Sources | None = None
    query: Sources | None = None
    output: Sources | None = None
    failure: Sources | None = None
    failed_when: Annotated[Tests | None, Field(min_length=1)] = None


_TOOL = frozenset({"name", "args", "result", "tool_call_id", "mcp_server"})
_MODEL = frozenset(
    {"model", "provider", "finish_reason", "response_id", "output_messages", "input_messages"}
)
_ONLY: dict[str, frozenset[str]] = {
    **{t.value: _TOOL for t in TOOL_STEP_TYPES},
    StepType.MODEL_GENERATION: _MODEL,
    StepType.EMBEDDING: frozenset({"model"}),
    StepType.HANDOFF: frozenset({"from_agent", "to_agent"}),
    StepType.RETRIEVAL: frozenset({"name", "query", "output"}),
    NOISE: frozenset(),
}
"""The fields a step type has besides those every type has; `name` alone for all others."""
_SPECIAL = frozenset({"name"}).union(*_ONLY.values())


class Rule(_Part):
    """One rule: spans that match are such a step, with fields from there.

    reason: why they are noise, for `explain`.
    """

    match: Match
    as_: Annotated[StrictStr, AfterValidator(_check_as)] = Field(alias="as")
    fields: Fields = Fields()
    reason: Text | None = None


def _not_empty(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Refuse no rules; a length limit of pydantic's would also tell of rules that are wrong."""
    if not rules:
        raise PydanticCustomError("no_rule", "at least one rule was expected")
    return rules


class MapFile(_Part):
    """A mapping file: its version, and rules of which the first that matches a span counts."""

    version: Literal[1]
    name: Text | None = None
    spans: Annotated[tuple[Rule, ...], AfterValidator(_not_empty)]


class Mapping(NamedTuple):
    """A checked mapping file; `content_hash` is the SHA-256 of what it says, in hex."""

    name: str
    content_hash: str
    rules: tuple[Rule, ...]


def read_map_file(path: str | Path) -> Mapping:
    """Return the mapping a YAML or JSON file holds.

    Raises:
        UsageError: it cannot be read, or something in it is wrong; with file, line and key, and
            what was probably meant.
    """
    document = read_document(path)
    if not isinstance(document.value, dict):
        raise UsageError(
            f"is wrong (got {document.value!r:.80}); a mapping with version and spans was expected",
            at=document.locate(),
        )
    found = validate(MapFile, document, document.value)
    for index, rule in enumerate(found.spans):
        _check_fields(document, rule, index)
        _check_patterns(document, rule, index)
    digest = hashlib.sha256(found.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()
    return Mapping(found.name or Path(document.path).stem, digest, found.spans)


def _check_fields(document: Document, rule: Rule, index: int) -> None:
    """Refuse a field that steps of the rule's type do not have: it would silently say nothing."""
    has = _ONLY.get(rule.as_, frozenset({"name"}))
    for field in sorted(rule.fields.model_fields_set & (_SPECIAL - has)):
        common = sorted({*Fields.model_fields} - _SPECIAL)
        raise UsageError(
            f"{rule.as_} has no field {field}",
            at=document.locate(("spans", index, "fields", field)),
            hint=f"its fields: {', '.join([*sorted(has), *common])}",
        )
    if rule.reason and rule.as_ != NOISE:
        raise UsageError(
            f"a reason is for noise only (got as: {rule.as_})",
            at=document.locate(("spans", index, "reason")),
        )


def _check_patterns(document: Document, rule: Rule, index: int) -> None:
    at: tuple[str | int, ...] = ("spans", index)
    match = rule.match
    for key, text in (("name", match.name), ("scope", match.scope), ("service", match.service)):
        _compile(document, text, (*at, "match", key))
    for name, wanted in match.attributes.items():
        _compile(document, wanted, (*at, "match", "attributes", name))
    for name, wanted in (rule.fields.failed_when or {}).items():
        _compile(document, wanted, (*at, "fields", "failed_when", name))
    for field in sorted(rule.fields.model_fields_set - {"failed_when"}):
        for source in sources_of(getattr(rule.fields, field)):
            if isinstance(source.span_name, str):
                place = (*at, "fields", field)
                pattern = _compile(document, source.span_name, place)
                if pattern is None or pattern.groups < 1:
                    raise UsageError(
                        f"is wrong (got {source.span_name!r:.80}); true, or re: and an expression "
                        "with a group was expected",
                        at=document.locate(place),
                        hint="'re:tool (.+)' takes what stands in the brackets",
                    )


def _compile(document: Document, text: Json, place: tuple[str | int, ...]) -> Any:
    """Return the compiled expression of a pattern, None when it has none."""
    if not isinstance(text, str):
        return None
    try:
        return compile_pattern(text).regex
    except UsageError as error:
        raise UsageError(error.message, at=document.locate(place), hint=error.hint) from error


def sources_of(given: Any) -> tuple[Source, ...]:
    """Return what a field of a rule was given as, as a tuple of sources."""
    if given is None:
        return ()
    if isinstance(given, tuple):
        return tuple(source for one in given for source in sources_of(one))
    return (Source(attribute=given),) if isinstance(given, str) else (given,)
