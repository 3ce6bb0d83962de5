"""Both engines of an audit agree, rule by rule and trace by trace, on whatever is stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from tests.property.test_store import CAPTURES
from tests.support.recorded import recorded_store
from tests.support.spans import span
from tests.support.stores import empty_store, ingest
from trajscope.model.policy import PolicyRule
from trajscope.model.reading import Reading, StepType, ToolRequest, ToolResponse
from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.pipeline.auditing import audit_store
from trajscope.pipeline.load import facts, stored
from trajscope.rules import Judged, audit_traces, parse_policy
from trajscope.store import Record, Store

POLICY = """
lists: {ask: [search, "lookup_*"], out: [fetch, "send_*", "*get", escalate]}
rules:
  - never: search
  - never: {tool: "*", failed: true}
  - never: {tool: "*", where: {args.q: {ge: 1}}}
  - never: {tool: "*", where: {args.q: {ne: 1}}}
  - never: {tool: "*", where: {result: {exists: true}}}
  - never: {type: agent_run, agent: "re:b.*"}
  - only: [search, "mcp__*", "lookup_*", web]
  - require: {tool: fetch}
    scope: agent
  - require: search
  - count: {tool: "*", max: 2}
  - count: {tool: "*", min: 2, max: 3}
  - count: {tool: "*", max: 1, within: 10s}
  - count: {tool: search, max: 0}
    scope: parent
  - never_sequence: [search, fetch]
  - never_sequence: ["*", "*"]
    gap: 0
  - never_sequence: [$ask, $out]
    gap: 1
  - never_sequence: [search, "*", fetch]
    within: 5s
  - never_sequence: [$ask, $out]
    unless: "mcp__web__get"
  - never_sequence: ["*", "*"]
    same: args.q
  - never_sequence: [search, fetch]
    scope: session
  - never_sequence: [{type: model_generation}, {type: tool_call}]
    gap: 0
    among: all
  - before: {tool: $out, need: $ask}
  - before: {tool: fetch, need: search, each: true}
  - before: {tool: fetch, need: search, immediately: true}
  - before: {tool: fetch, need: search, same: args}
  - before: {tool: fetch, need: search, within: 1s}
    scope: session
  - before: {tool: fetch, need: search}
    scope: agent
  - after: {tool: search, need: [fetch, "mcp__web__get"]}
  - after: {tool: search, need: fetch, each: true, within: 1m}
  - pair: [search, fetch]
  - together: [search, fetch]
  - not_together: [search, fetch]
  - not_together: [search, fetch]
    scope: session
  - if: search
    require: fetch
  - first: search
  - first: [search, fetch]
    scope: agent
  - last: fetch
  - no_repeat: {tool: "*", same: args, times: 2}
  - no_repeat: {tool: "*", same: args, times: 2, consecutive: true}
  - no_repeat: {tool: search, times: 3, within: 1h}
  - no_retry: "*"
  - on_failure: {tool: "*", need: fetch}
  - flow: {from: search.result, to: fetch.args, min_chars: 1}
  - no_flow: {from: search.result, to: fetch.args, min_chars: 1}
  - budget: {steps: 2}
  - budget: {tool_calls: 1, depth: 2}
  - budget: {tokens: 10}
  - budget: {model_calls: 1, duration: 1ms}
  - handoff: {allow: {boss: [helper]}}
  - model: {start: search, search: [fetch, end], fetch: [search, end]}
  - never: search
    under: boss
  - never: search
    not_under: boss
  - never: fetch
    select: {session_id: s1}
  - never: fetch
    select: {agent: "bo*"}
"""


def rules() -> tuple[PolicyRule, ...]:
    return parse_policy(POLICY).rules


def in_memory(store: Store, asked: tuple[PolicyRule, ...]) -> list[RuleResult]:
    found = [Judged(a.trajectory, facts(a)) for a in stored(store)]
    return list(audit_traces(asked, found))


def check(store: Store, asked: tuple[PolicyRule, ...]) -> Counter[Verdict]:
    """Hold both engines equal; return how often each verdict came out."""
    expected = in_memory(store, asked)
    audited = audit_store(store, asked)
    verdicts: dict[str, Counter[Verdict]] = {rule.id: Counter() for rule in asked}
    for result in expected:
        verdicts[result.rule][result.verdict] += 1
    assert audited.verdicts == verdicts
    told = [r for r in expected if r.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)]
    order = [rule.id for rule in asked]
    told.sort(key=lambda result: order.index(result.rule))
    assert audited.results == told
    return sum(verdicts.values(), Counter())


@settings(max_examples=8)
@given(CAPTURES)
def test_generated_traces(records: list[Record]) -> None:
    with empty_store() as store:
        ingest(store, records)
        check(store, rules())


def test_recorded_traces() -> None:
    with recorded_store() as store:
        seen = check(store, rules())
    assert min(seen[verdict] for verdict in Verdict) > 20


TOGETHER = """
- before: {tool: fetch, need: search}
- before: {tool: fetch, need: search, order: start}
- before: {tool: search, need: fetch}
- after: {tool: search, need: fetch}
- never_sequence: [search, fetch]
- never_sequence: [fetch, search]
- pair: [search, fetch]
"""


@pytest.mark.parametrize(
    ("step_type", "wanted"),
    [
        (StepType.MODEL_GENERATION, "violated satisfied violated violated satisfied satisfied"),
        # One message may have asked for both, or one after the other: an agent run holds many.
        (StepType.AGENT_RUN, "unknown satisfied violated unknown unknown satisfied"),
    ],
)
def test_calls_that_only_messages_tell_of(step_type: StepType, wanted: str) -> None:
    asked = parse_policy(TOGETHER).rules
    calls = tuple(ToolRequest(name, call_id=name, args={}) for name in ("search", "fetch"))
    answers = tuple(ToolResponse(call_id=call.name, result="ok") for call in calls)
    asks = Reading(
        convention="t", step_type=step_type, name="a", is_model_call=True, requests=calls
    )
    hears = Reading(
        convention="t",
        step_type=StepType.MODEL_GENERATION,
        is_model_call=True,
        responses=answers,
    )
    with empty_store() as store:
        ingest(store, [(span(1, None, 0, 10), asks), (span(2, 1, 2, 3), hears)])
        check(store, asked)
        found = [result.verdict.value for result in in_memory(store, asked)]
    assert found[:6] == wanted.split()


@pytest.mark.parametrize("text", ["- never: search", "- require: search"])
def test_an_empty_store_has_nothing_to_say(text: str) -> None:
    with empty_store() as store:
        audited = audit_store(store, parse_policy(text).rules)
    assert (audited.results, [sum(c.values()) for c in audited.verdicts.values()]) == ([], [0])


def test_only_the_traces_asked_for_are_looked_at() -> None:
    with recorded_store() as store:
        some: list[Any] = store.trace_ids(most=3)
        audited = audit_store(store, parse_policy("- never: '*'").rules, some)
    [verdicts] = audited.verdicts.values()
    assert sum(verdicts.values()) == 3
    assert {r.trace_id for r in audited.results} <= set(some)
