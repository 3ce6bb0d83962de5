"""Rules over a whole store at once: which traces hold a rule, and which must be looked at.

Set-wise statements decide what is plainly satisfied or vacuous; a trace that may be violated or
unknown is a *candidate*, and the definition (`_engine`) decides it. So there is one meaning, and a
statement may name a candidate too many, never one too few: what it leaves out (what steps share,
guards, joint times) can only take hits away.

One thing a newcomer would get wrong: matchers are not translated to SQL. The definition's own test
runs once for every combination of name, agent and outcome that occurs, and for conditions on
arguments once per step that bears the name; SQL only joins what came out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from trajscope.assemble import to_step
from trajscope.match import compile_pattern, tool_key
from trajscope.model.check import Check
from trajscope.model.policy import PolicyRule
from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.rule import AuditScope, Matcher
from trajscope.model.step import BaseStep, build_step
from trajscope.model.step_row import StepRow
from trajscope.ports import Queries
from trajscope.rules._lines import LineStep
from trajscope.rules._match import Tests, Values
from trajscope.rules._plan import Plan

Params = Mapping[str, object]


class Rows(Protocol):
    """Runs statements of `sql/audit` by name; see `store.AuditTables`."""

    def run(self, statement: str, params: Params | None = None) -> None:
        """Run a statement for its effect."""

    def rows(self, statement: str, params: Params | None = None) -> list[tuple[Any, ...]]:
        """Return its rows."""

    def steps(self, statement: str, params: Params | None = None) -> Iterator[tuple[int, StepRow]]:
        """Yield the numbers and the steps it returns."""

    def fill(
        self,
        statement: str,
        columns: Mapping[str, Sequence[object]],
        params: Params | None = None,
    ) -> None:
        """Run a statement that reads the rows `incoming`, given by column."""


class Known(NamedTuple):
    """What set-wise statements know of a rule and a trace; of a session rule, of the session.

    unit: number of the trace, or of the first trace of the session. candidate: the definition must
    decide it. active: else satisfied, if not that either, vacuous.
    """

    unit: int
    candidate: bool
    active: bool


class SetWise:
    """The tables of one audit, and what was put into them so far."""

    def __init__(
        self,
        tables: Rows,
        trace_ids: Sequence[str] | None,
        removed: Sequence[str] = (),
        queries: Queries | None = None,
    ) -> None:
        """Number the steps of the traces. removed: argument keys of removed values."""
        self._tables = tables
        self.removed = list(removed)
        self.queries = queries
        self._tests = Tests(Values())
        self._scopes: dict[AuditScope, int] = {}
        self._matchers: dict[str, int] = {}
        tables.run("tables")
        tables.run("traces", {"trace_ids": None if trace_ids is None else list(trace_ids)})
        for name in ("kinds", "steps", "combos"):
            tables.run(name)
        self.kinds = [(row[0], _stub(row[1:])) for row in tables.rows("read_kinds")]
        self._combos = [(row[0], _of_combo(row)) for row in tables.rows("read_combos")]

    def decide(self, number: int, rule: PolicyRule) -> Iterator[Known]:
        """Yield what is known of every trace or session; number: of the rule in this audit."""
        sessions = rule.scope.per == "session"
        whole = {"rule_no": number, "sessions": sessions}
        if any(_asks_for_attributes(check) for check in rule.checks):
            self._tables.run("candidates_all", whole)
        else:
            plan = Plan(self, number, self._scope(rule.scope), sessions=sessions)
            for check in rule.checks:
                plan.add(check)
        for unit, candidate, active in self._tables.rows("result", whole):
            yield Known(unit, candidate, active)

    def run(self, statement: str, **params: object) -> None:
        """Run a statement."""
        self._tables.run(statement, params)

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return self._tables.rows(statement, params)

    def fill(
        self, statement: str, columns: Mapping[str, Sequence[object]], **params: object
    ) -> None:
        """Run a statement on rows."""
        self._tables.fill(statement, columns, params)

    def _scope(self, scope: AuditScope) -> int:
        if scope not in self._scopes:
            number = self._scopes[scope] = len(self._scopes)
            self._tables.run(
                "lines",
                {
                    "scope_no": number,
                    "types": list(scope.types) or None,
                    "under": self._named(scope.under),
                    "not_under": self._named(scope.not_under),
                    "per": scope.per,
                },
            )
        return self._scopes[scope]

    def _named(self, patterns: Sequence[str]) -> list[int] | None:
        if not patterns:
            return None
        compiled = [compile_pattern(pattern) for pattern in patterns]
        return [n for n, step in self.kinds if any(p.matches_step(step) for p in compiled)]

    def matcher(self, matcher: Matcher) -> int:
        """Return the number of a matcher, its hits being in `audit_hits`."""
        key = repr(replace(matcher, label=None))
        if key not in self._matchers:
            number = self._matchers[key] = len(self._matchers) * 2
            if _looks_inside(matcher):
                self._match_steps(number, matcher)
            else:
                self._match_combos(number, matcher)
        return self._matchers[key]

    def _match_combos(self, number: int, matcher: Matcher) -> None:
        test = self._tests.of(matcher)
        found = [
            (combo, result) for combo, item in self._combos if (result := test(item)) is not False
        ]
        self._tables.fill(
            "hits_of_combos",
            {
                "matcher_no": [number] * len(found),
                "combo_no": [combo for combo, _ in found],
                "sure": [result is True for _, result in found],
            },
        )

    def _match_steps(self, number: int, matcher: Matcher) -> None:
        """Hold the whole matcher against the steps that bear its name and outcome."""
        self._match_combos(number + 1, _outside(matcher))
        test = self._tests.of(matcher)
        ids: list[int] = []
        sure: list[bool] = []
        for n, row in self._tables.steps("read_values", {"matcher_no": number + 1}):
            result = test(LineStep(to_step(row), row.agent))
            if result is not False:
                ids.append(n)
                sure.append(result is True)
        self._tables.fill(
            "hits_of_steps", {"matcher_no": [number] * len(ids), "n": ids, "sure": sure}
        )

    def tools(self) -> tuple[list[int], list[int]]:
        """Return the kinds, and a number for each that is equal for one tool."""
        numbers: dict[str, int] = {}
        tools = [numbers.setdefault(tool_key(step), len(numbers)) for _, step in self.kinds]
        return [kind for kind, _ in self.kinds], tools


def _matchers_of(check: Check) -> list[Matcher]:
    """Return every matcher of a check."""
    found: list[Matcher] = []
    for name in ("matcher", "trigger", "one", "other", "unless", "steps", "needs", "matchers"):
        value = getattr(check, name, None)
        found += [value] if isinstance(value, Matcher) else list(value or ())
    for name in ("sources", "targets"):
        found += [matcher for matcher, _ in getattr(check, name, ())]
    return found


def _asks_for_attributes(check: Check) -> bool:
    return any(_asks(matcher, "attr") for matcher in _matchers_of(check))


def _asks(matcher: Matcher, *parts: str) -> bool:
    inside = any(condition.path.part in parts for condition in matcher.where)
    return inside or any(_asks(excluded, *parts) for excluded in matcher.excluded)


def _looks_inside(matcher: Matcher) -> bool:
    return _asks(matcher, "args", "result")


def _outside(matcher: Matcher) -> Matcher:
    """Return the matcher without what asks for arguments or results; it means no step less."""
    where = tuple(c for c in matcher.where if c.path.part not in ("args", "result"))
    excluded = tuple(e for e in matcher.excluded if not _looks_inside(e))
    return replace(matcher, where=where, excluded=excluded)


def _of_combo(row: tuple[Any, ...]) -> LineStep:
    agent, executed, success, failed, startless, endless = row[7:13]
    values: dict[str, Any] = {
        "failed": failed,
        "start_ns": None if startless else 0,
        "end_ns": None if endless else 1,
    }
    if row[1] in TOOL_STEP_TYPES:
        values |= {"executed": executed, "success": success}
    return LineStep(_stub(row[1:7], values), agent)


def _stub(called: tuple[Any, ...], values: Mapping[str, Any] | None = None) -> BaseStep:
    """Return a step that goes by the names of its kind."""
    step_type, name, label, server, agent_id, processor_id = called
    given: dict[str, Any] = {
        "mcp_server": server,
        "agent_id": agent_id,
        "processor_id": processor_id,
    }
    given |= {"workflow_id": name} if step_type == "workflow_run" else {}
    given |= {"step_id": name} if step_type == "workflow_step" else {}
    known = {key: value for key, value in given.items() if value is not None}
    return build_step(
        StepType(step_type), {"name": name, "label": label, **known, **(values or {})}
    )
