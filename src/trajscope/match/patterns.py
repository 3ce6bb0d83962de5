"""Names as users write them: exact text, globs, `re:` expressions; and every name a step goes by.

One thing a newcomer would get wrong: every pattern is held against the *whole* name, so `delete`
never finds `undelete`; and all patterns of users pass through `compile_pattern`, nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from trajscope.errors import UsageError
from trajscope.model.step import BaseStep, ToolStep
from trajscope.names import bare_name, mcp_parts

_ID_FIELDS = ("agent_id", "workflow_id", "step_id", "processor_id")


class NamePattern(NamedTuple):
    """A compiled name: exact text, glob, or `re:` expression; `regex` is None for exact text."""

    text: str
    regex: re.Pattern[str] | None

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether any of the names is the text or matches it as a whole."""
        return any(
            name == self.text or (self.regex is not None and self.regex.fullmatch(name) is not None)
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
    All of them are held against the whole name, so that `delete` never finds `undelete`.

    Raises:
        UsageError: the regular expression or glob is malformed.

    >>> compile_pattern("delete_*").matches(["delete_repo"]), compile_pattern("a").matches(["ab"])
    (True, False)
    """
    if text.startswith("re:"):
        return NamePattern(text, _regex(text[3:], text))
    if any(c in text for c in "*?["):
        return NamePattern(text, _regex(translate(text), text))
    return NamePattern(text, None)


def literal_pattern(name: str) -> str:
    """Return a pattern that stands for exactly this recorded name.

    >>> literal_pattern("search"), literal_pattern("re:x")
    ('search', 're:re:x')
    """
    special = name.startswith("re:") or any(c in name for c in "*?[") or not name
    return f"re:{re.escape(name)}" if special else name


def _regex(expression: str, shown: str) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"the pattern is malformed (got {shown!r:.80}): {error}",
            hint="quote special characters with a backslash, or drop re: for an exact name",
        ) from error


def step_names(step: BaseStep) -> tuple[str, ...]:
    """Return every name the step goes by: the raw one first.

    A tool of a known server also has its bare name and the usual spellings with the server, so an
    expectation may use any of them, and `mcp__github` stands for every tool of that server. Other
    steps also go by their id.
    """
    if not isinstance(step, ToolStep):
        ids = (getattr(step, field, None) for field in _ID_FIELDS)
        return tuple(dict.fromkeys([step.name, *(i for i in ids if isinstance(i, str))]))
    return _tool_names(step.name, getattr(step, "mcp_server", None))


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
    server = getattr(step, "mcp_server", None) or (parts[0] if parts else None)
    bare = bare_name(step.name, server)
    return f"{server}.{bare}" if server else bare
