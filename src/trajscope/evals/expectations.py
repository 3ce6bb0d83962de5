"""Expectation files: one bare expectation for every trace, or many with selectors.

One thing a newcomer would get wrong: whether an expectation matched any trace is known only when
all traces were seen; `unmatched` says which did not, and the caller reports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trajscope.documents import Document, read_document, validate
from trajscope.errors import UsageError
from trajscope.match import compile_pattern
from trajscope.model.expectation import (
    ExpectedStep,
    NamedExpectation,
    Selector,
    TrajectoryExpectation,
)
from trajscope.model.span import Json

KeyPath = tuple[str | int, ...]


def load_expectations(path: str | Path) -> list[NamedExpectation]:
    """Return the expectations of a YAML or JSON file, in order.

    A file is a mapping with `expectations:` (a list of entries with name, select and expect), such
    a list, one such entry, or one bare TrajectoryExpectation, which is for every trace and named
    like the file. An entry without a name is named after the file and its place.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong; with file, line, key,
            value, and what was probably meant.
    """
    document = read_document(path)
    stem = Path(document.path).stem
    entries = _entries(document)
    found: list[tuple[NamedExpectation, KeyPath, KeyPath]] = []
    for index, (entry, keys) in enumerate(entries or ()):
        named = _entry(document, entry, keys, f"{stem}[{index}]" if len(keys) else stem)
        found.append((named, keys, (*keys, "expect")))
    if entries is None:
        expect = validate(TrajectoryExpectation, document, document.value)
        found.append((NamedExpectation(name=stem, expect=expect), (), ()))
    _check(document, found)
    return [named for named, _, _ in found]


def _entries(document: Document) -> list[tuple[Json, KeyPath]] | None:
    """Return the entries of a file, each with its path; None for a bare expectation."""
    value = document.value
    keys: KeyPath = ()
    if isinstance(value, dict) and "expectations" in value:
        for key in value:
            if key != "expectations":
                raise UsageError(
                    f"the key {key!r:.80} is unknown beside expectations",
                    at=document.locate((key,)),
                    hint="put it into an entry of the list",
                )
        value, keys = value["expectations"], ("expectations",)
    elif isinstance(value, dict):
        return [(value, ())] if value.keys() & {"expect", "select"} else None
    if not isinstance(value, list):
        wanted = "a list" if keys else "an expectation or a list of entries"
        raise UsageError(
            f"is wrong (got {value!r:.80}); {wanted} was expected", at=document.locate(keys)
        )
    if not value:
        raise UsageError(
            "holds no expectation; at least one was expected", at=document.locate(keys)
        )
    return [(entry, (*keys, index)) for index, entry in enumerate(value)]


def _entry(document: Document, entry: Json, keys: KeyPath, name: str) -> NamedExpectation:
    if isinstance(entry, dict):
        if "expect" not in entry:
            raise UsageError(
                "expect is missing",
                at=document.locate(keys),
                hint="each entry has name, select and expect; a bare expectation stands alone",
            )
        entry = {"name": name, **entry}
    return validate(NamedExpectation, document, entry, keys)


def _check(document: Document, found: Sequence[tuple[NamedExpectation, KeyPath, KeyPath]]) -> None:
    """Refuse names that stand twice, patterns that are malformed, and an expectation of nothing.

    Each expectation comes with the paths of its entry and of what it expects.
    """
    seen: set[str] = set()
    for named, entry, expect in found:
        if named.name in seen:
            raise UsageError(
                f"the name {named.name!r:.80} stands twice", at=document.locate((*entry, "name"))
            )
        seen.add(named.name)
        if named.expect.says_nothing:
            raise UsageError(
                "expects nothing; steps, a budget or a blacklist was expected",
                at=document.locate(expect),
            )
        for path, pattern in pattern_paths(named.expect):
            _compile(document, (*expect, *path), pattern)
        for path, pattern in _selector_patterns(named.select):
            _compile(document, (*entry, "select", *path), pattern)


def _compile(document: Document, keys: KeyPath, pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except UsageError as error:
        error.at = document.locate(keys)
        raise


def pattern_paths(expectation: TrajectoryExpectation) -> Iterable[tuple[KeyPath, str]]:
    """Yield every pattern of an expectation with its path."""
    for index, name in enumerate(expectation.blacklisted_tools or ()):
        yield ("blacklistedTools", index), name
    for index, rule in enumerate(expectation.blacklisted_sequences or ()):
        for place, name in enumerate(rule):
            yield ("blacklistedSequences", index, place), name
    for index, step in enumerate(expectation.steps or ()):
        for path, pattern in _step_patterns(step):
            yield ("steps", index, *path), pattern


def _step_patterns(step: ExpectedStep) -> Iterable[tuple[KeyPath, str]]:
    yield ("name",), step.name
    for argument, matcher in (step.args_match or {}).items():
        if matcher.regex is not None:
            yield ("argsMatch", argument, "regex"), f"re:{matcher.regex}"
    if step.children is not None:
        for path, pattern in pattern_paths(step.children):
            yield ("children", *path), pattern


def _selector_patterns(select: Selector) -> Iterable[tuple[KeyPath, str]]:
    for field in ("trace_id", "session_id", "agent", "root_name", "service"):
        value = getattr(select, field)
        for pattern in (value,) if isinstance(value, str) else value or ():
            yield (type(select).model_fields[field].alias or field,), pattern


def unmatched(
    expectations: Iterable[NamedExpectation], matched: Iterable[str]
) -> list[NamedExpectation]:
    """Return the expectations that were for no trace, given the names of those that were."""
    names = set(matched)
    return [named for named in expectations if named.name not in names]
