"""Proposes rules that held in nearly all traces of a store, as a policy file to start from.

One thing a newcomer would get wrong: counting in SQL only finds *candidates*. Each is then decided
by the audit's own engine, so support and counter-examples are those of the rule as it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajscope.match import literal_pattern
from trajscope.model.score import Verdict
from trajscope.rules import parse_policy

if TYPE_CHECKING:
    from trajscope.store import Store

MAX_TOOLS = 40
"""Tools that are looked at, the most used ones; pairs grow with the square."""
MAX_CANDIDATES = 400
_EXAMPLES = 3
_SMALL = 20
"""Most calls of one tool in a trace that a proposed limit is worth writing down for."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that held: its YAML body, in how many traces it had a case and held, and where not."""

    id: str
    body: str
    support: int
    satisfied: int
    unknown: int
    counter_examples: tuple[str, ...]

    @property
    def confidence(self) -> float:
        """The share of the cases in which it held; unknown cases count as not held."""
        return self.satisfied / self.support if self.support else 0.0


def mine(store: Store, *, min_confidence: float = 0.99, min_support: int = 10) -> list[Proposal]:
    """Return the rules that held in at least this share of at least so many traces.

    Surest and best supported first.
    """
    from trajscope.pipeline.auditing import audit_store  # late: DuckDB takes half a second

    candidates = list(_candidates(store, min_confidence, min_support))[:MAX_CANDIDATES]
    if not candidates:
        return []
    policy = parse_policy(_document(candidates), "mined.yaml")
    audited = audit_store(store, policy.rules)
    violated: dict[str, list[str]] = {}
    for result in audited.results:
        if result.verdict is Verdict.VIOLATED and result.trace_id is not None:
            violated.setdefault(result.rule, []).append(result.trace_id)
    found = []
    for ident, body in candidates:
        counts = audited.verdicts[ident]
        held, unknown = counts[Verdict.SATISFIED], counts[Verdict.UNKNOWN]
        support = held + unknown + counts[Verdict.VIOLATED]
        examples = tuple(violated.get(ident, ())[:_EXAMPLES])
        proposal = Proposal(ident, body, support, held, unknown, examples)
        if support >= min_support and proposal.confidence >= min_confidence:
            found.append(proposal)
    return sorted(found, key=lambda p: (-p.confidence, -p.support, p.id))


def proposals_yaml(proposals: Sequence[Proposal]) -> str:
    """Return proposals as a policy file, what was counted as comments."""
    lines = ["# Rules that held; read each before it becomes policy.", "version: 1", "rules:"]
    for p in proposals:
        lines.append(f"  # held in {p.satisfied} of {p.support} traces ({p.confidence:.1%})")
        if p.counter_examples:
            shown = ", ".join(json.dumps(trace_id) for trace_id in p.counter_examples)
            lines.append(f"  # not in {shown}")
        lines.append(f"  - {{id: {p.id}, severity: warning, {p.body}}}")
    return "\n".join(lines if proposals else [*lines[:2], "rules: []"]) + "\n"


def _document(candidates: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {{id: {ident}, {body}}}" for ident, body in candidates)


def _candidates(store: Store, min_confidence: float, min_support: int) -> Iterator[tuple[str, str]]:
    """Yield ids and bodies of rules that counting alone does not rule out, simplest first."""
    tools = _rows(store, "mine_tools", {"most": MAX_TOOLS})
    tools = [t for t in tools if t["traces"] >= min_support]
    if not tools:
        return
    # The engine asks more than the counts do (ended, not failed), and may also ask of fewer
    # traces; so candidates are let in a little below what is asked for.
    enough = min_confidence - 0.05
    everywhere = tools[0]["all_traces"]
    number = 0
    for tool in tools:
        name = _quoted(tool["name"])
        for kind, count in (
            ("require", tool["traces"]),
            ("first", tool["first_in"]),
            ("last", tool["last_in"]),
        ):
            if count >= everywhere * enough:
                number += 1
                yield f"mined-{number}-{kind}", f"{kind}: {name}"
        if tool["usual_calls"] <= _SMALL:
            number += 1
            limit = f"count: {{tool: {name}, max: {tool['usual_calls']}}}"
            yield f"mined-{number}-count", limit
    yield from _pairs(store, tools, enough, number)


def _pairs(
    store: Store, tools: Sequence[dict[str, Any]], enough: float, number: int
) -> Iterator[tuple[str, str]]:
    traces = {t["name"]: t["traces"] for t in tools}
    everywhere = tools[0]["all_traces"]
    seen = set()
    for pair in _rows(store, "mine_pairs", {"names": list(traces)}):
        one, other = pair["one"], pair["other"]
        seen.add((one, other))
        a, b = _quoted(one), _quoted(other)
        for kind, holds, body in (
            ("before", pair["before"] >= traces[other] * enough, f"{{tool: {b}, need: {a}}}"),
            ("after", pair["after"] >= traces[one] * enough, f"{{tool: {a}, need: {b}}}"),
            ("never_sequence", pair["followed"] <= pair["traces"] * (1 - enough), f"[{a}, {b}]"),
        ):
            if holds:
                number += 1
                yield f"mined-{number}-{kind}", f"{kind}: {body}"
    for one in traces:
        for other in traces:
            expected = traces[one] * traces[other] / everywhere
            if one < other and (one, other) not in seen and expected >= 5:
                number += 1
                both = f"[{_quoted(one)}, {_quoted(other)}]"
                yield f"mined-{number}-not_together", f"not_together: {both}"


def _rows(store: Store, query: str, params: dict[str, object]) -> list[dict[str, Any]]:
    from trajscope.store import sql_text

    result = store.query(sql_text(f"queries/{query}"), params=params, name=f"{query}.sql")
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def _quoted(name: str) -> str:
    """Return a recorded name as a YAML text that stands for exactly it."""
    pattern = literal_pattern(name)
    # A policy reads `$name` as a list of its own.
    if pattern.startswith("$"):
        pattern = f"re:\\{pattern}"
    return json.dumps(pattern)
