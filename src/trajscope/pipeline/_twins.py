"""Runs the statements of the set-based scorers, in the order in which they need each other.

One thing a newcomer would get wrong: the unified scorer is made of its parts, so they are scored
too when nobody asked for them; what is read back is only what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajscope.match import compile_pattern
from trajscope.model.expectation import NamedExpectation
from trajscope.model.step import BaseStep
from trajscope.pipeline.comparing import Comparing
from trajscope.pipeline.load import stored
from trajscope.pipeline.scoring import Job
from trajscope.ports import SetScorer
from trajscope.scorers._asked import asked_rules
from trajscope.scorers._blacklist import MAX_HITS
from trajscope.scorers._unified import NAMES
from trajscope.scorers.comparison import SCORER as COMPARISON
from trajscope.scorers.trajectory import SCORER as UNIFIED
from trajscope.store import Store
from trajscope.store.args_key import NAN_MARK
from trajscope.store.scored import ScoredRows
from trajscope.store.scoring import ScoringTables

_PARAMS: Mapping[str, Mapping[str, object]] = {
    "scorers/tool_failures": {"nan_mark": NAN_MARK},
    "scorers/efficiency": {},
    "scorers/blacklist": {"max_hits": MAX_HITS},
}
"""The statements that stand by themselves, the longest first, and what they are given besides the
tables."""

_BATCH_ROWS = 20_000
"""Comparisons held in Python before they are written."""


@dataclass
class Twins:
    """The set-based scorers over the tables of one scoring; `names` are the steps' names."""

    store: Store
    tables: ScoringTables
    asked: Sequence[NamedExpectation]
    names: Sequence[BaseStep]

    def run(self, chosen: Sequence[SetScorer], *, named: bool) -> None:
        """Score what the chosen scorers are asked; `named`: say also where nothing is asked."""
        wanted = {scorer.statement for scorer in chosen}
        whole = UNIFIED.statement in wanted
        self._match_rules()
        self.tables.run_beside({s: p for s, p in _PARAMS.items() if whole or s in wanted})
        if whole or COMPARISON.statement in wanted:
            self._compare()
        if whole:
            self._unify()
        for scorer in chosen:
            silent = [n for n, e in enumerate(self.asked) if not scorer.applies(e.expect)]
            if named and silent:
                said = {"scorer": scorer.name, "reason": scorer.not_asked, "expectations": silent}
                self.tables.run("scoring/not_asked", said)

    def _match_rules(self) -> None:
        matching: dict[str, list[int]] = {}
        rows: list[tuple[int, int, int, int]] = []
        for rule in asked_rules([named.expect for named in self.asked]):
            for nth, text in enumerate(rule.texts):
                if text not in matching:
                    pattern = compile_pattern(text)
                    found = (n for n, s in enumerate(self.names) if pattern.matches_step(s))
                    matching[text] = list(found)
                rows += [(rule.e, rule.rule, nth, n) for n in matching[text]]
        names = ("e", "rule", "nth", "name_no")
        columns = {name: [row[n] for row in rows] for n, name in enumerate(names)}
        self.tables.fill("asked_names", columns)

    def _compare(self) -> None:
        comparing = Comparing(self.tables, self.names, [named.expect for named in self.asked])
        asked = {e: n for e, n in enumerate(self.asked) if n.expect.steps is not None}
        clear = [e for e in asked if comparing.compares(e)]
        for part in self.tables.parts() if clear else ():
            read, rows = comparing.part(part), ScoredRows()
            for e in clear:
                comparing.compare(e, read, rows)
                if len(rows) >= _BATCH_ROWS:
                    self.tables.add_rows(rows)
                    rows = ScoredRows()
            self.tables.add_rows(rows)
        for e in sorted(asked.keys() - clear):
            self._define(e, asked[e], COMPARISON)

    def _unify(self) -> None:
        nested = {
            e
            for e, named in enumerate(self.asked)
            if any(step.children is not None for step in named.expect.steps or ())
        }
        flat = [e for e in range(len(self.asked)) if e not in nested]
        weights = {name: getattr(UNIFIED.weights, name) for name in NAMES}
        for part in self.tables.parts():
            params = {**weights, "expectations": flat, **part._asdict()}
            self.tables.run(UNIFIED.statement, params)
        for e in sorted(nested):
            self._define(e, self.asked[e], UNIFIED)

    def _define(self, e: int, named: NamedExpectation, scorer: SetScorer) -> None:
        """Score the traces held against an expectation by the definition."""
        numbers = dict(self.tables.rows("scoring/read_held", {"e": e}))
        if numbers:
            self.tables.add(
                [
                    (e, numbers[found.trajectory.trace_id or ""], score)
                    for found in stored(self.store, list(numbers))
                    for score in [Job(scorer, found.trajectory, named).score()]
                ]
            )
