"""Reads matchers: `delete_*`, `{tool: …, where: …}`, `read_inbox.result`.

One thing a newcomer would get wrong: a matcher that names no type means tools only; `type: any`
means every step.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from trajscope.errors import UsageError
from trajscope.match import compile_pattern
from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.rule import OPERATORS, TOOLS, Condition, Matcher, Operator, ValuePath
from trajscope.rules._part import Part
from trajscope.rules._units import read_path, shown

_SOURCE = re.compile(r"(.+?)\.((?:args|result)(?:[.\[].*)?)", re.DOTALL)
_TYPES: dict[str, tuple[StepType, ...]] = {
    "tool": TOOLS,
    "any": (),
    "agent": (StepType.AGENT_RUN,),
    "model": (StepType.MODEL_GENERATION,),
    **{kind.value: (kind,) for kind in StepType},
}
_KEYS = ("tool", "name", "type", "agent", "where", "failed", "executed", "as")


class Body(Part):
    """A part of a rule with readers for steps; the implementation of `ports.RuleBody`."""

    def matcher(
        self, *, executed: bool | None = None, done: bool = False, failed: bool | None = None
    ) -> Matcher:
        """Return which steps are meant."""
        return _read_matcher(self, Matcher(executed=executed, done=done, failed=failed))

    def matchers(
        self, *, executed: bool | None = None, done: bool = False, failed: bool | None = None
    ) -> tuple[Matcher, ...]:
        """Return the alternatives of a list; names without more are one of them."""
        return _read_matchers(self, Matcher(executed=executed, done=done, failed=failed))

    def source(
        self, *, executed: bool | None = None, done: bool = False
    ) -> tuple[Matcher, ValuePath]:
        """Return a step and a part of it (`read_inbox.result`)."""
        return _read_source(self, Matcher(executed=executed, done=done))


def _read_matcher(part: Body, defaults: Matcher) -> Matcher:
    """Return which steps a part means: a name, a list of names, or a mapping."""
    if isinstance(part.value, dict):
        return _mapping(part, defaults)
    if isinstance(part.value, list) and any(isinstance(v, dict) for v in part.value):
        part.wrong("one step")
        return defaults
    return replace(defaults, names=part.patterns())


def _read_matchers(part: Body, defaults: Matcher) -> tuple[Matcher, ...]:
    """Return the alternatives of a part; all bare names of a list are one of them."""
    if not isinstance(part.value, list):
        return (_read_matcher(part, defaults),)
    found: list[Matcher] = []
    names: list[str] = []
    for item in part.items():
        if isinstance(item.value, dict):
            found.append(_mapping(item, defaults))
        else:
            names += item.patterns()
    if names:
        found.insert(0, replace(defaults, names=tuple(dict.fromkeys(names))))
    return tuple(found) or (defaults,)


def _mapping(part: Body, defaults: Matcher) -> Matcher:
    values: dict[str, Any] = {}
    tool, name, kind = (part.has(key) for key in ("tool", "name", "type"))
    if tool and name:
        part.fail("names both a tool and a step; tool or name was expected")
    if tool or name:
        values["names"] = part.part("tool" if tool else "name").patterns()
    if kind:
        values["types"] = _types(part.part("type"))
        if tool and values["types"] and not TOOL_STEP_TYPES.intersection(values["types"]):
            part.part("type").fail(
                f"can never match: no tool is of this type (got {shown(part.part('type').value)})",
                "use name: for steps that are no tools",
            )
    elif name:
        values["types"] = ()
    if part.has("agent"):
        values["agents"] = part.part("agent").patterns()
    if part.has("where"):
        values["where"] = _where(part.part("where"))
    if part.has("failed"):
        values["failed"] = part.part("failed").boolean()
        values["done"] = False
    if part.has("executed"):
        values["executed"] = part.part("executed").boolean()
        values["done"] = defaults.done and values["executed"] and "failed" not in values
    if part.has("as"):
        values["label"] = part.part("as").text()
    return replace(defaults, **values)


def _types(part: Body) -> tuple[StepType, ...]:
    found: list[StepType] = []
    for item in part.items():
        kind = item.choice(tuple(_TYPES))
        if not _TYPES[kind]:
            return ()
        found += _TYPES[kind]
    return tuple(dict.fromkeys(found))


def _where(part: Body) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for key, item in part.entries():
        path = read_path(key)
        if path is None:
            Body(key, item.keys, part.reading).path()
        elif isinstance(item.value, dict):
            found += _conditions(path, item)
        elif isinstance(item.value, list):
            item.fail(
                f"is ambiguous (got {shown(item.value)}); an operator was expected",
                f"write {{in: {item.value!r:.60}}} for any of them, eq for the list itself",
            )
        else:
            found.append(Condition(path, "eq", item.value))
    return tuple(found)


def _conditions(path: ValuePath, part: Body) -> list[Condition]:
    found = []
    for key, item in part.entries():
        operator = cast("Operator", Body(key, item.keys, part.reading).choice(OPERATORS))
        if key in OPERATORS:
            found.append(Condition(path, operator, _operand(operator, item)))
    if not part.value:
        part.fail("compares with nothing; an operator was expected")
    _check_possible(found, part)
    return found


def _operand(operator: Operator, part: Body) -> Any:
    value = part.value
    if operator == "exists":
        return part.boolean()
    if operator in ("in", "not_in"):
        if not isinstance(value, list) and not (isinstance(value, str) and value[:1] == "$"):
            part.wrong("a list")
        return [item.value for item in part.items()]
    if operator in ("gt", "ge", "lt", "le"):
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            part.wrong("a number or a text")
    elif operator == "matches":
        try:
            compile_pattern(part.text())
        except UsageError as error:
            part.fail(error.message, error.hint)
            return "*"
    return value


def _check_possible(conditions: list[Condition], part: Body) -> None:
    """Note comparisons of one value that can never hold together."""
    by = {condition.operator: condition.value for condition in conditions}
    others = by.keys() - {"exists", "ne", "not_in"}
    if by.get("exists") is False and others:
        part.fail("can never match: a value that is not there equals nothing")
    for low, high in (("gt", "lt"), ("gt", "le"), ("ge", "lt"), ("ge", "le")):
        if low in by and high in by and type(by[low]) is type(by[high]):
            empty = by[low] > by[high] or (by[low] == by[high] and (low, high) != ("ge", "le"))
            if empty:
                part.fail(
                    f"can never match: {low} {shown(by[low])} and {high} {shown(by[high])} "
                    "exclude each other"
                )


def _read_source(part: Body, defaults: Matcher) -> tuple[Matcher, ValuePath]:
    """Return a step and a part of it, from `read_inbox.result` or `{tool: …, part: result}`."""
    if isinstance(part.value, dict):
        path = part.part("part").path() if part.has("part") else ValuePath("args")
        return _mapping(part, defaults), path
    match = _SOURCE.fullmatch(part.value) if isinstance(part.value, str) else None
    path_found = read_path(match[2]) if match else None
    if match is None or path_found is None:
        part.fail(
            f"is no part of a step (got {shown(part.value)}); a tool with .args or .result "
            "was expected",
            "write send_email.args, read_inbox.result or lookup.result.token",
        )
        return defaults, ValuePath("args")
    names = Body(match[1], part.keys, part.reading).patterns()
    return replace(defaults, names=names), path_found
