"""Arguments of a call against the expected ones: modes, per-argument comparators, reasons.

One thing a newcomer would get wrong: `subset` means that the *expected* arguments are a subset of
the actual ones; and arguments that were not recorded neither match nor mismatch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import Repr
from typing import NamedTuple

from trajscope.match.patterns import compile_pattern
from trajscope.model.expectation import ArgMatcher, ArgsMode, at_path
from trajscope.model.span import Json
from trajscope.values import equal_json

_repr = Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlevel = 3

MAX_REASONS = 5
"""Reasons kept per pair of steps; the first few say enough."""


class Match(NamedTuple):
    """Whether something holds (None: what it needs was not recorded), and why not."""

    holds: bool | None
    reasons: tuple[str, ...] = ()


MATCHES = Match(True)


def match_args(
    expected: Json, actual: Json, mode: ArgsMode, matchers: Mapping[str, ArgMatcher]
) -> Match:
    """Return whether the arguments of a call are the expected ones.

    exact: equal as JSON values. subset: every expected argument is there and equal, at every depth
    of objects. superset: every actual argument is expected and equal. ignore: any.
    """
    if mode == "ignore" and not matchers:
        return MATCHES
    if actual is None:
        wanted_nothing = expected is None and not matchers
        return MATCHES if wanted_nothing else Match(None, ("tool_args: are not recorded",))
    reasons = list(_matcher_reasons(expected, actual, matchers))
    if mode != "ignore" and len(reasons) < MAX_REASONS:
        wanted = {} if expected is None and mode == "subset" else expected
        reasons += _differences(wanted, actual, mode, frozenset(matchers))
    return Match(False, tuple(reasons[:MAX_REASONS])) if reasons else MATCHES


def _matcher_reasons(
    expected: Json, actual: Json, matchers: Mapping[str, ArgMatcher]
) -> Iterator[str]:
    for path, matcher in matchers.items():
        found = at_path(actual, path)
        wanted = at_path(expected, path)
        if found is None and not _has_path(actual, path):
            yield f"tool_args.{path}: is missing"
        elif matcher.regex is not None and not _text_matches(matcher.regex, found):
            wanted = f"a text like {matcher.regex!r:.80}"
            yield f"tool_args.{path}: is {shown(found)}; {wanted} was expected"
        elif matcher.tolerance is not None and not _within(found, wanted, matcher.tolerance):
            wanted = f"{wanted} ± {matcher.tolerance}"
            yield f"tool_args.{path}: is {shown(found)}; {wanted} was expected"


def _has_path(value: Json, path: str) -> bool:
    while isinstance(value, dict):
        if path in value:
            return True
        head, _, path = path.partition(".")
        value = value.get(head)
    return False


def _text_matches(expression: str, found: Json) -> bool:
    pattern = compile_pattern(f"re:{expression}").regex
    return isinstance(found, str) and pattern is not None and pattern.fullmatch(found)


def _within(found: Json, wanted: Json, tolerance: float) -> bool:
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (found, wanted))
    return numbers and abs(found - wanted) <= tolerance


def _differences(expected: Json, actual: Json, mode: ArgsMode, skip: frozenset[str]) -> list[str]:
    """Return what differs, at most a few, each with its path; paths in `skip` are not looked at."""
    if not skip and mode == "exact" and equal_json(expected, actual):
        return []
    reasons: list[str] = []
    stack = [("", expected, actual)]
    while stack and len(reasons) < MAX_REASONS:
        path, wanted, found = stack.pop()
        place = "tool_args" + (f".{path}" if path else "")
        if path and path in skip:
            continue
        if isinstance(wanted, dict) and isinstance(found, dict):
            below = {key: f"{path}.{key}" if path else str(key) for key in {**wanted, **found}}
            for key, inner in below.items():
                if key in wanted and key in found:
                    stack.append((inner, wanted[key], found[key]))
                elif inner in skip or mode == ("superset" if key in wanted else "subset"):
                    continue
                elif key in wanted:
                    reasons.append(
                        f"tool_args.{inner}: is missing; {shown(wanted[key])} was expected"
                    )
                else:
                    reasons.append(f"tool_args.{inner}: is {shown(found[key])}; none was expected")
        elif _is_list(wanted) and _is_list(found) and len(wanted) == len(found):
            pairs = zip(wanted, found, strict=True)
            stack += [(f"{path}[{i}]", w, f) for i, (w, f) in enumerate(pairs)]
        elif not equal_json(wanted, found):
            reasons.append(f"{place}: is {shown(found)}; {shown(wanted)} was expected")
    return reasons


def _is_list(value: Json) -> bool:
    return isinstance(value, list | tuple)


def shown(value: Json) -> str:
    """Return a value for a message: its repr, cut in depth and length."""
    return _repr.repr(value)
