"""Scores of stored traces by the set-based scorers, and the choice between them and the definition.

One thing a newcomer would get wrong: names are not matched in SQL. Every pattern is held against
the few names that occur by the definition's own `matches_step`; statements join what came out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from trajscope.errors import SpanError, UsageError
from trajscope.evals.expectations import unmatched
from trajscope.evals.select import TraceFacts, selects
from trajscope.match import tool_key
from trajscope.model.expectation import NamedExpectation, Selector
from trajscope.model.score import Score
from trajscope.model.step import BaseStep
from trajscope.pipeline._set_wise import exact_ids, nothing_collected, step_of
from trajscope.pipeline._twins import Twins
from trajscope.pipeline.load import facts, nothing_understood, stored
from trajscope.pipeline.provenance import expectation_hash, scorer_version
from trajscope.pipeline.scoring import NO_EXPECTATION, Judged, Scoring
from trajscope.pipeline.stored_facts import stored_facts
from trajscope.ports import Scorer, SetScorer
from trajscope.scorers._asked import asked_limits, asked_rules
from trajscope.store import Store
from trajscope.store.scoring import JudgedTrace, ScoringTables, Summary

_ANY_TRACE = Selector()


def choose_engine(engine: str, chosen: Sequence[Scorer], *, in_store: bool) -> bool:
    """Return whether the set-based scorers run: in a store, where every scorer has such a form.

    Raises:
        UsageError: they were asked for, and cannot.
    """
    without = [scorer.name for scorer in chosen if not isinstance(scorer, SetScorer)]
    if engine == "sql" and not in_store:
        raise UsageError("--engine sql scores a store; give one with --db")
    if engine == "sql" and without:
        raise UsageError(
            f"no set-based form of scorer {', '.join(without)}; --engine sql needs one of each",
            hint="leave --engine away, or name other scorers with --scorer",
        )
    return in_store and engine != "python" and not without


class SetScoring:
    """One run of set-based scorers over traces of a store; close it when the scores are printed.

    Odd traces (see `choose_traces.sql`) and sessions are scored by the definition; whoever reads
    the scores cannot tell which engine made them.

    Raises:
        SpanError: an id that was asked for is not stored.
    """

    def __init__(
        self,
        store: Store,
        expectations: Sequence[NamedExpectation],
        chosen: Sequence[Scorer],
        *,
        named: bool,
        trace_ids: Sequence[str] | None = None,
    ) -> None:
        self._store = store
        self._all = list(expectations)
        self._named = named
        self._chosen = [s for s in chosen if isinstance(s, SetScorer)]
        self._asked = [e for e in expectations if e.expect.scope != "session"]
        self._sessions = [e for e in expectations if e.expect.scope == "session"]
        if not expectations:
            self._asked = [NO_EXPECTATION]
        self._trace_ids = trace_ids
        self._matched: set[str] = set()
        self._traces: list[JudgedTrace] = []
        self._of_sessions: list[Score] = []
        self._tables: ScoringTables = store.scoring_tables()
        try:
            with nothing_collected():
                self._score()
        except BaseException:
            self._tables.close()
            raise

    def __enter__(self) -> SetScoring:
        return self

    def __exit__(self, *_error: object) -> None:
        self._tables.close()

    @property
    def traces(self) -> int:
        """How many traces there were to score."""
        return len(self._traces)

    def summary(self) -> Summary:
        """Return how many scores there are, and how many of them say what."""
        found = self._tables.summary(self._names)
        known = sum(score.value is not None for score in self._of_sessions)
        return found._replace(
            scores=found.scores + len(self._of_sessions), evaluated=found.evaluated + known
        )

    def scores(self, *, everything: bool = True) -> Iterator[Score]:
        """Yield the scores trace by trace, then those of sessions; perfect ones on demand."""
        yield from self._tables.scores(self._versions, everything=everything)
        yield from self._of_sessions

    def save(self) -> None:
        """Keep the scores in the store, each in place of the one before it."""
        self._tables.save(self._versions)
        if self._of_sessions:
            self._store.save_scores(self._of_sessions)

    def unmatched(self) -> list[str]:
        """Return the names of the expectations that were for no trace."""
        return [e.name for e in unmatched(self._all, self._matched)]

    def nothing_understood(self) -> str | None:
        """Return a sentence when there are spans and none of them is a step, else None."""
        if not self._traces or any(trace.has_steps for trace in self._traces):
            return None
        return nothing_understood(len(self._traces), False, self._store.count()[0])

    @property
    def _names(self) -> list[str]:
        return [scorer.name for scorer in self._chosen]

    @property
    def _versions(self) -> dict[str, str]:
        return {scorer.name: scorer_version(scorer) for scorer in self._chosen}

    def _score(self) -> None:
        self._traces, names = self._tables.choose(self._trace_ids)
        self._refuse_unknown()
        self._ask()
        self._judge()
        twins = Twins(self._store, self._tables, self._asked, self._number_names(names))
        twins.run(self._chosen, named=self._named)
        self._define_odd()
        if self._sessions:
            rest = Scoring(self._sessions, self._chosen, named=self._named)
            self._of_sessions = list(rest.run(self._judged(self._trace_ids)))
            self._matched |= rest.matched

    def _refuse_unknown(self) -> None:
        known = {trace.trace_id for trace in self._traces}
        for trace_id in self._trace_ids or ():
            if trace_id not in known:
                raise SpanError(
                    f"no trace {trace_id!r} in the store", hint="trajscope list shows the ids"
                )

    def _ask(self) -> None:
        expects = [named.expect for named in self._asked]
        known = [None if named is NO_EXPECTATION else named for named in self._asked]
        names = [named and named.name for named in known]
        hashes = [named and expectation_hash(named) for named in known]
        columns = {**asked_limits(expects), "expectation": names, "expectation_hash": hashes}
        self._tables.fill("asked", columns)
        rules = asked_rules(expects)
        self._tables.fill(
            "asked_rules",
            {
                **{field: [getattr(r, field) for r in rules] for field in rules[0]._fields},
                "size": [len(rule.texts) for rule in rules],
            }
            if rules
            else {"e": []},
        )

    def _judge(self) -> None:
        everywhere = [
            n
            for n, named in enumerate(self._asked)
            if named.select.trace_id is None and named.select == _ANY_TRACE
        ]
        if self._traces:
            self._matched |= {self._asked[n].name for n in everywhere}
        self._tables.run("scoring/judge_all", {"expectations": everywhere})
        some = sorted(set(range(len(self._asked))).difference(everywhere))
        if not some:
            return
        pairs: list[tuple[int, int]] = []
        numbers = {trace.trace_id: trace.t for trace in self._traces}
        for n in some:
            ids = exact_ids(self._asked[n].select)
            if ids is not None:
                found = [numbers[i] for i in ids if i in numbers]
            else:
                select = self._asked[n].select
                found = [numbers[i] for i, known in self._facts.items() if selects(select, known)]
            pairs += [(n, t) for t in found]
            if found:
                self._matched.add(self._asked[n].name)
        self._tables.judge_some([n for n, _ in pairs], [t for _, t in pairs])

    @cached_property
    def _facts(self) -> dict[str, TraceFacts]:
        """What selectors may ask of every trace; odd ones are asked again by the definition."""
        even = {trace.trace_id for trace in self._traces if not trace.is_odd}
        found = stored_facts(self._store, (e.select for e in self._asked), self._trace_ids)
        return {trace_id: known for trace_id, known in found.items() if trace_id in even}

    def _number_names(self, names: Sequence[tuple[Any, ...]]) -> list[BaseStep]:
        steps = [step_of(*row) for row in names]
        tools: dict[str, int] = {}
        texts: dict[str, int] = {}
        self._tables.fill(
            "judged_names",
            {
                "name_no": range(len(names)),
                "is_tool": [row[0] for row in names],
                "name": [row[1] for row in names],
                "mcp_server": [row[2] for row in names],
                "label": [row[3] for row in names],
                "id": [row[4] for row in names],
                "tool_no": [
                    tools.setdefault(tool_key(step), len(tools)) if step.is_tool else None
                    for step in steps
                ],
                "text_no": [texts.setdefault(step.name, n) for n, step in enumerate(steps)],
                "shown": [repr(step.name) for step in steps],
                "quoted": [json.dumps(step.name) for step in steps],
            },
        )
        self._tables.run("scoring/number_steps")
        return steps

    def _define_odd(self) -> None:
        """Score the odd traces by the definition."""
        odd = {trace.trace_id: trace.t for trace in self._traces if trace.is_odd}
        if not odd or not self._asked:
            return
        numbers = {named.name: n for n, named in enumerate(self._asked)}
        rest = Scoring(
            self._asked if self._asked != [NO_EXPECTATION] else (), self._chosen, named=self._named
        )
        self._tables.add(
            [
                (
                    numbers[score.expectation or NO_EXPECTATION.name],
                    odd[score.trace_id or ""],
                    score,
                )
                for score in rest.run(self._judged(list(odd)))
            ]
        )
        self._matched |= rest.matched

    def _judged(self, trace_ids: Sequence[str] | None) -> Iterator[Judged]:
        for assembled in stored(self._store, trace_ids):
            yield Judged(assembled.trajectory, facts(assembled))
