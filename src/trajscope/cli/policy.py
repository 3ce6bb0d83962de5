"""`trajscope policy`: policies checked, tested and proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trajscope.cli._io import (
    db_option,
    json_option,
    narrate,
    print_json,
    required_db_option,
    snapshot_option,
)
from trajscope.cli._numbers import PlainFloat, PlainInt
from trajscope.cli._stdout import reader_may_leave
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, shortened

if TYPE_CHECKING:
    from trajscope.pipeline.policy import ExampleResult


@click.group("policy", short_help=COMMANDS["policy"])
def COMMAND() -> None:  # noqa: N802
    """Check, test and propose policies.

    \b
    Examples:
      trajscope policy check policy.yaml
      trajscope policy test policy.yaml
      trajscope policy mine --db spans.duckdb > policy.yaml
    """


@COMMAND.command("check", short_help="Validate a policy and say each rule in words.")
@click.argument("policy_file", metavar="POLICY", type=click.Path())
@db_option
@snapshot_option
@json_option
def check(policy_file: str, db: str | None, as_json: bool) -> None:
    """Validate a policy and say each rule in words.

    With --db, names are told that no stored step goes by, with the nearest that are there. Exits
    with 2 when anything in the file is wrong.

    \b
    Examples:
      trajscope policy check policy.yaml
      trajscope policy check policy.yaml --db spans.duckdb
    """
    from trajscope.pipeline.load import NO_TRACE
    from trajscope.pipeline.policy import explain_policy
    from trajscope.pipeline.unseen import unseen_names
    from trajscope.report.text import plural, safe_text
    from trajscope.rules import load_policy

    policy = load_policy(policy_file)
    unseen, no_trace = [], False
    if db is not None:
        from trajscope.store import Store

        with Store.open(db, read_only=True) as store:
            no_trace = not store.count()[1]
            unseen = [] if no_trace else unseen_names(policy, store)
    if as_json:
        rules = [
            {
                "id": r.id,
                "kind": r.kind,
                "severity": r.severity.value,
                "line": r.at.line,
                "means": r.words,
                "examples": r.example_count,
            }
            for r in explain_policy(policy)
        ]
        never = [{"rule": u.rule.id, "name": u.pattern, "near": list(u.near)} for u in unseen]
        print_json({"policy": policy.path, "rules": rules, "never_seen": never})
        return
    for rule in explain_policy(policy):
        line = f"{safe_text(rule.id)} ({rule.severity.value}): {safe_text(rule.words)}"
        click.echo(shortened(line))
    for found in unseen:
        near = f"; did you mean {' or '.join(map(safe_text, found.near))}?" if found.near else ""
        narrate(
            f"warning: {found.rule.at}: no stored step is called "
            f"{safe_text(found.pattern, 80)!r}{near}"
        )
    if no_trace:
        narrate(f"names were compared with nothing: {NO_TRACE}")
    narrate(f"{plural(len(policy.rules), 'rule')}, nothing wrong")


@COMMAND.command("test", short_help="Decide the examples that rules carry.")
@click.argument("policy_file", metavar="POLICY", type=click.Path())
@json_option
def test(policy_file: str, as_json: bool) -> None:
    """Decide the examples that rules carry, and compare with the verdicts they ask for.

    Exits with 1 when a rule came to another verdict, and with 5 when no rule has an example.

    \b
    Examples:
      trajscope policy test policy.yaml
    """
    from trajscope.pipeline.policy import run_examples
    from trajscope.report.text import plural
    from trajscope.rules import load_policy

    policy = load_policy(policy_file)
    tested = list(run_examples(policy))
    without = [rule.id for rule in policy.rules if not rule.examples]
    if as_json:
        examples = [
            {
                "rule": t.rule,
                "line": t.at.line,
                "expected": t.expected.value,
                "verdict": t.result.verdict.value,
                "message": t.result.message,
                "passed": t.passed,
            }
            for t in tested
        ]
        with reader_may_leave():
            print_json({"examples": examples, "without_examples": without})
    else:
        with reader_may_leave():
            _print_tested(tested)
    failed = sum(not t.passed for t in tested)
    narrate(
        f"{plural(len(tested), 'example')}, {failed} failed, "
        f"{plural(len(without), 'rule')} without an example"
    )
    code = ExitCode.FINDINGS if failed else ExitCode.OK
    click.get_current_context().exit(code if tested else ExitCode.NOTHING_EVALUATED)


def _print_tested(tested: list[ExampleResult]) -> None:
    from trajscope.report.text import safe_text

    for item in tested:
        mark = "ok" if item.passed else "FAILED"
        line = f"{mark} {safe_text(item.rule)}: {item.expected.value}"
        if not item.passed:
            line += f" was expected, {item.result.verdict.value} came out "
            line += f"({safe_text(item.result.message, 200)}) at {item.at}"
        click.echo(line)


@COMMAND.command("mine", short_help="Propose rules that held in nearly all stored traces.")
@required_db_option
@snapshot_option
@click.option(
    "--min-confidence",
    type=PlainFloat(0, 1),
    default=0.99,
    show_default=True,
    help="The share of traces with a case of the rule in which it held.",
)
@click.option(
    "--min-support",
    type=PlainInt(min=1),
    default=10,
    show_default=True,
    help="The number of traces with a case of the rule.",
)
@json_option
def mine(db: str, min_confidence: float, min_support: int, as_json: bool) -> None:
    """Propose rules that held in nearly all stored traces, as a policy file.

    Support and counter-examples stand beside each as comments. What held so far is not what must
    hold: read each rule before it becomes policy.

    \b
    Examples:
      trajscope policy mine --db spans.duckdb > policy.yaml
      trajscope policy mine --db spans.duckdb --min-support 100 --json
    """
    from trajscope.pipeline.mining import mine as mine_rules
    from trajscope.pipeline.mining import proposals_yaml
    from trajscope.report.text import plural
    from trajscope.store import Store

    with Store.open(db, read_only=True) as store:
        found = mine_rules(store, min_confidence=min_confidence, min_support=min_support)
    if as_json:
        rows = [
            {
                "id": p.id,
                "rule": p.body,
                "support": p.support,
                "satisfied": p.satisfied,
                "unknown": p.unknown,
                "confidence": p.confidence,
                "counter_examples": list(p.counter_examples),
            }
            for p in found
        ]
        print_json({"proposals": rows})
    else:
        click.echo(proposals_yaml(found), nl=False)
    narrate(f"{plural(len(found), 'rule')} proposed")
    if not found:
        click.get_current_context().exit(ExitCode.NOTHING_EVALUATED)
