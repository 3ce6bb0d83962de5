"""Names as users write them: exact text, globs, `re:` expressions; and every name a step goes by.

One thing a newcomer would get wrong: every pattern is held against the *whole* name, so `delete`
never finds `undelete`; and all patterns of users pass through `compile_pattern`, nowhere else. They
run on RE2, whose time is linear in the text: names are hostile, and so may patterns be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped]

from trajscope.errors import UsageError
from trajscope.model.step import BaseStep, ToolStep
from trajscope.names import bare_name, mcp_parts

_ID_FIELDS = ("agent_id", "workflow_id", "step_id", "processor_id")


class Regex:
    """A compiled expression of the linear-time engine, held against whole texts."""

    __slots__ = ("_compiled", "expression")

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._compiled: Any = re2.compile(_encodable(expression), _options())

    def fullmatch(self, text: str) -> bool:
        """Return whether the expression matches the text as a whole."""
        return self._compiled.fullmatch(_encodable(text)) is not None

    @property
    def groups(self) -> int:
        """How many groups the expression has."""
        count: int = self._compiled.groups
        return count

    def first_group(self, text: str) -> str | None:
        """Return what the first group matches, None where the whole text does not match."""
        found = self._compiled.fullmatch(_encodable(text))
        return None if found is None else found[1]


_SURROGATES = re.compile("[\ud800-\udfff]")


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which recorded text may hold and UTF-8 may not."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


class NamePattern(NamedTuple):
    """A compiled name: exact text, glob, or `re:` expression; `regex` is None for exact text."""

    text: str
    regex: Regex | None

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether any of the names is the text or matches it as a whole."""
        return any(
            name == self.text or (self.regex is not None and self.regex.fullmatch(name))
            for name in names
        )

    def matches_step(self, step: BaseStep) -> bool:
        """Return whether the step goes by this name; display labels count only when equal."""
        return self.matches(step_names(step)) or (
            not step.is_tool and step.label is not None and step.label == self.text
        )


@lru_cache(maxsize=4096)
def compile_pattern(text: str) -> NamePattern:
    """Return `text` as a pattern for names.

    `re:` starts a regular expression, `*`, `?` and `[…]` make a glob, everything else is exact.
    All of them are held against the whole name, so that `delete` never finds `undelete`. What RE2
    cannot say in linear time (back-references, look-around) is refused.

    Raises:
        UsageError: the regular expression or glob is malformed.

    >>> compile_pattern("delete_*").matches(["delete_repo"]), compile_pattern("a").matches(["ab"])
    (True, False)
    """
    if text.startswith("re:"):
        return NamePattern(text, _regex(text[3:], text))
    if any(c in text for c in "*?["):
        return NamePattern(text, _regex(_translate(text), text))
    return NamePattern(text, None)


def literal_pattern(name: str) -> str:
    """Return a pattern that stands for exactly this recorded name.

    >>> literal_pattern("search"), literal_pattern("re:x")
    ('search', 're:re:x')
    """
    special = name.startswith("re:") or any(c in name for c in "*?[") or not name
    return f"re:{re.escape(name)}" if special else name


def _translate(glob: str) -> str:
    """Return a glob as an expression; as in `fnmatch`, a `[` that is never closed is itself."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "[" and (end := glob.find("]", at + 1 + (glob[at : at + 1] == "!"))) > 0:
            chosen = glob[at:end].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            negated = chosen[:1] == "!"
            chosen = chosen[1:] if negated else chosen
            chosen = f"\\{chosen}" if chosen[:1] == "^" else chosen
            out.append(f"[{'^' if negated else ''}{chosen}]")
            at = end + 1
        else:
            out.append({"*": ".*", "?": "."}.get(char) or re.escape(char))
    return "".join(out)


def _options() -> Any:
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    return options


def _regex(expression: str, shown: str) -> Regex:
    try:
        return Regex(expression)
    except re2.error as error:
        said = error.args[0] if error.args else error
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise UsageError(
            f"the pattern is malformed (got {shown!r:.80}): {said}", hint=_hint(expression)
        ) from error


_BEYOND = re.compile(r"\(\?(?:[=!>(]|<[=!])|\\[1-9]|\(\?P=|[*+?}]\+")


def _hint(expression: str) -> str:
    """Return what to do about an expression: some are well formed for other engines only."""
    if _BEYOND.search(expression):
        return (
            "look-around, back-references, conditions and possessive or atomic groups are not "
            "supported, since they take more than linear time; say it without them (RE2 syntax)"
        )
    if r"\Z" in expression:
        return "a pattern is held against the whole text; drop \\Z"
    return "quote special characters with a backslash, or drop re: for an exact name"


def step_names(step: BaseStep) -> tuple[str, ...]:
    """Return every name the step goes by: the raw one first.

    A tool of a known server also has its bare name and the usual spellings with the server, so an
    expectation may use any of them, and `mcp__github` stands for every tool of that server. Other
    steps also go by their id.
    """
    if not isinstance(step, ToolStep):
        ids = (step.__dict__.get(field) for field in _ID_FIELDS)
        return tuple(dict.fromkeys([step.name, *(i for i in ids if isinstance(i, str))]))
    return _tool_names(step.name, step.__dict__.get("mcp_server"))


@lru_cache(maxsize=4096)
def _tool_names(name: str, server: str | None) -> tuple[str, ...]:
    parts = mcp_parts(name)
    server = server or (parts[0] if parts else None)
    bare = bare_name(name, server)
    names = [name, bare]
    if server:
        names += [f"mcp__{server}__{bare}", f"mcp_{server}_{bare}", f"mcp__{server}"]
        names += [f"{server}{separator}{bare}" for separator in (".", "_", "-", "__", "/", ":")]
    return tuple(dict.fromkeys(names))


def tool_key(step: BaseStep) -> str:
    """Return a text that is equal for two steps of one tool.

    >>> from trajscope.model.step import ToolCallStep
    >>> tool_key(ToolCallStep(name="mcp__calc__add")), tool_key(ToolCallStep(name="add"))
    ('calc.add', 'add')
    """
    parts = mcp_parts(step.name)
    server = step.__dict__.get("mcp_server") or (parts[0] if parts else None)
    bare = bare_name(step.name, server)
    return f"{server}.{bare}" if server else bare
