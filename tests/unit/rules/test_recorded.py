"""Rules over recorded spans: forbidden calls in hidden places, and tools behind prefixes."""

from __future__ import annotations

import json

import pytest

from tests.support.captures import CASES
from tests.support.spans import span_id
from tests.support.steps import recorder
from tests.support.trajectories import assembled, recorded
from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory
from trajscope.rules import audit_rule, judged, parse_policy
from trajscope.rules._engine import audit_traces

record = recorder("test-agent")


def agent(id: int, name: str, parent: int | None = None) -> Span:
    given = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return record(id, f"invoke_agent {name}", parent, end_ns=id + 100, **given)


def tool(id: int, name: str, parent: int | None = None) -> Span:
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return record(id, f"execute_tool {name}", parent, end_ns=id + 1, **given)


def trajectory(*spans: Span) -> Trajectory:
    [found] = assembled(spans).values()
    return found


def decide(text: str, *found: Trajectory) -> RuleResult:
    return audit_rule(parse_policy(text).rules[0], found)


NEVER = "- never: delete_all"


class TestHiddenCalls:
    def test_in_a_sub_agent_of_a_sub_agent(self) -> None:
        found = trajectory(
            agent(1, "boss"), agent(2, "clerk", 1), agent(3, "temp", 2), tool(4, "delete_all", 3)
        )
        result = decide(NEVER, found)
        assert result.verdict is Verdict.VIOLATED
        assert result.findings[0].span_ids == (span_id(4),)
        assert decide("- {never: delete_all, under: clerk}", found).verdict is Verdict.VIOLATED
        assert decide("- {never: delete_all, not_under: clerk}", found).verdict is Verdict.VACUOUS

    def test_under_the_span_of_an_mcp_server(self) -> None:
        given = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "mcp__db__delete_all"}
        server = record(3, "tools/call", 2, end_ns=20, **given)
        found = trajectory(
            agent(1, "boss"), tool(2, "run", 1), server, tool(4, "mcp__db__delete_all", 3)
        )
        assert decide(NEVER, found).verdict is Verdict.VIOLATED
        assert decide("- never: mcp__db", found).verdict is Verdict.VIOLATED

    def test_inside_an_orphan_subtree(self) -> None:
        found = trajectory(
            agent(1, "boss"), tool(2, "search", 1), agent(5, "lost", 99), tool(6, "delete_all", 5)
        )
        assert found.orphans == (span_id(5),)
        result = decide(NEVER, found)
        assert (result.verdict, result.findings[0].span_ids) == (Verdict.VIOLATED, (span_id(6),))
        assert decide("- {never: delete_all, under: boss}", found).verdict is Verdict.SATISFIED
        assert decide("- {never: delete_all, under: lost}", found).verdict is Verdict.VIOLATED

    def test_requested_but_never_executed(self) -> None:
        call = {"type": "tool_call", "id": "1", "name": "delete_all", "arguments": {"all": True}}
        asked = [{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}]
        chat = record(
            2,
            "chat m",
            1,
            **{
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.output.messages": json.dumps(asked),
            },
        )
        found = trajectory(agent(1, "boss"), chat)
        [finding] = decide(NEVER, found).findings
        assert finding.message == "delete_all occurred (requested, never ran)"
        assert finding.span_ids == (span_id(2),)
        ran = "- never: {tool: delete_all, executed: true}"
        assert decide(ran, found).verdict is Verdict.SATISFIED
        sequence = decide("- never_sequence: [delete_all, '*']", found)
        assert sequence.verdict is Verdict.SATISFIED


class TestNamesBehindPrefixes:
    policy = parse_policy(
        "{blacklistedTools: [delete_repo], blacklistedSequences: [[read_secrets, http_post]]}"
    )
    deleting, leaking = "f38c815e6c026c9ff29022d1863f89a8", "6ca07b2bba4f55a22de8fd85fff77f36"

    def results(self) -> list[RuleResult]:
        found = recorded(CASES / "B20" / "names.json").values()
        return list(audit_traces(self.policy.rules, map(judged, found)))

    def test_only_what_is_forbidden_is_found_under_its_raw_name(self) -> None:
        found = {(r.rule, r.trace_id): r for r in self.results() if r.findings}
        assert found.keys() == {
            ("blacklisted-tools", self.deleting),
            ("blacklisted-sequences", self.leaking),
        }
        deleting = found["blacklisted-tools", self.deleting]
        assert [f.steps for f in deleting.findings] == [("mcp__github__delete_repo",)]
        assert [f.span_ids for f in deleting.findings] == [("a6a8e65a24680b9f",)]
        leaking = found["blacklisted-sequences", self.leaking]
        assert [f.span_ids for f in leaking.findings] == [("d056a4695d9a1711", "9b614ab80e5deb4d")]

    def test_every_spelling_is_one_tool(self) -> None:
        rule = parse_policy("- never: create_issue").rules[0]
        found = recorded(CASES / "B20" / "names.json")
        hit = [t for t, trace in found.items() if audit_rule(rule, [trace]).findings]
        assert len(hit) == 4
        assert "89eb9ee97c2779f921cd9e73bd470bfc" not in hit  # create_issue_comment


class TestUnfinishedTraces:
    after = "- after: {tool: open_tx, need: commit}"

    @pytest.mark.parametrize("policy", [after, "- require: commit", "- last: commit"])
    def test_what_may_still_come_is_unknown(self, policy: str) -> None:
        rootless = trajectory(agent(5, "a", 1), tool(6, "open_tx", 5))
        result = decide(policy, rootless)
        assert (result.verdict, result.message) == (Verdict.UNKNOWN, "the trace has not ended")
        ended = trajectory(agent(5, "a"), tool(6, "open_tx", 5))
        assert decide(policy, ended).verdict is Verdict.VIOLATED

    def test_a_time_that_is_over_is_no_hope(self) -> None:
        spans = (agent(5, "a", 1), tool(6, "open_tx", 5), tool(9_000_000, "search", 5))
        policy = "- after: {tool: open_tx, need: commit, within: 1ms}"
        assert decide(policy, trajectory(*spans)).verdict is Verdict.VIOLATED
        assert decide(policy, trajectory(*spans[:2])).verdict is Verdict.UNKNOWN

    def test_a_call_that_has_not_ended_is_perhaps_before(self) -> None:
        waiting = record(2, "execute_tool approve", 1, end_ns=None, **tool(2, "approve").attributes)
        found = trajectory(agent(1, "a"), waiting, tool(5, "delete", 1))
        assert decide("- before: {tool: delete, need: approve}", found).verdict is Verdict.UNKNOWN
        assert decide("- never_sequence: [approve, delete]", found).verdict is Verdict.UNKNOWN


def test_sessions_are_merged_by_time() -> None:
    """Two traces of one session run side by side: what counts is when, not in which trace."""

    def turn(trace: str, begin: int, *names: str) -> list[Span]:
        base = {"trace_id": trace * 32, "gen_ai.conversation.id": "s"}
        given = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
        spans = [record(1, "invoke_agent a", **base, **given, start_ns=begin, end_ns=begin + 90)]
        for n, name in enumerate(names):
            call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
            at = begin + 10 * n + 5
            spans.append(record(n + 2, name, 1, **base, **call, start_ns=at, end_ns=at + 1))
        return spans

    found = assembled([*turn("a", 100, "delete", "search", "approve"), *turn("b", 107, "delete")])
    policy = parse_policy("- {before: {tool: delete, need: approve}, scope: session}")
    [result] = audit_traces(policy.rules, map(judged, found.values()))
    assert (result.trace_id, result.session_id) == (None, "s")
    assert len(result.findings) == 2  # the second trace's call starts before the approval as well
    assert {finding.trace_id for finding in result.findings} == {"a" * 32, "b" * 32}
    later = assembled([*turn("a", 100, "approve"), *turn("b", 300, "delete")])
    [result] = audit_traces(policy.rules, map(judged, later.values()))
    assert result.verdict is Verdict.SATISFIED
