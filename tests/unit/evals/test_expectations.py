from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.evals.expectations import load_expectations, unmatched
from trajscope.evals.select import TraceFacts, facts_of, selects
from trajscope.model.expectation import Selector
from trajscope.model.step import AgentRunStep, ToolCallStep
from trajscope.model.trajectory import Trajectory

MANY = """\
expectations:
  - name: refunds
    select: {agent: order-*, time: {since: 2026-01-01}}
    expect:
      steps:
        - name: lookup_order
          toolArgs: {id: 12}
          argsMatch: {id: {tolerance: 1}}
        - {name: "re:refund_.+", stepType: TOOL_CALL}
      blacklistedSequences: [[read, send]]
  - select: {trace_id: [AB, cd]}
    expect: {max_steps: 3}
"""


def write(folder: Path, text: str, name: str = "e.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_many(tmp_path: Path) -> None:
    refunds, second = load_expectations(write(tmp_path, MANY))
    assert (refunds.name, second.name) == ("refunds", "e[1]")
    assert refunds.select.agent == "order-*"
    assert second.select.trace_id == ("AB", "cd")
    assert second.expect.max_steps == 3
    assert [step.name for step in refunds.expect.steps or ()] == ["lookup_order", "re:refund_.+"]


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("maxSteps: 3", "bare.yaml"),
        ("max_steps: 3", "bare.yml"),
        ('{"maxSteps": 3}', "bare.json"),
        ("name: bare\nexpect: {maxSteps: 3}", "x.yaml"),
        ("- name: bare\n  expect: {maxSteps: 3}", "x.yaml"),
    ],
)
def test_the_other_shapes(tmp_path: Path, text: str, file: str) -> None:
    (named,) = load_expectations(write(tmp_path, text, file))
    assert (named.name, named.expect.max_steps) == ("bare", 3)
    assert selects(named.select, TraceFacts())


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("steps: [{name: 're:('}]", "e.yaml:1:10 (steps[0].name)", "malformed"),
        (
            "blacklisted_tools:\n  - ok\n  - 're:['",
            "e.yaml:3:5 (blacklisted_tools[1])",
            "malformed",
        ),
        (
            "steps:\n- name: a\n  args_match: {q: {regex: '('}}",
            "e.yaml:3:20 (steps[0].args_match.q.regex)",
            "malformed",
        ),
        (
            "expect: {maxSteps: 1}\nselect: {agent: 're:('}",
            "e.yaml:2:10 (select.agent)",
            "malformed",
        ),
        ("expectations: []", "e.yaml:1:1 (expectations)", "no expectation"),
        ("expectations: 3", "e.yaml:1:1 (expectations)", "a list was expected"),
        ("expectations:\n- {name: a}", "e.yaml:2:3 (expectations[0])", "expect is missing"),
        ("expectations:\n- 3", "e.yaml:2:3 (expectations[0])", "a mapping was expected"),
        ("expectations: []\nmaxSteps: 3", "e.yaml:2:1 (maxSteps)", "unknown beside expectations"),
        ("just text", "e.yaml:1:1", "was expected"),
        ("ordering: strict", "e.yaml:1:1", "expects nothing"),
        ("select: {agnet: x}\nexpect: {maxSteps: 1}", "e.yaml:1:10 (select.agnet)", "unknown"),
        (
            "expect: {maxSteps: 1}\nselect: {time: {since: noon}}",
            "e.yaml:2:17 (select.time.since)",
            "ISO",
        ),
        (
            "- {name: a, expect: {maxSteps: 1}}\n- {name: a, expect: {maxSteps: 1}}",
            "e.yaml:2:4 ([1].name)",
            "stands twice",
        ),
    ],
)
def test_mistakes_have_file_line_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, text)
    with pytest.raises(UsageError, match=said) as caught:
        load_expectations("e.yaml")
    assert str(caught.value.at) == place


FACTS = TraceFacts(
    trace_id="0aF7",
    session_id="chat-1",
    agents=("order-agent", "helper"),
    root_names=("invoke_agent order-agent",),
    services=("shop",),
    start_ns=1_772_528_400_000_000_000,
    attributes=lambda key: {"env": ["prod", 1]}.get(key, []),
)


@pytest.mark.parametrize(
    ("select", "holds"),
    [
        ({}, True),
        ({"traceId": "0af7"}, True),
        ({"traceId": "0af"}, False),
        ({"traceId": "0af*"}, True),
        ({"traceId": ["ff", "0AF7"]}, True),
        ({"sessionId": "chat-*"}, True),
        ({"agent": "helper"}, True),
        ({"agent": "order"}, False),
        ({"rootName": "re:invoke_agent .+"}, True),
        ({"service": "shop", "agent": "nobody"}, False),
        ({"attributes": {"env": "prod"}}, True),
        ({"attributes": {"env": True}}, False),
        ({"attributes": {"env": 1.0}}, True),
        ({"attributes": {"gone": None}}, False),
        ({"time": {"since": "2026-03-03T09:00:00Z"}}, True),
        ({"time": {"since": "2026-03-03T09:00:00+01:00"}}, True),
        ({"time": {"until": "2026-03-03T09:00:00Z"}}, False),
        ({"time": {"since": 1772528400000000001}}, False),
        ({"time": {"since": "2026-03-03", "until": "2026-03-04"}}, True),
    ],
)
def test_selectors(select: Any, holds: bool) -> None:
    assert selects(Selector.model_validate(select), FACTS) is holds


@pytest.mark.parametrize(
    "select",
    [{"traceId": "*"}, {"sessionId": "*"}, {"agent": "*"}, {"time": {"since": 0}}],
)
def test_what_is_not_known_does_not_match(select: Any) -> None:
    assert selects(Selector.model_validate(select), TraceFacts()) is False


def test_facts_of_a_trajectory() -> None:
    run = AgentRunStep(name="boss", label="invoke_agent boss", span_id="1")
    took = Trajectory(
        steps=(ToolCallStep(name="a"),), root=run, root_span_ids=("1",), agents=("boss",)
    )
    facts = facts_of(took, services=["shop"])
    assert facts.root_names == ("boss", "invoke_agent boss")
    assert selects(Selector(root_name="boss", agent="boss", service="shop"), facts)


def test_expectations_for_no_trace_are_reported(tmp_path: Path) -> None:
    loaded = load_expectations(write(tmp_path, MANY))
    assert [named.name for named in unmatched(loaded, ["refunds", "refunds"])] == ["e[1]"]
