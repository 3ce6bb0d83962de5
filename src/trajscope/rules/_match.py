"""Whether a step is meant: matchers and joins, each surely, possibly or not at all.

One thing a newcomer would get wrong: None is *possibly*. It is neither True nor False, and every
`if` here says which of the three it means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from trajscope.match import compile_pattern, json_key, tool_key
from trajscope.model.rule import Condition, Matcher, ValuePath
from trajscope.model.span import Json
from trajscope.model.step import BaseStep, ToolStep
from trajscope.names import mcp_parts
from trajscope.rules._lines import LineStep
from trajscope.values import PLACEHOLDERS, equal_json

Attributes = Callable[[str | None, str | None], Mapping[str, Json] | None]
"""Gives the attributes of the span with a trace and span id, or None where nobody has them."""

Test = Callable[[LineStep], bool | None]
"""Whether a step is meant: surely, possibly (None), or not."""

_OUR_MASK = re.compile(r"\[REDACTED:[0-9a-f]{10}\]")
"""What `redact` leaves in place of a secret."""
REMOVED = PLACEHOLDERS - {"", "N/A"}
"""Texts that stand for a value somebody removed."""


class Missing(Enum):
    """Why there is no value."""

    ABSENT = "absent"
    UNKNOWN = "unknown"


def all_of(results: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: one that does not decides, then one that is unknown.

    >>> all_of([True, None]), all_of([None, False]), all_of([])
    (None, False, True)
    """
    unknown = False
    for result in results:
        if result is False:
            return False
        unknown = unknown or result is None
    return None if unknown else True


def any_of(results: Iterable[bool | None]) -> bool | None:
    """Return whether any holds: one that does decides, then one that is unknown.

    >>> any_of([False, None]), any_of([None, True]), any_of([])
    (None, True, False)
    """
    unknown = False
    for result in results:
        if result is True:
            return True
        unknown = unknown or result is None
    return None if unknown else False


class Values:
    """Looks up values of steps."""

    def __init__(self, attributes: Attributes | None = None) -> None:
        self._attributes = attributes

    def at(self, path: ValuePath, item: LineStep) -> Json | Missing:
        """Return the value a path leads to, or why there is none."""
        found = self.recorded(path, item)
        return Missing.UNKNOWN if _is_removed(found) else found

    def recorded(self, path: ValuePath, item: LineStep) -> Json | Missing:
        """Return what stands at a path, be it the mark of a removed value."""
        found = self._part(path.part, item)
        for key in path.keys:
            if isinstance(found, Missing) or _is_removed(found):
                return Missing.UNKNOWN
            if isinstance(key, int):
                inside = isinstance(found, list | tuple) and key < len(found)
            else:
                inside = isinstance(found, Mapping) and key in found
            if not inside:
                return Missing.ABSENT
            found = found[key]
        return found

    def _part(self, part: str, item: LineStep) -> Any:
        step = item.step
        found: Json = None
        if part == "args":
            found = step.__dict__.get("tool_args")
        elif part == "result":
            return _result(step)
        elif part == "attr":
            lookup = self._attributes
            found = lookup(step.trace_id, step.span_id) if lookup is not None else step.metadata
        elif part == "tool":
            found = tool_key(step)
        elif part == "agent":
            found = item.agent
        else:
            found = step.__dict__.get("mcp_server") or (mcp_parts(step.name) or (None,))[0]
        return Missing.UNKNOWN if found is None else found


def _result(step: BaseStep) -> Any:
    if not isinstance(step, ToolStep):
        output = getattr(step, "output", None)
        return Missing.UNKNOWN if output is None else output
    recorded = step.tool_result is not None or "tool_result" in step.model_fields_set
    return step.tool_result if recorded else Missing.UNKNOWN


class Tests:
    """Compiles matchers, each once."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._compiled: dict[int, tuple[Matcher, Test]] = {}

    def of(self, matcher: Matcher) -> Test:
        """Return the test a matcher stands for."""
        known = self._compiled.get(id(matcher))
        if known is None:
            known = self._compiled[id(matcher)] = (matcher, self._compile(matcher))
        return known[1]

    def _compile(self, matcher: Matcher) -> Test:
        called = _called(matcher)
        parts = self._parts(matcher)
        if not parts:
            return called

        def test(item: LineStep) -> bool | None:
            return called(item) and all_of(part(item) for part in parts)

        return test

    def _parts(self, matcher: Matcher) -> list[Test]:
        """Return the tests beyond type and name."""
        parts: list[Test] = []
        if matcher.agents:
            agents = [compile_pattern(p) for p in matcher.agents]
            parts.append(
                lambda item: item.agent is not None and any(p.matches([item.agent]) for p in agents)
            )
        if matcher.executed is not None:
            parts.append(lambda item: item.executed is matcher.executed)
        if matcher.done:
            parts.append(_is_done)
        if matcher.failed is not None:
            parts.append(lambda item: _is_failed(item, matcher.failed))
        parts += [self._condition(condition) for condition in matcher.where]
        parts += [_not(self.of(excluded)) for excluded in matcher.excluded]
        return parts

    def _condition(self, condition: Condition) -> Test:
        compare = _COMPARE.get(condition.operator, equal_json)
        wanted = condition.value
        if condition.operator == "matches":
            wanted = compile_pattern(str(wanted))

        def test(item: LineStep) -> bool | None:
            if condition.operator == "exists":
                recorded = self._values.recorded(condition.path, item)
                return None if recorded is Missing.UNKNOWN else wanted is _is_there(recorded)
            found = self._values.at(condition.path, item)
            if found is Missing.ABSENT:
                return condition.operator in ("ne", "not_in")
            return None if found is Missing.UNKNOWN else compare(found, wanted)

        return test


def _is_removed(value: object) -> bool:
    return isinstance(value, str) and (value in REMOVED or _OUR_MASK.fullmatch(value) is not None)


def _is_there(value: object) -> bool:
    return value is not Missing.ABSENT


def _not(test: Test) -> Test:
    def negated(item: LineStep) -> bool | None:
        result = test(item)
        return None if result is None else not result

    return negated


def _called(matcher: Matcher) -> Callable[[LineStep], bool]:
    """Return the test of type and name; steps that are called alike are tested once."""
    types = frozenset(matcher.types)
    patterns = [compile_pattern(name) for name in matcher.names]
    known: dict[object, bool] = {}

    def test(item: LineStep) -> bool:
        step = item.step
        is_tool = step.is_tool
        key = (step.step_type, step.name, step.__dict__.get("mcp_server"))
        if is_tool and key in known:
            return known[key]
        named = not patterns or any(pattern.matches_step(step) for pattern in patterns)
        result = named and (not types or step.step_type in types)
        if is_tool:  # others go by labels and ids too
            known[key] = result
        return result

    return test


def _outcome(step: BaseStep) -> bool | None:
    """Whether a step has failed, if that is known."""
    if isinstance(step, ToolStep) and step.success is not None:
        return not step.success
    return step.failed


def _is_failed(item: LineStep, wanted: bool | None) -> bool | None:
    failed = _outcome(item.step)
    return None if failed is None else failed is wanted


def _is_done(item: LineStep) -> bool | None:
    failed = _outcome(item.step)
    if failed or not item.executed:
        return False
    if item.step.is_tool:
        return None if failed is None else True
    ended = item.step.start_ns is None or item.step.end_ns is not None
    return True if ended else None


def _number_or_text(found: Json, wanted: Json) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (found, wanted))
    return numbers or (isinstance(found, str) and isinstance(wanted, str))


def _contains(found: Json, wanted: Json) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    if isinstance(found, list | tuple):
        return any(equal_json(wanted, element) for element in found)
    return isinstance(found, Mapping) and isinstance(wanted, str) and wanted in found


def text_of_scalar(value: Json) -> str | None:
    """Return a scalar as text, another value as None."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return json_key(value) if isinstance(value, int | float) else None


def _matches(found: Json, pattern: Any) -> bool:
    text = text_of_scalar(found)
    return text is not None and bool(pattern.matches([text]))


_COMPARE: dict[str, Callable[[Json, Any], bool]] = {
    "eq": equal_json,
    "ne": lambda found, wanted: not equal_json(found, wanted),
    "gt": lambda found, wanted: _number_or_text(found, wanted) and found > wanted,
    "ge": lambda found, wanted: _number_or_text(found, wanted) and found >= wanted,
    "lt": lambda found, wanted: _number_or_text(found, wanted) and found < wanted,
    "le": lambda found, wanted: _number_or_text(found, wanted) and found <= wanted,
    "in": lambda found, wanted: any(equal_json(found, value) for value in wanted),
    "not_in": lambda found, wanted: not any(equal_json(found, value) for value in wanted),
    "matches": _matches,
    "contains": _contains,
}
