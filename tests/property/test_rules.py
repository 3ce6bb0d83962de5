"""Laws of audit rules: what must not change a verdict, and in which direction evidence may."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trajscope.model.reading import StepType
from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.model.step import BaseStep, build_step
from trajscope.model.trajectory import Trajectory
from trajscope.rules import parse_policy
from trajscope.rules._engine import Auditor

KINDS = """
- never: a
- never: {tool: "*", where: {args.q: {gt: 1}}}
- never: {tool: "*", where: {args.q: {ne: 1}}}
- never: {tool: "*", failed: true}
- never: a
  unless: {before: b}
- only: [a, {tool: b, where: {args.q: 1}}]
- require: a
- count: {tool: a, max: 1}
- count: {tool: a, min: 2}
- count: {tool: "*", max: 1, within: 3s}
- never_sequence: [a, b]
- never_sequence: [a, b]
  gap: 0
- never_sequence: [a, b, c]
  gap: 1
- never_sequence: [a, b]
  within: 4s
  unless: c
- never_sequence: [a, b]
  same: args.q
- never_sequence: ["*", b]
  differ: agent
- never_sequence: [a, b]
  order: start
- before: {tool: b, need: a}
- before: {tool: b, need: a, immediately: true}
- before: {tool: b, need: a, each: true}
- before: {tool: b, need: [a, c], each: true, same: args.q}
- before: {tool: b, need: a, each: true, differ: agent}
- before: {tool: b, need: a, each: true, within: 4s}
- before: {tool: b, need: a, within: 4s, same: args.q}
- after: {tool: a, need: [b, c]}
- after: {tool: a, need: b, each: true}
- after: {tool: a, need: b, immediately: true}
- after: {tool: a, need: b, within: 4s}
- pair: [a, b]
- together: [a, b]
- not_together: [a, b]
- not_together: [a, b]
  same: args.q
- if: a
  require: b
- first: a
- last: [a, b]
- no_repeat: "*"
- no_repeat: {tool: "*", times: 2, consecutive: true}
- no_repeat: {tool: "*", times: 2, within: 4s}
- no_retry: "*"
- on_failure: {tool: a, need: b}
- flow: {from: a.result, to: b.args}
- no_flow: {from: a.result, to: b.args, min_chars: 1}
- no_flow: {from: a.result, to: b.args, min_chars: 1, unless: c}
- model: {start: a, a: [b, c, end], b: [a, b], c: end}
- blacklistedSequences: [[a, b]]
"""
RULES = parse_policy(KINDS).rules
UNDER = parse_policy(KINDS.replace("\n- ", "\n- under: boss\n  ")).rules
AGENT = parse_policy(KINDS.replace("\n- ", "\n- scope: agent\n  ")).rules
AUDITOR = Auditor()
SECOND = 1_000_000_000
TRACE = "ab" * 16

calls = st.fixed_dictionaries(
    {
        "name": st.sampled_from("aabbcd"),
        "start": st.integers(0, 8),
        "length": st.sampled_from([0, 0, 1, 1, 3, None]),
        "tool_args": st.sampled_from([{"q": 1}, {"q": 2}, {"q": "x"}, {}, None]),
        "tool_result": st.sampled_from(["x", "1", None]),
        "success": st.sampled_from([True, True, True, False, None]),
        "executed": st.sampled_from([True, True, True, False]),
        "agent": st.sampled_from([None, "x", "y"]),
        "run": st.sampled_from([None, "1", "2"]),
        "message": st.sampled_from([None, None, None, 1, 2]),
    }
)
Call = dict[str, Any]


def step_of(number: int, call: Call) -> BaseStep:
    known = call["message"] is None
    start = call["start"] * SECOND
    end = None if call["length"] is None else start + call["length"] * SECOND
    values: dict[str, Any] = {
        "name": call["name"],
        "label": call["name"],
        "trace_id": TRACE,
        "span_id": f"{number + 1:016x}" if known else f"ff{call['message']:014x}",
        "executed": call["executed"],
        "from_messages": not known,
        "start_ns": start if known else None,
        "end_ns": end if known else None,
        "success": call["success"],
        "failed": None if call["success"] is None else not call["success"],
        "agent": call["agent"],
        "agent_span_id": call["run"],
    }
    for field in ("tool_args", "tool_result"):
        if call[field] is not None:
            values[field] = call[field]
    return build_step(StepType.TOOL_CALL, values)


def trajectory(inside: list[Call], outside: list[Call] | None = None) -> Trajectory:
    """Return calls below an agent `boss`, and others beside it, ordered by start."""
    numbered = list(enumerate([*inside, *(outside or [])]))
    order = sorted(numbered, key=lambda pair: (pair[1]["start"], pair[1]["message"] or 0, pair[0]))
    ranks = {number: rank for rank, (number, _) in enumerate(order, 1)}
    steps: list[Any] = [
        step_of(number, call).model_copy(update={"order": ranks[number]})
        for number, call in numbered
    ]
    boss = {"name": "boss", "label": "boss", "trace_id": TRACE, "span_id": "b" * 16, "order": 0}
    run: Any = build_step(
        StepType.AGENT_RUN,
        {**boss, "start_ns": 0, "end_ns": 99 * SECOND, "children": tuple(steps[: len(inside)])},
    )
    return Trajectory.model_construct(
        steps=(run, *steps[len(inside) :]), trace_id=TRACE, root_span_ids=("b" * 16,), start_ns=0
    )


def results(found: Trajectory, rules: Any = RULES) -> list[RuleResult]:
    return list(AUDITOR.decide(rules, [found]))


def told(found: list[RuleResult]) -> list[Any]:
    return [(r.rule, r.verdict, [(f.span_ids, f.message) for f in r.findings]) for r in found]


@settings(max_examples=40)
@given(st.lists(calls, max_size=7))
def test_tighter_gaps_find_no_more(steps: list[Call]) -> None:
    gaps = [parse_policy(f"- {{never_sequence: [a, b, c], gap: {n}}}").rules[0] for n in (0, 1, 2)]
    rules = [*gaps, parse_policy("- never_sequence: [a, b, c]").rules[0]]
    found = results(trajectory(steps), rules)
    ends = [{f.span_ids[-1] for f in r.findings if f.verdict is Verdict.VIOLATED} for r in found]
    assert all(fewer <= more for fewer, more in pairwise(ends))
    verdicts = [r.verdict is Verdict.VIOLATED for r in found]
    assert verdicts == sorted(verdicts)


@settings(max_examples=40)
@given(st.lists(calls, max_size=6), st.lists(calls, max_size=4))
def test_steps_outside_the_scope_change_nothing(inside: list[Call], outside: list[Call]) -> None:
    alone = told(results(trajectory(inside), UNDER))
    assert told(results(trajectory(inside, outside), UNDER)) == alone


@settings(max_examples=40)
@given(st.lists(calls, max_size=6), st.integers(0, 6))
def test_steps_that_do_not_count_change_nothing(steps: list[Call], place: int) -> None:
    found = trajectory(steps)
    model = {"name": "m", "span_id": "c" * 16, "trace_id": TRACE, "order": 99, "start_ns": 4}
    extra = build_step(StepType.MODEL_GENERATION, model)
    boss = found.steps[0]
    children = (*boss.children[:place], extra, *boss.children[place:])
    more = found.model_copy(update={"steps": (boss.model_copy(update={"children": children}),)})
    some = [rule for rule in RULES if rule.scope.types]
    assert told(results(more, some)) == told(results(found, some))


@settings(max_examples=40)
@given(st.lists(calls, max_size=7), st.permutations(range(20)))
def test_names_of_spans_change_nothing(steps: list[Call], names: list[int]) -> None:
    found = trajectory(steps)
    new: dict[str, str] = {}

    def renamed(step: BaseStep) -> BaseStep:
        assert step.span_id is not None
        span = new.setdefault(step.span_id, f"{names[len(new)]:016x}")
        children = tuple(map(renamed, step.children))
        return step.model_copy(update={"span_id": span, "children": children})

    moved = found.model_copy(update={"steps": tuple(map(renamed, found.steps))})
    moved = moved.model_copy(update={"root_span_ids": (new["b" * 16],)})
    for rules in (RULES, AGENT):
        for before, after in zip(results(found, rules), results(moved, rules), strict=True):
            assert (after.verdict, after.message) == (before.verdict, before.message)
            spans = [tuple(new[span] for span in f.span_ids) for f in before.findings]
            assert [f.span_ids for f in after.findings] == spans


LESS: dict[str, dict[str, Any]] = {
    "arguments": {"tool_args": None},
    "results": {"tool_result": None},
    "outcomes": {"success": None},
    "ends": {"length": None},
    "agents": {"agent": None},
}

HOLDS = {Verdict.SATISFIED, Verdict.VACUOUS}


@settings(max_examples=150)
@given(st.lists(st.tuples(calls, st.sampled_from([None, *LESS])), max_size=7))
def test_less_evidence_moves_verdicts_to_unknown_only(
    steps: list[tuple[Call, str | None]],
) -> None:
    """A rule that holds may then do so of what only may have happened, so vacuous is satisfied.

    Whose call it is says to forbidden sequences where to look: another run is no less evidence.
    """
    whole = results(trajectory([call for call, _ in steps]))
    less = [{**call, **LESS.get(lost or "", {})} for call, lost in steps]
    moved = any(lost == "agents" for _, lost in steps)
    for before, after in zip(whole, results(trajectory(less)), strict=True):
        if moved and before.rule.startswith("blacklisted-sequences"):
            continue
        allowed = HOLDS if before.verdict in HOLDS else {before.verdict}
        assert after.verdict in {Verdict.UNKNOWN, *allowed}, (after.rule, after.message)


@settings(max_examples=40)
@given(st.lists(calls, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_a_file_changes_nothing(steps: list[Call], random: Any) -> None:
    found = trajectory(steps)
    children = list(found.steps[0].children)
    random.shuffle(children)
    boss = found.steps[0].model_copy(update={"children": tuple(children)})
    assert told(results(found.model_copy(update={"steps": (boss,)}))) == told(results(found))


@settings(max_examples=40)
@given(st.lists(calls, max_size=6))
def test_a_verdict_is_the_one_of_its_findings(steps: list[Call]) -> None:
    for rules in (RULES, AGENT):
        for result in results(trajectory(steps), rules):
            assert all(finding.verdict is result.verdict for finding in result.findings)
            assert (result.verdict is Verdict.VIOLATED) == (result.counts["violations"] > 0)
            assert result.message
