"""Policy files: lists and rules, read into a `Policy` or into all that is wrong with them.

One thing a newcomer would get wrong: a file with a mistake is no policy at all. A partial audit
must not pass for a whole one, so everything is checked before anything is returned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from trajscope.documents import Document, parse_document, read_document, validate
from trajscope.errors import PluginError, TrajscopeError, UsageError
from trajscope.match import compile_pattern
from trajscope.model.check import Check
from trajscope.model.expectation import Selector
from trajscope.model.policy import Policy, PolicyRule
from trajscope.model.rule import AuditScope
from trajscope.model.score import Severity
from trajscope.ports import Rule
from trajscope.registry import discover
from trajscope.rules._examples import read_examples
from trajscope.rules._lists import read_lists
from trajscope.rules._matchers import Body
from trajscope.rules._part import KeyPath, Reading, nearest
from trajscope.rules._say import FIELDS, unknown_places
from trajscope.rules._scopes import read_scope, types_of
from trajscope.rules._units import shown

VERSION = 1
_REFERENCE = ("blacklisted_tools", "blacklisted_sequences")
_BASE = (
    "id",
    "severity",
    "message",
    "tags",
    "select",
    "scope",
    "under",
    "not_under",
    "among",
    "examples",
)
_MAX_SHOWN = 20
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def load_policy(path: str | Path, kinds: Mapping[str, Rule] | None = None) -> Policy:
    """Return the rules of a policy file (YAML or JSON).

    A file is a mapping with `rules`, and if you like `version`, `lists`, `blacklistedTools` and
    `blacklistedSequences`; or a bare list of rules.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong: all of it at once, each
            with file, line, value, and what was probably meant.
    """
    return _to_policy(read_document(path), kinds)


def parse_policy(
    text: str, name: str = "<text>", kinds: Mapping[str, Rule] | None = None
) -> Policy:
    """Return the rules of a policy text; see `load_policy`.

    >>> parse_policy("- never: delete_*").rules[0].kind
    'never'
    """
    return _to_policy(parse_document(text, name), kinds)


@cache
def rule_kinds() -> dict[str, Rule]:
    """Return every known rule kind by name: the package's own and those of entry points."""
    return discover("trajscope.rules", "RULE", Rule)  # type: ignore[type-abstract]


def _to_policy(document: Document, kinds: Mapping[str, Rule] | None) -> Policy:
    reading = Reading(document)
    loader = _Loader(reading, kinds if kinds is not None else rule_kinds())
    rules = loader.rules(Body(document.value, (), reading))
    reading.unasked()
    if reading.mistakes:
        raise _joined(reading.mistakes)
    return Policy(tuple(rules), document.path, dict(reading.lists))


def _joined(mistakes: list[UsageError]) -> UsageError:
    """Return all mistakes as one error, in order of their lines; the first leads."""
    placed = sorted(
        mistakes, key=lambda m: ((m.at and m.at.line) or 0, (m.at and m.at.column) or 0)
    )
    different = list({str(mistake): mistake for mistake in placed}.values())
    first, rest = different[0], different[1:_MAX_SHOWN]
    lines = [first.message]
    lines += [f"{m.at}: {m.message}" + (f"; {m.hint}" if m.hint else "") for m in rest]
    if len(different) > _MAX_SHOWN:
        lines.append(f"and {len(different) - _MAX_SHOWN} more")
    return UsageError("\n".join(lines), at=first.at, hint=first.hint)


class _Loader:
    """Reads the rules of one file."""

    def __init__(self, reading: Reading, kinds: Mapping[str, Rule]) -> None:
        self._reading = reading
        self._kinds = _by_key(kinds)
        self._ids: Counter[str] = Counter()

    def rules(self, top: Body) -> list[PolicyRule]:
        """Return the rules of the file."""
        if top.value == []:
            top.fail("holds no rules; at least one was expected")
            return []
        if isinstance(top.value, list):
            return [rule for item in top.elements() for rule in self._rule(item)]
        if not isinstance(top.value, dict):
            top.wrong("a mapping with rules, or a list of rules,")
            return []
        if top.has("version") and top.part("version").value != VERSION:
            version = top.part("version")
            version.fail(
                f"is a version this program does not know (got {version.value!r:.40}); "
                f"{VERSION} was expected"
            )
        if top.has("lists"):
            self._reading.lists = read_lists(top.part("lists"))
        found: list[PolicyRule] = []
        for key in list(top.value):
            name = to_snake(key)
            if name in _REFERENCE and top.has(key):
                kind = self._kinds[name]
                checks = _compiled(kind, top.part(key), name)
                found.append(self._built(kind, checks, top.part(key), name.replace("_", "-")))
        if top.has("rules"):
            listed = top.part("rules")
            if not isinstance(listed.value, list) or not listed.value:
                listed.wrong("a list of rules")
            else:
                found = [r for item in listed.elements() for r in self._rule(item)] + found
        elif not found:
            top.fail("holds no rules; rules: with a list was expected")
        return found

    def _rule(self, body: Body) -> Iterator[PolicyRule]:
        if not isinstance(body.value, dict):
            body.wrong("a rule, which is a mapping,")
            return
        present = {key: to_snake(key) for key in body.value if to_snake(key) in self._kinds}
        for name in list(present.values()):
            for other in self._kinds[name].beside:
                present = {k: n for k, n in present.items() if n != other or n == name}
        if len(present) != 1:
            self._no_kind(body, list(present))
            return
        ((key, name),) = present.items()
        kind = self._kinds[name]
        body.has(key)
        inner = Body(body.value[key], (*body.keys, key), self._reading, beside=body)
        before = len(self._reading.mistakes)
        checks = _compiled(kind, inner, name)
        rule = self._built(kind, checks, body, self._id(body, kind, body.value[key]))
        if len(self._reading.mistakes) == before:
            yield rule

    def _no_kind(self, body: Body, present: list[str]) -> None:
        """Note that a rule has no kind, or several; its other keys are then not judged."""
        if present:
            body.fail(
                f"is of several kinds (got {', '.join(present)}); one was expected",
                "make a rule of each",
            )
        else:
            unknown = [key for key in body.value if key not in _BASE]
            said = f"got {', '.join(map(repr, unknown))}" if unknown else "got none"
            near = nearest(to_snake(unknown[0]), sorted(self._kinds)) if unknown else None
            body.fail(
                f"has no known kind ({said:.120}); never, before, count, … was expected",
                near
                if near and near.startswith("did")
                else f"the kinds are {', '.join(sorted({k.name for k in self._kinds.values()}))}",
            )
        body.asked |= set(body.value)

    def _id(self, body: Body, kind: Rule, value: object) -> str:
        """Return the id of a rule, or one made of what it says, which stays when lines move."""
        if body.has("id"):
            name = body.part("id").text()
        else:
            said = re.sub(r"[^A-Za-z0-9*_]+", "-", str(value)).strip("-")[:40]
            name = f"{kind.name.replace('_', '-')}-{said}"
        self._ids[name] += 1
        if self._ids[name] > 1 and body.has("id"):
            body.part("id").fail(f"stands twice (got {name!r:.80})")
        return name if self._ids[name] == 1 else f"{name}-{self._ids[name]}"

    def _built(self, kind: Rule, checks: tuple[Check, ...], body: Body, name: str) -> PolicyRule:
        whole = isinstance(body.value, dict)
        document = self._reading.document
        message = body.part("message").text() if whole and body.has("message") else None
        for place in unknown_places(message or "", checks):
            body.part("message").fail(
                f"has a place nothing fills (got {place}); one of "
                f"{', '.join(f'{{{f}}}' for f in FIELDS)}, {{1}}, {{1.args.x}} was expected",
                "names given with as: may stand there too",
            )
        return PolicyRule(
            id=name,
            kind=kind.name,
            checks=checks,
            severity=self._severity(body) if whole else Severity.ERROR,
            message=message,
            tags=body.part("tags").patterns() if whole and body.has("tags") else (),
            select=self._select(body) if whole else Selector(),
            scope=read_scope(body, checks) if whole else AuditScope(types=types_of(checks)),
            examples=read_examples(body.part("examples")) if whole and body.has("examples") else (),
            at=document.locate(body.keys),
        )

    def _severity(self, body: Body) -> Severity:
        if not body.has("severity"):
            return Severity.ERROR
        names = tuple(severity.value for severity in reversed(Severity))
        return Severity(body.part("severity").choice(names))

    def _select(self, body: Body) -> Selector:
        if not body.has("select"):
            return Selector()
        part = body.part("select")
        part.asked |= set(part.value) if isinstance(part.value, dict) else set()
        try:
            selector = validate(Selector, self._reading.document, part.value, part.keys)
        except UsageError as error:
            self._reading.mistakes.append(error)
            return Selector()
        for field in ("trace_id", "session_id", "agent", "root_name", "service"):
            value = getattr(selector, field)
            for pattern in (value,) if isinstance(value, str) else value or ():
                try:
                    compile_pattern(pattern)
                except UsageError as error:
                    self._reading.fail(error.message, (*part.keys, field), error.hint)
        return selector


def _by_key(kinds: Mapping[str, Rule]) -> dict[str, Rule]:
    """Return the kinds by every key users may write."""
    found: dict[str, Rule] = {}
    for kind in kinds.values():
        for key in (kind.name, *kind.aliases):
            if found.setdefault(key, kind) is not kind:
                raise PluginError(
                    f"rule kind {kind.name!r}: the key {key!r} is taken by {found[key].name!r}"
                )
    return found


def _compiled(kind: Rule, body: Body, key: str) -> tuple[Check, ...]:
    """Return the checks of a rule; a kind that crashes is named, and nothing to check refused."""
    before = len(body.reading.mistakes)
    try:
        checks = kind.compile(body, key)
    except TrajscopeError:
        raise
    except Exception as error:
        place = body.reading.document.locate(body.keys)
        said = f"rule kind {kind.name!r} crashed: {type(error).__name__}: {error}"
        raise PluginError(said, at=place) from error
    if not checks and len(body.reading.mistakes) == before:
        body.fail(f"checks nothing (got {shown(body.value)}); at least one thing was expected")
    return checks


def to_snake(key: KeyPath | str) -> str:
    """Return a key in the spelling of the kinds.

    >>> to_snake("blacklistedTools"), to_snake("not-together")
    ('blacklisted_tools', 'not_together')
    """
    return _CAMEL.sub("_", str(key)).replace("-", "_").lower()
