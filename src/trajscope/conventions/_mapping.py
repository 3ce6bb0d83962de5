"""A convention made of a user's mapping file: `--map FILE`.

One thing a newcomer would get wrong: a mapping is asked like any other convention and wins by its
claim (100 and more), so spans that no rule of it matches are read as if it were not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.conventions._build import build_reading
from trajscope.conventions._find import Finder
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._map_file import (
    NOISE,
    Mapping,
    Presence,
    Rule,
    Source,
    read_map_file,
    sources_of,
)
from trajscope.conventions._vocabulary import GEN_AI, Names, Vocabulary
from trajscope.match import NamePattern, Regex, compile_pattern
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import decode_json, equal_json

_WORDS = {
    "args": "tool_args",
    "result": "tool_result",
    "agent": "agent_name",
    "session_id": "session",
    "cached_input_tokens": "cached_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
    "failure": "status_text",
}
"""Fields of a mapping whose names in a `Vocabulary` differ."""
_COUNTED = ("args", "input_tokens", "output_tokens")


class _Test(NamedTuple):
    """A condition on one attribute."""

    name: str
    presence: bool | None = None
    pattern: NamePattern | None = None
    value: Json = None

    def holds(self, attributes: dict[str, Json]) -> bool:
        if self.presence is not None:
            return (self.name in attributes) is self.presence
        if self.name not in attributes:
            return False
        value = attributes[self.name]
        if self.pattern is not None:
            return isinstance(value, str) and self.pattern.matches((value,))
        return equal_json(value, self.value)


class _Origin(NamedTuple):
    """A source ready for use, with the key under which its value joins the span's attributes."""

    key: str
    source: Source
    regex: Regex | None = None

    def value(self, span: Span) -> Json | UnsetType:
        source = self.source
        if source.attribute is not None:
            return _inside(span.attributes.get(source.attribute, UNSET), source.path or "")
        if source.span_name is None:
            return source.literal
        if self.regex is None:
            return span.name or UNSET
        return self.regex.first_group(span.name) or UNSET


def _inside(value: Json | UnsetType, path: str) -> Json | UnsetType:
    for part in path.split("."):
        if value is UNSET:
            return UNSET
        value = decode_json(value)
        if isinstance(value, dict):
            value = value.get(part, UNSET)
        elif isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 7:
            value = value[int(part)] if int(part) < len(value) else UNSET
        else:
            return UNSET
    return value


class _Rule:
    """One rule of the file, compiled."""

    def __init__(self, rule: Rule, number: int, mapping: str) -> None:
        self.named = tuple(
            (part, compile_pattern(text))
            for part in ("name", "scope", "service")
            if (text := getattr(rule.match, part)) is not None
        )
        self.tests = _tests(rule.match.attributes)
        self.failed_when = _tests(rule.fields.failed_when or {})
        self.fails = f"failed_when of {mapping}, rule {number}"
        self.kind = _kind(rule, f"noise by rule {number} of {mapping}")
        self.origins: list[_Origin] = []
        words: dict[str, Names] = {}
        for field in sorted(rule.fields.model_fields_set - {"failed_when"}):
            origins = [_origin(s, field, mapping) for s in sources_of(getattr(rule.fields, field))]
            words[field] = tuple(origin.key for origin in origins)
            self.origins += [o for o in origins if o.key != o.source.attribute]
        self.failure_names = words.get("failure", ())
        self.name_names = words.pop("name", ())
        self.counted = tuple(key for f in _COUNTED for key in words.get(f, ()))
        self.words = _vocabulary(words, self.name_names, self.kind)

    def matches(self, span: Span) -> bool:
        for part, pattern in self.named:
            if not pattern.matches((_text_of(span, part),)):
                return False
        return all(test.holds(span.attributes) for test in self.tests)

    def with_origins(self, span: Span) -> Span:
        """Return the span with literals, parts of values and of the label as attributes."""
        if not self.origins:
            return span
        found = {o.key: value for o in self.origins if (value := o.value(span)) is not UNSET}
        return msgspec.structs.replace(span, attributes={**span.attributes, **found})


def _text_of(span: Span, part: str) -> str:
    if part == "name":
        return span.name
    return span.scope_name if part == "scope" else span.service_name or ""


def _tests(given: dict[str, Any]) -> tuple[_Test, ...]:
    return tuple(
        _Test(name, presence=wanted.exists)
        if isinstance(wanted, Presence)
        else _Test(name, pattern=compile_pattern(wanted))
        if isinstance(wanted, str)
        else _Test(name, value=wanted)
        for name, wanted in given.items()
    )


def _kind(rule: Rule, reason: str) -> Kind:
    return noise(rule.reason or reason) if rule.as_ == NOISE else step(StepType(rule.as_))


def _origin(source: Source, field: str, mapping: str) -> _Origin:
    """Name a source: the key is what `explain` shows as the source of the field."""
    if source.attribute is not None:
        path = f" at {source.path}" if source.path else ""
        return _Origin(source.attribute + path, source)
    if source.span_name is None:
        return _Origin(f"literal {field} in {mapping}", source)
    given = source.span_name
    regex = compile_pattern(given).regex if isinstance(given, str) else None
    return _Origin(f"span name ({given})" if regex else "span name", source, regex)


def _vocabulary(words: dict[str, Names], names: Names, kind: Kind) -> Vocabulary:
    own = {_WORDS.get(field, field): given for field, given in words.items()}
    if kind.step_type in TOOL_STEP_TYPES:
        own["tool_name"] = names
    elif kind.step_type is StepType.AGENT_RUN:
        own["agent_name"] = (*names, *own.get("agent_name", ()))
    elif kind.step_type is StepType.WORKFLOW_RUN:
        own["workflow_name"] = names
    return GEN_AI.extended(**own)


class MappingConvention:
    """The convention of a mapping file: the first rule that matches a span reads it.

    Attributes of the OTel GenAI conventions fill what a rule says nothing of.
    """

    tier = 100

    def __init__(self, mapping: Mapping) -> None:
        self.name = f"map:{mapping.name}"
        self.description = f"The mapping file {mapping.name}."
        self.content_hash = mapping.content_hash
        rules = enumerate(mapping.rules, 1)
        self._rules = tuple(_Rule(rule, number, mapping.name) for number, rule in rules)

    @classmethod
    def from_file(cls, path: str | Path) -> MappingConvention:
        """Return the convention a mapping file describes; see `conventions.load_mapping`."""
        return cls(read_map_file(path))

    def claim(self, span: Span) -> int:
        """Return 100 plus 1 (a rule matches), 2 (and names) or 3 (and gives arguments or usage)."""
        rule = self._rule_of(span)
        return 0 if rule is None else self._claim(rule, rule.with_origins(span))

    def read(self, span: Span) -> Reading:
        """Return the reading of a span this mapping claims."""
        rule = self._rule_of(span)
        if rule is None:
            return Reading(noise_reason=f"no rule of {self.name}")
        whole = rule.with_origins(span)
        words = rule.words.within(whole.attributes)
        reading = build_reading(whole, words, rule.kind, self.name, self._claim(rule, whole))
        return _refined(rule, span, whole, reading)

    def _rule_of(self, span: Span) -> _Rule | None:
        return next((rule for rule in self._rules if rule.matches(span)), None)

    def _claim(self, rule: _Rule, whole: Span) -> int:
        if any(name in whole.attributes for name in rule.counted):
            return self.tier + 3
        return self.tier + (2 if any(n in whole.attributes for n in rule.name_names) else 1)


def _refined(rule: _Rule, span: Span, whole: Span, reading: Reading) -> Reading:
    find = Finder(whole.attributes)
    found: dict[str, Any] = {}
    if name := find.text("name", rule.name_names):
        found["name"] = name
    if rule.kind.step_type is StepType.MCP_TOOL_CALL:
        found["is_mcp"] = True
    said = find.text("failure", rule.failure_names)
    if rule.failed_when:
        if all(test.holds(span.attributes) for test in rule.failed_when):
            found |= {"failed": True, "failure": said or reading.failure}
            find.sources["failed"] = rule.fails
    elif said and not reading.failed:
        found |= {"failed": True, "failure": said}
        find.sources["failed"] = find.sources["failure"]
    sources = {**reading.sources, **find.sources}
    return msgspec.structs.replace(reading, sources=sources, **found)
