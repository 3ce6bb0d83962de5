"""Every kind stands in docs/rules.md, and every example of that page comes out as it says."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.policies import ENGINES, documented, table
from trajscope.model.policy import Example, PolicyRule
from trajscope.model.score import Verdict
from trajscope.rules import rule_kinds

FOUND = documented()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("rule", "example"), [f[1:] for f in FOUND], ids=[f[0] for f in FOUND])
def test_every_example(rule: PolicyRule, example: Example, engine: str) -> None:
    result = ENGINES[engine](rule, example.trajectories)
    assert (result.verdict, result.findings) == (example.verdict, result.findings)
    if example.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
        assert result == ENGINES["memory"](rule, example.trajectories)
    if example.verdict is Verdict.VIOLATED:
        assert result.findings
        assert all(finding.message for finding in result.findings)


def test_every_kind_has_a_row_with_a_passing_and_a_violating_example() -> None:
    rows = {row[0]: row for row in table()}
    assert rows.keys() == rule_kinds().keys()
    assert all(len(row) == 6 and all(row[:3]) for row in rows.values())
    without = {name for name, row in rows.items() if row[3] == "see below"}
    assert without == {"sql", "python"}


def test_the_page_shows_every_verdict_but_vacuous() -> None:
    verdicts = Counter(example.verdict for _, _, example in FOUND)
    assert verdicts[Verdict.VIOLATED] > 35
    assert verdicts[Verdict.SATISFIED] > 35
    assert verdicts[Verdict.UNKNOWN] >= 4
