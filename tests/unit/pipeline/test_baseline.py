"""Fingerprints, baselines and suppressions."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.audits import hostile_audit
from trajscope.errors import UsageError
from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.pipeline.audit import AuditOptions
from trajscope.pipeline.baseline import (
    baseline_document,
    load_baseline,
    load_suppressions,
    with_fingerprints,
)

names = st.sampled_from(["a", "b", "a|b"])
findings = st.builds(
    lambda rule, steps, spans: Finding(
        rule=rule, message="m", trace_id="t", steps=tuple(steps), span_ids=tuple(spans)
    ),
    names,
    st.lists(names, max_size=3),
    st.lists(st.text(max_size=4), max_size=3),
)


def result(*found: Finding, trace_id: str | None = "t") -> RuleResult:
    return RuleResult("r", Severity.ERROR, Verdict.VIOLATED, "m", trace_id, None, found)


def prints(*results: RuleResult) -> list[str | None]:
    return [f.fingerprint for r in with_fingerprints(results, "p", {}) for f in r.findings]


@given(st.lists(findings, max_size=8))
def test_fingerprints_are_unique_and_know_no_span_ids(found: list[Finding]) -> None:
    once = prints(result(*found))
    renamed = [f.model_copy(update={"span_ids": ("x",), "message": "other"}) for f in found]
    assert prints(result(*renamed)) == once
    assert len(set(once)) == len(once)


def test_another_trace_is_another_finding() -> None:
    finding = Finding(rule="r", message="m", trace_id="t")
    assert prints(result(finding)) != prints(result(finding, trace_id="u"))


def test_a_baseline_shows_only_what_is_new(tmp_path: Path) -> None:
    first = hostile_audit(tmp_path)
    assert len(first.findings) == 2
    file = tmp_path / "known.json"
    file.write_text(json.dumps(baseline_document(first.findings[:1])))
    again = hostile_audit(tmp_path, AuditOptions(baseline=load_baseline(file)))
    assert [f.rule for f in again.known] == ["no-clear"]
    assert [f.rule for f in again.findings] == ["order"]
    assert again.verdicts == first.verdicts


def test_suppressions_need_a_reason_and_expire(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("- {rule: 'no-*', reason: known tool, until: 2026-03-31}\n")
    told = load_suppressions(file)
    last = hostile_audit(tmp_path, AuditOptions(suppressions=told, today=date(2026, 3, 31)))
    assert [f.rule for f in last.findings] == ["order"]
    assert [(f.rule, s.reason) for f, s in last.suppressed] == [("no-clear", "known tool")]
    after = hostile_audit(tmp_path, AuditOptions(suppressions=told, today=date(2026, 4, 1)))
    assert [f.rule for f in after.findings] == ["no-clear", "order"]
    assert after.expired == told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {rule: x}", "reason is missing"),
        ("- {rule: x, reason: ' '}", "a reason was expected"),
        ("- {reason: because}", "suppresses everything"),
        ("- {rule: 're:(', reason: r}", "malformed"),
        ("- {rule: x, reason: r, til: 2026-01-01}", "unknown"),
    ],
)
def test_wrong_suppressions_are_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        load_suppressions(file)
