"""What checks decide, by example: order, joins, windows, flows, limits, and large lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.model.policy import PolicyRule
from trajscope.model.rule import MAX_FINDINGS
from trajscope.model.score import Verdict
from trajscope.model.step import HandoffStep
from trajscope.model.trajectory import TokenTotals
from trajscope.rules import Evidence, audit_rule, parse_policy
from trajscope.rules._flowing import contained, masked

SECOND = 1_000_000_000


def rule(text: str) -> PolicyRule:
    return parse_policy(text).rules[0]


def verdict(text: str, *steps: Any, **fields: Any) -> str:
    return audit_rule(rule(text), [trajectory(*steps, **fields)]).verdict.value


def at(name: str, start: float, end: float | None, **fields: Any) -> Any:
    ends = None if end is None else int(end * SECOND)
    return tool(name, start_ns=int(start * SECOND), end_ns=ends, **fields)


class TestOrder:
    before = "- before: {tool: b, need: a}"

    def test_what_overlaps_has_no_order(self) -> None:
        assert verdict(self.before, at("a", 0, 2), at("b", 2, 3)) == "satisfied"
        assert verdict(self.before, at("a", 0, 2.1), at("b", 2, 3)) == "violated"
        by_start = "- before: {tool: b, need: a, order: start}"
        assert verdict(by_start, at("a", 0, 2.1), at("b", 2, 3)) == "satisfied"

    def test_a_need_must_have_succeeded_unless_said_otherwise(self) -> None:
        assert verdict(self.before, tool("a", ok=False), tool("b")) == "violated"
        assert verdict(self.before, tool("a", ok=None), tool("b")) == "unknown"
        assert verdict(self.before, tool("a", ok=None, executed=False), tool("b")) == "violated"
        failed = "- before: {tool: b, need: {tool: a, failed: true}}"
        assert verdict(failed, tool("a", ok=False), tool("b")) == "satisfied"

    def test_without_any_times_the_document_is_the_order(self) -> None:
        assert verdict(self.before, tool("a"), tool("b")) == "satisfied"
        assert verdict(self.before, tool("b"), tool("a")) == "violated"

    def test_calls_of_one_message_have_no_order(self) -> None:
        same: dict[str, Any] = {"from_messages": True, "trace_id": "t", "span_id": "m"}
        fields = {"root_span_ids": ("m",)}
        one = (tool("a", order=0, **same), tool("b", order=1, **same))
        assert verdict(self.before, *one, **fields) == "violated"
        other = tool("b", order=1, **{**same, "span_id": "n"})
        assert verdict(self.before, one[0], other, **fields) == "satisfied"

    def test_model_calls_separate_nothing_unless_all_steps_count(self) -> None:
        steps = (tool("a"), model(), tool("b"))
        assert verdict("- {never_sequence: [a, b], gap: 0}", *steps) == "violated"
        assert verdict("- {never_sequence: [a, b], gap: 0, among: all}", *steps) == "satisfied"

    def test_a_requested_call_separates_nothing(self) -> None:
        steps = (tool("a"), tool("x", ok=None, executed=False), tool("b"))
        assert verdict("- {never_sequence: [a, b], gap: 0}", *steps) == "violated"
        assert (
            verdict("- {blacklistedSequences: [[a, b]]}".removeprefix("- "), *steps) == "violated"
        )

    def test_a_sequence_inside_one_of_two_parallel_agents(self) -> None:
        steps = (
            agent("x", at("a", 0, 1), at("b", 4, 5), start_ns=0),
            agent("y", at("c", 2, 3), start_ns=0),
        )
        assert verdict("blacklistedSequences: [[a, b]]", *steps) == "violated"
        assert verdict("- {never_sequence: [a, b], gap: 0}", *steps) == "satisfied"
        assert verdict("- {never_sequence: [a, b], gap: 0, scope: agent}", *steps) == "violated"
        assert verdict("- {never_sequence: [b, c], scope: agent}", *steps) == "satisfied"


class TestGuards:
    text = "- {never_sequence: [a, b], unless: g}"

    @pytest.mark.parametrize(
        ("steps", "wanted"),
        [
            ([tool("g"), tool("a"), tool("b")], "violated"),
            ([tool("a"), tool("g"), tool("b")], "satisfied"),
            ([tool("a"), tool("g"), tool("a"), tool("b")], "violated"),
            ([tool("a"), tool("g", ok=False), tool("b")], "violated"),
            ([tool("a"), tool("g", ok=None), tool("b")], "unknown"),
            ([tool("b"), tool("a")], "satisfied"),
            ([tool("b")], "vacuous"),
        ],
    )
    def test_only_what_lies_between_counts(self, steps: list[Any], wanted: str) -> None:
        assert verdict(self.text, *steps) == wanted


class TestEach:
    text = "- before: {tool: b, need: a, each: true}"

    def test_one_need_serves_one_step(self) -> None:
        assert verdict(self.text, tool("a"), tool("b"), tool("b")) == "violated"
        assert verdict(self.text, tool("a"), tool("a"), tool("b"), tool("b")) == "satisfied"
        after = "- after: {tool: a, need: b, each: true}"
        assert verdict(after, tool("a"), tool("a"), tool("b")) == "violated"
        assert verdict(after, tool("a"), tool("b"), tool("a"), tool("b")) == "satisfied"

    def test_the_oldest_is_taken_first(self) -> None:
        text = "- before: {tool: b, need: a, each: true, within: 5s}"
        steps = (at("a", 0, 1), at("a", 4, 4.5), at("b", 5, 5), at("b", 8, 8))
        assert verdict(text, *steps) == "satisfied"
        assert verdict(text, *steps, at("b", 8, 8)) == "violated"

    def test_approvals_are_given_out_so_that_all_are_served_if_they_can_be(self) -> None:
        text = "- before: {tool: b, need: a, each: true, differ: agent}"
        needs = (tool("a", agent="alice", trace_id="t"), tool("a", agent="bob", trace_id="t"))
        triggers = (tool("b", agent="carol", trace_id="t"), tool("b", agent="bob", trace_id="t"))
        root: dict[str, Any] = {"root_span_ids": ("r",)}
        assert verdict(text, *needs, *triggers, **root) == "satisfied"
        assert verdict(text, *needs, *triggers[::-1], **root) == "satisfied"
        assert verdict(text, needs[1], *triggers, **root) == "violated"
        late = (needs[0], triggers[0], needs[1], triggers[1])
        assert verdict(text, *late, **root) == "violated"

    def test_directly_after(self) -> None:
        text = "- after: {tool: a, need: b, each: true, immediately: true}"
        assert verdict(text, tool("a"), tool("b"), tool("c"), tool("a"), tool("b")) == "satisfied"
        assert verdict(text, tool("a"), tool("c"), tool("b")) == "violated"


class TestWindows:
    text = "- count: {tool: a, max: 2, within: 10s}"

    def test_three_within_the_time(self) -> None:
        assert verdict(self.text, *(at("a", t, t) for t in (0, 5, 10))) == "violated"
        assert verdict(self.text, *(at("a", t, t) for t in (0, 5, 10.1))) == "satisfied"
        assert verdict(self.text, tool("a"), tool("a"), tool("a")) == "unknown"


class TestRepeats:
    def test_unknown_arguments_may_be_equal(self) -> None:
        text = "- no_repeat: {tool: '*', times: 3}"
        known = [tool("a", tool_args={"q": n}) for n in (1, 1.0, 2)]
        assert verdict(text, *known) == "satisfied"
        assert verdict(text, *known, tool("a")) == "unknown"
        assert verdict(text, *known, tool("b")) == "satisfied"
        assert verdict(text, *known, tool("a", tool_args={"q": 1})) == "violated"

    def test_true_is_not_one(self) -> None:
        calls = [tool("a", tool_args={"q": q}) for q in (1, True)]
        assert verdict("- no_repeat: a", *calls) == "satisfied"


class TestFlows:
    text = "- no_flow: {from: a.result, to: b.args, min_chars: 6}"

    @pytest.mark.parametrize(
        ("result", "args", "wanted"),
        [
            ({"key": ["Secret-1"]}, {"x": {"y": "it is  secret-1."}}, "violated"),
            ("the secret-1 of all", {"x": "secret-1"}, "violated"),
            ("secret", {"x": "secre"}, "satisfied"),
            (1234567, {"x": 1234567.0}, "violated"),
            (True, {"x": True}, "satisfied"),
            ("secret-1", None, "unknown"),
            (None, {"x": "y"}, "unknown"),
        ],
    )
    def test_values(self, result: Any, args: Any, wanted: str) -> None:
        source = {} if result is None else {"tool_result": result}
        target = {} if args is None else {"tool_args": args}
        assert verdict(self.text, tool("a", **source), tool("b", **target)) == wanted

    def test_a_value_flows_forwards_only(self) -> None:
        steps = (tool("b", tool_args={"x": "secret"}), tool("a", tool_result="secret"))
        assert verdict(self.text, *steps) == "satisfied"

    def test_the_value_is_masked(self) -> None:
        steps = (
            tool("a", tool_result="hunter2-hunter2"),
            tool("b", tool_args={"t": "hunter2-hunter2"}),
        )
        [finding] = audit_rule(rule(self.text), [trajectory(*steps)]).findings
        assert finding.message == "a → b: result → args.t (hu…, 15 characters)"
        assert masked("ab") == "…, 2 characters"

    def test_containment_is_that_of_python(self) -> None:
        texts = ["abcabc", "abc", "bca", "xabcx", "", "ab"]
        pairs = {
            (a, b)
            for a in texts
            for b in texts
            if (a in b and len(a) >= 3) or (b in a and len(b) >= 3)
        }
        assert set(contained(texts, texts, 3)) == pairs


class TestWholeTraces:
    def test_a_lower_bound_can_break_a_budget_and_never_keep_one(self) -> None:
        text = "- budget: {tokens: 10}"
        for tokens, complete, wanted in (
            (11, False, "violated"),
            (9, False, "unknown"),
            (9, True, "satisfied"),
        ):
            totals = TokenTotals(input=tokens, output=0, total=tokens, complete=complete)
            assert verdict(text, tool("a"), tokens=totals) == wanted
        assert verdict(text, tool("a")) == "unknown"

    def test_handoffs_are_edges(self) -> None:
        text = "- handoff: {allow: {a: [b]}, deny: {'*': [root]}}"
        ok = HandoffStep(name="h", from_agent="a", to_agent="b")
        assert verdict(text, ok) == "satisfied"
        assert verdict(text, HandoffStep(name="h", from_agent="b", to_agent="a")) == "violated"
        assert verdict(text, HandoffStep(name="h", from_agent="a")) == "unknown"
        assert verdict(text, agent("b", agent("b"))) == "vacuous"

    def test_deviations_from_a_model_are_listed(self) -> None:
        text = "- model: {start: a, a: [b], b: [a, end]}"
        found = audit_rule(rule(text), [trajectory(tool("b"), tool("a"), tool("x"), tool("a"))])
        assert [f.message for f in found.findings] == [
            "b must not come first",
            "x is no state of the model",
            "a must not come last",
        ]


class _Queries:
    def findings(self, sql: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        return {"t": [(("s", "gone"), f"from {sql}")]}


def test_queries_need_a_store() -> None:
    found = trajectory(tool("a", span_id="s"), trace_id="t")
    text = rule("- sql: select trace_id")
    assert audit_rule(text, [found]).verdict is Verdict.UNKNOWN
    result = audit_rule(text, [found], Evidence(queries=_Queries()))
    assert [(f.message, f.span_ids) for f in result.findings] == [
        ("from select trace_id", ("s", "gone"))
    ]
    clean = audit_rule(text, [trajectory(trace_id="u")], Evidence(queries=_Queries()))
    assert clean.verdict is Verdict.SATISFIED


def test_findings_are_capped_and_the_others_counted() -> None:
    result = audit_rule(rule("- never: a"), [trajectory(*(tool("a") for _ in range(130)))])
    assert (len(result.findings), result.findings_not_shown) == (MAX_FINDINGS, 30)


def test_messages_hold_values_and_names() -> None:
    text = (
        "- {before: {tool: pay, as: payment, need: ok}, message: "
        "'{payment} of {1.args.sum} in {rule}: {detail}'}"
    )
    [finding] = audit_rule(rule(text), [trajectory(tool("pay", tool_args={"sum": 7}))]).findings
    assert finding.message == (
        "pay of 7 in before-tool-pay-as-payment-need-ok: pay without ok before it"
    )


SLOW = """
- {never_sequence: [a, b, a], gap: 3, unless: c, same: args.q}
- before: {tool: b, need: a, each: true, same: args.q, differ: agent}
- before: {tool: b, need: a, immediately: true}
- after: {tool: a, need: b, each: true, within: 1m}
- not_together: [a, b]
- no_repeat: {tool: "*", times: 3, consecutive: true}
- no_flow: {from: a.result, to: b.args, unless: c}
- flow: {from: a.result, to: b.args}
- model: {start: a, a: [b, c], b: [a, b]}
"""


@pytest.mark.parametrize("slow", parse_policy(SLOW).rules, ids=lambda r: str(r.kind))
def test_ten_times_the_calls_cost_ten_times_as_much(slow: PolicyRule) -> None:
    def cost(count: int) -> int:
        """Return how many functions are called, which no other load on the machine changes."""
        steps = [
            at(
                "abcb"[n % 4],
                n,
                n + 1.5,
                tool_args={"q": n % 50, "t": f"text {n}"},
                tool_result=f"result {n} of many",
                agent=f"agent {n % 7}",
            )
            for n in range(count)
        ]
        found = trajectory(*steps)
        calls = 0

        def note(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            audit_rule(slow, [found])
        finally:
            sys.setprofile(None)
        return calls

    assert cost(3000) < 13 * cost(300)


def test_a_function_that_ends_the_program_ends_its_rule_only(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import sys\n\n\ndef check(trajectory):\n    sys.exit(0)\n")
    text = f"- python: {tmp_path / 'own.py'}:check"
    result = audit_rule(rule(text), [trajectory(tool("a"))])
    assert (result.verdict, "SystemExit" in result.message) == (Verdict.UNKNOWN, True)
