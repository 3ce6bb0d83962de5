"""Policy files: what is wrong with them is said at once, with place, value and what was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trajscope.errors import ExitCode, UsageError
from trajscope.model.check import Chain, Need, Occurrence
from trajscope.model.rule import Matcher
from trajscope.pipeline.policy import explain_policy, names_of, run_examples
from trajscope.rules import load_policy, parse_policy

MISTAKES = [
    # text; place; what is wrong; hint
    ("- nevr: a", "p.yaml:1:3 ([0])", "no known kind (got 'nevr')", "did you mean never?"),
    ("- {id: x}", "p.yaml:1:3 ([0])", "no known kind", "the kinds are"),
    ("- {never: a, require: b}", "p.yaml:1:3 ([0])", "several kinds (got never, require)", "each"),
    ("- {never: a, severty: error}", "p.yaml:1:14", "the key 'severty' is unknown", "severity?"),
    ("- {never: {toll: a}}", "p.yaml:1:12", "the key 'toll' is unknown", "did you mean tool?"),
    ("- {never: a, severity: fatal}", "p.yaml:1:14", "(got 'fatal')", "error"),
    ("- {never: 3}", "p.yaml:1:4", "is wrong (got 3); a name was expected", ""),
    ("- {never: []}", "p.yaml:1:4", "is empty; at least one was expected", ""),
    ("[]", "p.yaml:1:1", "holds no rules", ""),
    ("{}", "p.yaml:1:1", "holds no rules", ""),
    ("rules: []", "p.yaml:1:1", "a list of rules was expected", ""),
    ("- {require: []}", "p.yaml:1:4", "checks nothing (got [])", ""),
    ("- {if: a, require: []}", "p.yaml:1:", "checks nothing", ""),
    ("blacklistedSequences: []", "p.yaml:1:1", "checks nothing (got [])", ""),
    ("- {flow: {from: [], to: b.args}}", "p.yaml:1:11", "is empty", ""),
    ("- {no_flow: {from: a.result, to: []}}", "p.yaml:1:30", "is empty", ""),
    ("- {never: $gone}", "p.yaml:1:4", "a list that does not exist (got '$gone')", "declare it"),
    (
        "lists: {bad: [a]}\nrules: [{never: $bed}]",
        "p.yaml:2:10",
        "a list that does not exist",
        "did you mean $bad?",
    ),
    (
        "lists: {a: [$b], b: [$c], c: [$a]}\nrules: [{never: $a}]",
        "p.yaml:1:31 (lists.c[0])",
        "contains itself: a → b → c → a",
        "",
    ),
    ("lists: {a: []}\nrules: [{never: x}]", "p.yaml:1:9", "is empty", ""),
    ("lists: {a: [x, $y]}\nrules: [{never: x}]", "p.yaml:1:16", "does not exist", ""),
    ("- {never: 're:('}", "p.yaml:1:4", "the pattern is malformed (got 're:(')", "quote"),
    ("- {never: 're:(a)\\1'}", "p.yaml:1:4", "malformed", "back-references"),
    ("- {never: 're:(?=a)'}", "p.yaml:1:4", "malformed", "look-around"),
    ("- {never_sequence: [a]}", "p.yaml:1:4", "is no sequence (got ['a'])", "use never:"),
    ("- {never_sequence: [a, b], gap: -1}", "p.yaml:1:28", "(got -1); a whole number", ""),
    ("- {never_sequence: [a, b], within: 5}", "p.yaml:1:28", "a duration with a unit", ""),
    ("- {never_sequence: [a, b, c], differ: agent}", "p.yaml:1:31", "compares two steps", ""),
    ("- {before: {tool: a}}", "p.yaml:1:4", "need is missing", ""),
    ("- {before: a}", "p.yaml:1:4", "a mapping with need", ""),
    ("- {precedence: [a, b, c]}", "p.yaml:1:4", "a list of two steps was expected", ""),
    ("- {before: {tool: a, need: b, same: arg.id}}", "p.yaml:1:31", "is no value of a", "args?"),
    ("- {before: {tool: a, need: b, each: yes please}}", "p.yaml:1:31", "true or false", ""),
    ("- {count: {tool: a}}", "p.yaml:1:4", "bounds nothing", ""),
    ("- {count: {tool: a, min: 3, max: 2}}", "p.yaml:1:4", "can never hold: min 3", ""),
    ("- {count: {tool: a, min: 3, within: 1m}}", "p.yaml:1:29", "bounds a rate", ""),
    ("- {never: {tool: a, type: agent_run}}", "p.yaml:1:21", "can never match: no tool", "name:"),
    ("- {never: {tool: a, type: agnt}}", "p.yaml:1:21", "(got 'agnt')", "did you mean agent?"),
    (
        "- {never: {tool: a, where: {args.n: {gt: 5, lt: 3}}}}",
        "p.yaml:1:29",
        "can never match: gt 5 and lt 3 exclude each other",
        "",
    ),
    (
        "- {never: {tool: a, where: {args.n: {exists: false, eq: 3}}}}",
        "p.yaml:1:29",
        "can never match: a value that is not there",
        "",
    ),
    ("- {never: {tool: a, where: {args.n: {gte: 5}}}}", "p.yaml:1:38", "(got 'gte')", "mean g"),
    ("- {never: {tool: a, where: {arg.n: 5}}}", "p.yaml:1:29", "is no value of a step", "args?"),
    ("- {never: {tool: a, where: {args.n: [1]}}}", "p.yaml:1:29", "is ambiguous", "{in: [1]}"),
    ("- {never: {tool: a, where: {args.n: {gt: true}}}}", "p.yaml:1:38", "a number or a text", ""),
    ("- {never: {tool: a, where: {args.n: {matches: 're:('}}}}", "p.yaml:1:38", "malformed", ""),
    ("- {no_flow: {from: a, to: b.args}}", "p.yaml:1:14", "is no part of a step", "read_inbox"),
    ("- {no_flow: {from: a.result}}", "p.yaml:1:4", "to is missing", ""),
    ("- {budget: {step: 4}}", "p.yaml:1:4", "limits nothing", ""),
    ("- {budget: {tokens: many}}", "p.yaml:1:13", "(got 'many'); a whole number", ""),
    ("- {budget: {steps: 4}, scope: agent}", "p.yaml:1:24", "has no budget of its own", ""),
    ("- {handoff: {}}", "p.yaml:1:4", "allow or deny was expected", ""),
    ("- {model: {start: a}}", "p.yaml:1:4", "has no states", ""),
    ("- {never: a, scope: run}", "p.yaml:1:14", "(got 'run'); trace or agent", "one of trace"),
    ("- {never: a, under: x, not_under: x}", "p.yaml:1:24", "can never match: x is under", ""),
    ("- {never: a, select: {agnt: b}}", "p.yaml:1:23", "the key 'agnt' is unknown", "agent"),
    ("- {never: a, select: {agent: 're:('}}", "p.yaml:1:23", "malformed", ""),
    ("- {never: a, message: 'the {tool} ran'}", "p.yaml:1:14", "a place nothing fills", "as:"),
    ("- {id: x, never: a}\n- {id: x, never: b}", "p.yaml:2:4", "stands twice (got 'x')", ""),
    ("- {never: a, examples: [{violatd: [a]}]}", "p.yaml:1:25", "is no example", "violated:"),
    ("- {python: nowhere.py:f}", "p.yaml:1:4", "is no file", ""),
    ("- {python: nowhere}", "p.yaml:1:4", "is no function", ""),
    ("- {sql: select 1}", "p.yaml:1:4", "names no trace", "trace_id"),
    ("version: 2\nrules: [{never: a}]", "p.yaml:1:1 (version)", "(got 2)", ""),
    ("rules: []", "p.yaml:1:1 (rules)", "a list of rules was expected", ""),
    ("rule: [{never: a}]", "p.yaml:1:1", "holds no rules", ""),
    ("- 3", "p.yaml:1:3 ([0])", "a rule, which is a mapping, was expected", ""),
    ("3", "p.yaml:1:1", "a mapping with rules", ""),
    ("blacklistedTools: [3]", "p.yaml:1:20", "a name was expected", ""),
    ("blacklistedSequences: [[]]", "p.yaml:1:24", "is empty", ""),
]


@pytest.mark.parametrize(("text", "place", "said", "hint"), MISTAKES)
def test_mistakes(text: str, place: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_policy(text, "p.yaml")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(place), lines
    assert said in str(caught.value)
    assert hint in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE


def test_all_mistakes_are_told_at_once_in_order() -> None:
    with pytest.raises(UsageError) as caught:
        parse_policy("- {never: 3}\n- {nevr: a}\n- {never: a, id: 3}\n- {never: b, x: 1}", "p.yaml")
    lines = [line for line in str(caught.value).splitlines() if line.startswith("p.yaml:")]
    assert [line.partition(" ")[0] for line in lines] == [
        "p.yaml:1:4",
        "p.yaml:2:3",
        "p.yaml:3:14",
        "p.yaml:4:14",
    ]


def test_mistakes_beyond_twenty_are_counted() -> None:
    with pytest.raises(UsageError, match="and 10 more"):
        parse_policy("\n".join("- {never: 3}" for _ in range(30)))


@pytest.mark.parametrize("depth", [50, 300])
def test_deep_lists_end(depth: int) -> None:
    lists = {f"l{i}": [f"$l{i + 1}"] for i in range(depth)} | {f"l{depth}": ["a"]}
    text = json.dumps({"lists": lists, "rules": [{"never": "$l0"}]})
    if depth < 100:
        assert names_of(parse_policy(text, "p.json").rules[0]) == ("a",)
    else:
        with pytest.raises(UsageError, match="more than 100 lists deep"):
            parse_policy(text, "p.json")


def test_the_kind_of_a_condition_with_its_requirement_is_one() -> None:
    [rule] = parse_policy("- {if: refund, require: [lookup, confirm]}").rules
    assert rule.kind == "if"
    assert [c.needs[0].names for c in rule.checks if isinstance(c, Need)] == [
        ("lookup",),
        ("confirm",),
    ]


def test_lists_stand_for_their_names_in_one_place_of_a_sequence() -> None:
    policy = parse_policy("{lists: {a: [x, y], b: [$a, z]}, rules: [{never_sequence: [$b, w]}]}")
    [check] = policy.rules[0].checks
    assert isinstance(check, Chain)
    assert [step.names for step in check.steps] == [("x", "y", "z"), ("w",)]
    assert policy.lists == {"a": ("x", "y"), "b": ("x", "y", "z")}


def test_an_expectation_s_blacklist_is_a_policy_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(
        json.dumps({"blacklistedTools": ["rm"], "blacklistedSequences": [["a", "b"], ["c"]]})
    )
    tools, sequences = load_policy(path).rules
    assert tools.checks == (Occurrence(Matcher(names=("rm",), types=()), max_count=0),)
    assert tools.scope.types == ()
    assert len(sequences.checks) == 3


def test_ids_are_made_of_what_a_rule_says() -> None:
    one = parse_policy("- never: a\n- never: b\n- never: a").rules
    other = parse_policy("- never: b\n- never: a").rules
    assert [rule.id for rule in one] == ["never-a", "never-b", "never-a-2"]
    assert {rule.id for rule in other} <= {rule.id for rule in one}


def test_policies_explain_themselves_and_run_their_examples() -> None:
    policy = parse_policy(
        "- id: x\n  severity: warning\n  before: {tool: delete_*, need: approve, within: 5m}\n"
        "  scope: agent\n  examples: [{violated: [delete_a]}, {violated: [approve, delete_a]}]"
    )
    [explained] = explain_policy(policy)
    assert explained.words == (
        "every delete_* needs approve before it within 5 m. Looks in each agent run."
    )
    assert (explained.at.line, explained.example_count) == (1, 2)
    good, bad = run_examples(policy)
    assert (good.passed, bad.passed, bad.result.verdict.value) == (True, False, "satisfied")
    assert bad.at.line == 5


def test_a_function_decides(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(
        "def many(t):\n    return len(t.steps) < 3\n"
        "def texts(t):\n    return [s.name for s in t.steps if s.name == 'rm']\n"
        "def unknown(t):\n    return None\n"
        "def broken(t):\n    return 1 / 0\n"
        "def odd(t):\n    return 3\n"
    )
    path = tmp_path / "p.yaml"
    path.write_text(
        "- {python: 'checks.py:many', examples: [{satisfied: [a]}, {violated: [a, a, a]}]}\n"
        "- {python: 'checks.py:texts', examples: [{satisfied: [a]}, {violated: [rm]}]}\n"
        "- {python: 'checks.py:unknown', examples: [{unknown: [a]}]}\n"
        "- {python: 'checks.py:broken', examples: [{unknown: [a]}]}\n"
        "- {python: 'checks.py:odd', examples: [{unknown: [a]}]}\n"
    )
    results = list(run_examples(load_policy(path)))
    assert [r.passed for r in results] == [True] * 7
    assert results[5].result.message == "broken failed: ZeroDivisionError: division by zero"
    path.write_text("- {python: 'checks.py:mny'}")
    with pytest.raises(UsageError, match=r"has no function 'mny'(?s:.*)it has many, texts"):
        load_policy(path)
