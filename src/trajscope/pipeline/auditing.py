"""Rules over a store: set-wise where nothing is wrong, by the definition where something may be.

One thing a newcomer would get wrong: results of satisfied and vacuous traces are only counted. Of a
million spans nobody wants to hold a value for each trace in which nothing happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trajscope.assemble import to_trajectory
from trajscope.evals.select import selects
from trajscope.model.expectation import Selector
from trajscope.model.policy import PolicyRule
from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.load import stored
from trajscope.pipeline.stored_facts import stored_facts
from trajscope.rules._engine import NO_EVIDENCE, Auditor, Evidence
from trajscope.rules._match import REMOVED
from trajscope.rules._setwise import Known, SetWise

if TYPE_CHECKING:
    from trajscope.store import Store

Progress = Callable[[int, int], None]
"""Called with the number of rules decided so far, and of all."""


@dataclass
class Audited:
    """What rules say of the traces of a store.

    results: of every violated or unknown rule and trace (or session), in order of the rules, then
    of the traces. verdicts: how many traces each rule came to each verdict on, by rule id; a rule
    that selects no trace has none.
    """

    results: list[RuleResult] = field(default_factory=list)
    verdicts: dict[str, Counter[Verdict]] = field(default_factory=dict)


def audit_store(
    store: Store,
    rules: Sequence[PolicyRule],
    trace_ids: Sequence[str] | None = None,
    evidence: Evidence = NO_EVIDENCE,
    progress: Progress = lambda _done, _all: None,
) -> Audited:
    """Decide rules over the traces of a store (or those listed), set-wise where that can be done.

    Raises:
        StoreError: the store cannot be read. QueryError: the query of an `sql` rule fails.
    """
    audited = Audited(verdicts={rule.id: Counter() for rule in rules})
    with store.audit_tables() as tables:
        work = SetWise(tables, trace_ids, _removed_keys(), evidence.queries)
        units = {
            sessions: _units(tables.rows("read_units", {"sessions": sessions}))
            for sessions in {rule.scope.per == "session" for rule in rules}
        }
        chosen = _Chosen(store, trace_ids, rules)
        open_: dict[str, list[tuple[int, list[str]]]] = {}
        for number, rule in enumerate(rules):
            members = units[rule.scope.per == "session"]
            for known in work.decide(number, rule):
                ids = members[known.unit]
                if chosen.selects(rule, ids):
                    _sort(known, rule, ids, number, audited, open_)
            progress(number + 1, len(rules))
    # A session goes by the number of its first trace, so one trace has one number in both.
    places = {ids[0]: unit for members in units.values() for unit, ids in members.items()}
    decided = _decide(store, rules, open_, evidence)
    for number, _, result in sorted(decided, key=lambda item: (item[0], places[item[1]])):
        audited.verdicts[rules[number].id][result.verdict] += 1
        if result.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            audited.results.append(result)
    return audited


def _removed_keys() -> list[str]:
    from trajscope.store.args_key import args_key  # late, as DuckDB is

    return [key for text in REMOVED if (key := args_key(text)) is not None]


def _units(rows: Sequence[tuple[Any, ...]]) -> dict[int, list[str]]:
    members: dict[int, list[str]] = {}
    for unit, trace_id in rows:
        members.setdefault(unit, []).append(trace_id)
    return members


def _sort(
    known: Known,
    rule: PolicyRule,
    ids: list[str],
    number: int,
    audited: Audited,
    open_: dict[str, list[tuple[int, list[str]]]],
) -> None:
    """Count a rule that is decided; keep one that is not for when its first trace is read."""
    if known.candidate:
        open_.setdefault(ids[0], []).append((number, ids))
    else:
        verdict = Verdict.SATISFIED if known.active else Verdict.VACUOUS
        audited.verdicts[rule.id][verdict] += 1


def _decide(
    store: Store,
    rules: Sequence[PolicyRule],
    open_: Mapping[str, list[tuple[int, list[str]]]],
    evidence: Evidence,
) -> Iterator[tuple[int, str, RuleResult]]:
    """Yield the number of the rule, the first trace it is for, and what the definition says."""
    auditor = Auditor(evidence)
    single = {f: [n for n, ids in asked if len(ids) == 1] for f, asked in open_.items()}
    listed = [first for first, numbers in single.items() if numbers]
    for first, trajectory in _trajectories(store, listed):
        asked = [rules[number] for number in single[first]]
        for number, result in zip(single[first], auditor.decide(asked, [trajectory]), strict=True):
            yield number, first, result
    for first, asked_together in open_.items():
        together = [(number, ids) for number, ids in asked_together if len(ids) > 1]
        if together:
            # What begins with one trace is one session, whichever rule asks.
            whole = [trajectory for _, trajectory in _trajectories(store, together[0][1])]
            found = auditor.decide([rules[number] for number, _ in together], whole)
            for (number, _), result in zip(together, found, strict=True):
                yield number, first, result


def _trajectories(store: Store, ids: Sequence[str]) -> Iterator[tuple[str, Trajectory]]:
    """Yield trajectories by trace id; those with orphans are assembled from their spans."""
    for row in store.iter_rows(ids) if ids else ():
        trajectory = to_trajectory(row)
        if trajectory is None:
            trajectory = next(stored(store, [row.trace_id])).trajectory
        yield row.trace_id, trajectory


_EVERYTHING = Selector()


class _Chosen:
    """Which rules are for which traces; facts are read only if a rule selects."""

    def __init__(
        self, store: Store, trace_ids: Sequence[str] | None, rules: Sequence[PolicyRule]
    ) -> None:
        asking = [rule.select for rule in rules if rule.select != _EVERYTHING]
        self._facts = stored_facts(store, asking, trace_ids) if asking else {}

    def selects(self, rule: PolicyRule, ids: Sequence[str]) -> bool:
        """Whether a rule is for one of these traces."""
        if rule.select == _EVERYTHING:
            return True
        return any(selects(rule.select, self._facts[trace_id]) for trace_id in ids)
