"""Rules of the documentation with their examples, and engines to decide them by.

One thing a newcomer would get wrong: an engine decides one rule over one example; a second engine
is one more entry of `ENGINES`, and every example of the page then runs in it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from tests.support.stores import empty_store
from trajscope.documents import parse_document
from trajscope.model.policy import Example, PolicyRule
from trajscope.model.rule import RuleResult
from trajscope.model.step_row import TrajectoryRow
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.auditing import audit_store
from trajscope.rules import Evidence, audit_rule, parse_policy
from trajscope.store.derive import save_trajectories
from trajscope.store.resolve import to_row

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
Engine = Callable[[PolicyRule, Sequence[Trajectory]], RuleResult]


def audit_stored(rule: PolicyRule, trajectories: Sequence[Trajectory]) -> RuleResult:
    """Return what the engine over a store says of the traces, written into it as they are."""
    attributes = {
        (step.trace_id, step.span_id): step.metadata or {}
        for trajectory in trajectories
        for step in trajectory.walk()
    }
    evidence = Evidence(attributes=lambda trace, span: attributes.get((trace, span)))
    with empty_store() as store:
        save_trajectories(store._connection, map(_row, trajectories))
        audited = audit_store(store, [rule], evidence=evidence)
    [verdict] = audited.verdicts[rule.id].elements()
    if audited.results:
        [result] = audited.results
        assert result.verdict is verdict
        return result
    return RuleResult(rule.id, rule.severity, verdict, "holds")


def _row(trajectory: Trajectory) -> TrajectoryRow:
    duration = trajectory.total_duration_ms
    row = to_row(trajectory, ())
    return replace(row, duration_ns=None if duration is None else round(duration * 1_000_000))


ENGINES: dict[str, Engine] = {"memory": audit_rule, "store": audit_stored}


def blocks() -> list[str]:
    """Return the YAML blocks of the page."""
    return re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def table() -> list[list[str]]:
    """Return the cells of the table of kinds: kind, meaning, terms, rule, passes, violates."""
    lines = PAGE.read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| kind |")) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split(" | ")])
    return rows


def row_policy(row: Sequence[str]) -> str:
    """Return one row of the table as a policy, the two examples in it."""
    rule = parse_document(row[3]).value
    assert isinstance(rule, dict)
    told = row[3] if row[3].startswith("{") else f"{{{row[3]}}}"
    examples = f"examples: [{{satisfied: {row[4]}}}, {{violated: {row[5]}}}]"
    return f"- {told[:-1]}, {examples}}}"


def documented() -> list[tuple[str, PolicyRule, Example]]:
    """Return every example of the page with its rule."""
    texts = blocks() + [row_policy(row) for row in table() if row[3] != "see below"]
    return [
        (f"{rule.id}-{index}", rule, example)
        for text in texts
        for rule in parse_policy(text, "rules.md").rules
        for index, example in enumerate(rule.examples)
    ]
