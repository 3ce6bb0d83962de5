"""What expectations ask of the set-based scorers, as columns: the parameters of `sql/scorers`.

One thing a newcomer would get wrong: `None` is no limit and 0 is one. Texts of limits are made
here, since messages write them as Python does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from trajscope.model.expectation import TrajectoryExpectation
from trajscope.scope import resolve_scope
from trajscope.scorers._blacklist import forbids_anything
from trajscope.scorers._efficiency import speaks_of_efficiency
from trajscope.scorers._failures import DEFAULT_MAX_RETRIES

_BUDGETS = ("max_steps", "max_total_tokens", "max_total_duration_ms")


class AskedRule(NamedTuple):
    """A name or a sequence of names that an expectation forbids; see `asked_rules.sql`."""

    e: int
    rule: int
    is_sequence: bool
    texts: tuple[str, ...]
    places: str
    lines: str


def asked_limits(expectations: Sequence[TrajectoryExpectation]) -> dict[str, list[Any]]:
    """Return the columns of the table `asked` that say what is expected."""
    columns: dict[str, list[Any]] = {
        "e": list(range(len(expectations))),
        "scope": [x.scope for x in expectations],
        "asks_efficiency": [speaks_of_efficiency(x) for x in expectations],
        "asks_blacklist": [forbids_anything(x) for x in expectations],
        "asks_comparison": [x.steps is not None for x in expectations],
        "no_redundant_calls": [x.no_redundant_calls for x in expectations],
        "max_retries": [_retries(x) for x in expectations],
        "max_retries_text": [f"{_retries(x):g}" for x in expectations],
    }
    for name in _BUDGETS:
        limits = [getattr(x, name) for x in expectations]
        columns[name] = limits
        columns[f"{name}_text"] = [None if limit is None else f"{limit:g}" for limit in limits]
    return columns


def _retries(expectation: TrajectoryExpectation) -> float:
    given = expectation.max_retries_per_tool
    return float(DEFAULT_MAX_RETRIES) if given is None else given


def asked_rules(expectations: Sequence[TrajectoryExpectation]) -> list[AskedRule]:
    """Return what the expectations forbid, single names first, each once."""
    found = []
    for e, expectation in enumerate(expectations):
        scope = resolve_scope(expectation.scope)
        chosen = expectation.scope not in (None, "auto", "session")
        places = scope if chosen and scope in ("top", "tools") else "all"
        names = [(False, (n,)) for n in dict.fromkeys(expectation.blacklisted_tools or ())]
        sequences = [(True, s) for s in dict.fromkeys(expectation.blacklisted_sequences or ())]
        for rule, (is_sequence, texts) in enumerate([*names, *sequences]):
            found.append(AskedRule(e, rule, is_sequence, texts, places, scope))
    return found
