"""An audit as a command makes it: traces chosen, rules decided, known findings set aside, kept.

One thing a newcomer would get wrong: everything that can be wrong with the policy (and with its
queries) is found before the first trace is judged. A partial audit must not pass for a whole one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from trajscope.errors import Problems, QueryError, UsageError
from trajscope.model.check import Query
from trajscope.model.policy import Policy, PolicyRule
from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.model.span import Json
from trajscope.pipeline.baseline import Baseline, Suppression, with_fingerprints
from trajscope.pipeline.load import InputOptions, facts, load, stored
from trajscope.pipeline.store_evidence import StoredAttributes, StoreQueries
from trajscope.rules import Evidence, Judged, audit_traces

if TYPE_CHECKING:
    from trajscope.assemble import Assembled
    from trajscope.store import Store

Engine = Literal["auto", "sql", "python"]


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """How an audit is made.

    since_ns: only traces that started then or later, nanoseconds since the epoch. engine: `sql`
    and `auto` decide set-wise over a store, `python` trace by trace by the definition.
    """

    since_ns: int | None = None
    engine: Engine = "auto"
    baseline: Baseline | None = None
    suppressions: Sequence[Suppression] = ()
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    progress: Callable[[int, int], None] = lambda _done, _all: None


@dataclass(kw_only=True)
class Audit:
    """What a policy says of all traces that were asked about.

    results: of every rule that is violated or unknown for a trace or session, in order of the
    rules. verdicts: how many traces (sessions) each rule came to each verdict on. known,
    suppressed: findings set aside, by the baseline or by a suppression; they are in no result.
    expired: suppressions whose last day is over. policy_hash: SHA-256 of the policy file.
    trace_ids: the traces of the store that were asked about; None: all.
    """

    policy: Policy
    policy_hash: str
    trace_count: int
    results: list[RuleResult]
    verdicts: dict[str, Counter[Verdict]]
    problems: Problems
    known: list[Finding] = field(default_factory=list)
    suppressed: list[tuple[Finding, Suppression]] = field(default_factory=list)
    expired: list[Suppression] = field(default_factory=list)
    trace_ids: Sequence[str] | None = None

    @property
    def findings(self) -> list[Finding]:
        """The findings that count: violations that are neither known nor suppressed."""
        return [f for r in self.results if r.verdict is Verdict.VIOLATED for f in r.findings]

    @property
    def evaluated(self) -> bool:
        """Whether any rule could be decided for any trace."""
        decided = (Verdict.VIOLATED, Verdict.SATISFIED, Verdict.VACUOUS)
        return any(counts[v] for counts in self.verdicts.values() for v in decided)

    @property
    def unknown_count(self) -> int:
        """How many verdicts are unknown."""
        return sum(counts[Verdict.UNKNOWN] for counts in self.verdicts.values())

    def at_least(self, severity: Severity) -> bool:
        """Whether a violation that counts is at least this bad."""
        return any(
            result.severity.rank >= severity.rank
            for result in self.results
            if result.verdict is Verdict.VIOLATED
        )

    def rule(self, rule_id: str) -> PolicyRule:
        """Return a rule of the policy."""
        return next(rule for rule in self.policy.rules if rule.id == rule_id)


def audit(
    policy: Policy, targets: Sequence[str], options: AuditOptions, given: InputOptions
) -> Audit:
    """Audit captures in memory.

    Raises:
        UsageError: no capture was named. InputError: a capture cannot be read.
    """
    loaded = load(targets, given)
    chosen = [a for a in loaded.assembled if _is_since(a, options.since_ns)]
    results = list(
        audit_traces(policy.rules, (Judged(a.trajectory, facts(a)) for a in chosen), _seen(chosen))
    )
    verdicts = {rule.id: Counter[Verdict]() for rule in policy.rules}
    for result in results:
        verdicts[result.rule][result.verdict] += 1
    return _finished(policy, len(chosen), results, verdicts, options, loaded.problems)


def audit_stored(
    policy: Policy, store: Store, trace_ids: Sequence[str] | None, options: AuditOptions
) -> Audit:
    """Audit the traces of a store (those listed, or all), by the engine of the options.

    Raises:
        UsageError: a query of the policy fails; with the rule's place in its file.
        StoreError: the store cannot be read.
    """
    from trajscope.pipeline.auditing import audit_store  # late: DuckDB takes half a second

    queries = StoreQueries(store)
    _try_queries(policy, queries)
    ids = trace_ids
    if ids is None and options.since_ns is not None:
        ids = store.trace_ids(since_ns=options.since_ns)
    count = store.count()[1] if ids is None else len(ids)
    if options.engine == "python":
        found = list(stored(store, ids))
        evidence = Evidence(_seen(found).attributes, queries)
        results = list(
            audit_traces(policy.rules, (Judged(a.trajectory, facts(a)) for a in found), evidence)
        )
        verdicts = {rule.id: Counter[Verdict]() for rule in policy.rules}
        for result in results:
            verdicts[result.rule][result.verdict] += 1
    else:
        evidence = Evidence(StoredAttributes(store), queries)
        audited = audit_store(store, policy.rules, ids, evidence, options.progress)
        results, verdicts = audited.results, audited.verdicts
    finished = _finished(policy, count, results, verdicts, options, Problems())
    finished.trace_ids = ids
    return finished


def keep(found: Audit, store: Store) -> None:
    """Write the findings of an audit to the store, those that are known or suppressed too."""
    findings = [f for r in found.results for f in r.findings]
    findings += [*found.known, *(f for f, _ in found.suppressed)]
    store.save_audit([rule.id for rule in found.policy.rules], findings, found.trace_ids)


def policy_hash(policy: Policy) -> str:
    """Return the SHA-256 of the policy file, or of what its rules say when there is no file."""
    if policy.path is not None and Path(policy.path).is_file():
        return hashlib.sha256(Path(policy.path).read_bytes()).hexdigest()
    return hashlib.sha256("\n".join(map(rule_hash, policy.rules)).encode()).hexdigest()


def rule_hash(rule: PolicyRule) -> str:
    """Return a hash of what a rule says; its place in the file and its examples do not count."""
    said = (rule.id, rule.kind, rule.checks, rule.severity, rule.select, rule.scope)
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is_since(found: Assembled, since: int | None) -> bool:
    start = found.trajectory.start_ns
    return since is None or (start is not None and start >= since)


def _seen(found: Iterable[Assembled]) -> Evidence:
    """Return what the spans of traces in memory say beyond their steps."""
    spans = {
        (d.span.trace_id, d.span.span_id): d.span.attributes for a in found for d in a.trace.drafts
    }

    def attributes(trace_id: str | None, span_id: str | None) -> Mapping[str, Json] | None:
        return spans.get((trace_id or "", span_id or ""))

    return Evidence(attributes)


def _try_queries(policy: Policy, queries: StoreQueries) -> None:
    for rule in policy.rules:
        for check in rule.checks:
            if isinstance(check, Query):
                try:
                    queries.findings(check.sql)
                except QueryError as error:
                    raise UsageError(
                        f"the query of rule {rule.id!r} fails: {error.message}",
                        at=rule.at,
                        hint=error.hint,
                    ) from error


def _finished(
    policy: Policy,
    trace_count: int,
    results: Sequence[RuleResult],
    verdicts: dict[str, Counter[Verdict]],
    options: AuditOptions,
    problems: Problems,
) -> Audit:
    hashes = {rule.id: rule_hash(rule) for rule in policy.rules}
    whole = policy_hash(policy)
    worse = [r for r in results if r.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)]
    order = {rule.id: number for number, rule in enumerate(policy.rules)}
    worse.sort(key=lambda r: order[r.rule])
    found = Audit(
        policy=policy,
        policy_hash=whole,
        trace_count=trace_count,
        results=[],
        verdicts=verdicts,
        problems=problems,
        expired=[s for s in options.suppressions if s.expired(options.today)],
    )
    for result in with_fingerprints(worse, whole, hashes):
        _set_aside(result, found, options)
    return found


def _set_aside(result: RuleResult, found: Audit, options: AuditOptions) -> None:
    """Add a result without the findings that are known or suppressed; none at all if none is left.

    An unknown result stays: a baseline is about violations.
    """
    if result.verdict is not Verdict.VIOLATED or not result.findings:
        found.results.append(result)
        return
    known = options.baseline.fingerprints if options.baseline else frozenset()
    valid = [s for s in options.suppressions if not s.expired(options.today)]
    left = []
    for finding in result.findings:
        by = next((s for s in valid if s.covers(finding)), None)
        if by is not None:
            found.suppressed.append((finding, by))
        elif finding.fingerprint in known:
            found.known.append(finding)
        else:
            left.append(finding)
    if left or result.findings_not_shown:  # what was not listed cannot be known either
        found.results.append(replace(result, findings=tuple(left)))
