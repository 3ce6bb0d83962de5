"""`trajscope audit`: traces against a policy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajscope.cli._io import (
    console,
    db_option,
    given_input,
    input_options,
    narrate,
    print_problems,
)
from trajscope.cli._numbers import PlainFloat
from trajscope.cli._redact import given_redactor, redact_options
from trajscope.cli._stdout import reader_may_leave
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, UsageError, unwritable

if TYPE_CHECKING:
    from trajscope.model.policy import Policy
    from trajscope.pipeline.audit import Audit, AuditOptions
    from trajscope.pipeline.baseline import Baseline

FORMATS = ("text", "json", "sarif", "junit", "markdown", "github")


@click.command("audit", short_help=COMMANDS["audit"])
@click.argument("targets", nargs=-1, metavar="[PATH | TRACE]...")
@click.option("--policy", "policy_file", required=True, type=click.Path(), help="Policy file.")
@db_option
@click.option("--since", help="Only traces that started since then: 24h, 7d, 2026-01-31.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the audit is written.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write there instead of stdout.")
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 when a rule that is at least this bad is violated.",
)
@click.option("--fail-on-unknown", is_flag=True, help="Exit 1 also when a verdict is unknown.")
@click.option("--baseline", type=click.Path(), help="Show only findings that are not in this file.")
@click.option("--update-baseline", is_flag=True, help="Write all findings to the baseline file.")
@click.option("--suppress", type=click.Path(), help="YAML file of suppressions with reasons.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "sql", "python"]),
    default="auto",
    show_default=True,
    help="Set-wise over a store, or trace by trace; both find the same.",
)
@click.option(
    "--follow", is_flag=True, help="Go on: audit what arrives in the store, until a finding."
)
@click.option(
    "--interval",
    type=PlainFloat(min=0.01),
    default=5.0,
    show_default=True,
    help="With --follow: seconds between two looks.",
)
@click.option(
    "--stop-after", type=PlainFloat(min=0), help="With --follow: stop after so many seconds."
)
@click.option("--webhook", metavar="URL", help="With --follow: POST findings there and go on.")
@click.option("--allow-plain-webhook", is_flag=True, help="Send to http addresses elsewhere too.")
@redact_options
@input_options
def COMMAND(  # noqa: N802
    targets: tuple[str, ...],
    policy_file: str,
    db: str | None,
    since: str | None,
    form: str,
    as_json: bool,
    output: str | None,
    fail_on: str,
    fail_on_unknown: bool,
    baseline: str | None,
    update_baseline: bool,
    suppress: str | None,
    engine: str,
    follow: bool,
    interval: float,
    stop_after: float | None,
    webhook: str | None,
    allow_plain_webhook: bool,
) -> None:
    """Hold traces against a policy: what must not, and what must, have happened.

    Each rule comes to a verdict for each trace: violated, satisfied, vacuous (there was no case of
    it) or unknown (the evidence was not recorded). With --db the arguments are trace ids (none:
    every trace) and the findings are kept in the store.

    \b
    Examples:
      trajscope audit trace.otlp.json --policy policy.yaml
      trajscope audit --db spans.duckdb --policy policy.yaml --since 24h --format sarif
      trajscope audit traces/ --policy policy.yaml --baseline known.json --update-baseline
      trajscope audit --db spans.duckdb --policy policy.yaml --follow --webhook https://…
    """
    from trajscope.pipeline.audit import AuditOptions
    from trajscope.pipeline.baseline import load_suppressions
    from trajscope.pipeline.times import parse_moment
    from trajscope.rules import load_policy

    if update_baseline and baseline is None:
        raise UsageError("--update-baseline has no file", hint="name it with --baseline FILE")
    form = "json" if as_json else form
    policy = load_policy(policy_file)
    redactor = given_redactor()
    options = AuditOptions(
        since_ns=None if since is None else parse_moment("--since", since, time.time_ns()),
        engine=engine,  # type: ignore[arg-type]
        baseline=None if update_baseline else _baseline(baseline),
        suppressions=load_suppressions(suppress) if suppress else (),
    )
    if follow or webhook:
        from trajscope.cli._follow import Watch, watch

        if not follow or db is None or targets or update_baseline or output:
            raise UsageError(
                "--follow watches a whole store",
                hint="give --follow and --db, without traces, --output and --update-baseline",
            )
        asked = Watch(fail_on, interval, stop_after, webhook, allow_plain_webhook)
        code = watch(policy, db, options, redactor, asked, lambda shown: write(shown, form, None))
        click.get_current_context().exit(code)
    found = _audit(policy, targets, db, options)
    from trajscope.report.audit import redact_audit

    print_problems(found.problems)
    shown = redact_audit(found, redactor)
    write(shown, form, output)
    if update_baseline and baseline is not None:
        _write_baseline(shown, baseline)
    _narrate(shown, since_given=since is not None)
    click.get_current_context().exit(_exit_code(found, fail_on, fail_on_unknown))


def _baseline(path: str | None) -> Baseline | None:
    from trajscope.pipeline.baseline import load_baseline

    return None if path is None else load_baseline(path)


def _audit(
    policy: Policy, targets: tuple[str, ...], db: str | None, options: AuditOptions
) -> Audit:
    from trajscope.pipeline.audit import audit, audit_stored, keep

    given = given_input()
    if db is None:
        return audit(policy, targets, options, given)
    given.refuse_mapping()
    from trajscope.store import Store

    with Store.open(db, create=False) as store:
        ids = list(targets) or None
        found = audit_stored(policy, store, ids, options)
        keep(found, store)
    return found


def write(found: Audit, form: str, output: str | None) -> None:
    """Write an audit to a file, or to stdout.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        with reader_may_leave():
            _print(found, form)
        return
    text = render(found, form)
    try:
        Path(output).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(output, error) from error


def _print(found: Audit, form: str) -> None:
    if form != "text":
        click.echo(render(found, form), nl=False)
        return
    from trajscope.report.audit import print_audit

    print_audit(console(), found)


def render(found: Audit, form: str) -> str:
    """Return an audit in one of `FORMATS`, ending in a line break."""
    import json

    from trajscope.report.audit import audit_json

    if form == "sarif":
        from trajscope.report.sarif import audit_sarif

        return json.dumps(audit_sarif(found), indent=2) + "\n"
    if form == "junit":
        from trajscope.report.junit import audit_junit

        return audit_junit(found)
    if form == "markdown":
        from trajscope.report.markdown import audit_markdown

        return audit_markdown(found)
    if form == "github":
        from trajscope.report.github import audit_github

        return audit_github(found)
    if form == "text":
        return _plain(found)
    return json.dumps(audit_json(found), indent=2, allow_nan=False) + "\n"


def _plain(found: Audit) -> str:
    import io

    from rich.console import Console

    from trajscope.report.audit import print_audit

    buffer = io.StringIO()
    print_audit(Console(file=buffer, width=10_000, highlight=False, markup=False), found)
    return buffer.getvalue()


def _write_baseline(found: Audit, path: str) -> None:
    import json

    from trajscope.pipeline.baseline import baseline_document
    from trajscope.report.text import plural

    document = baseline_document(found.findings)
    try:
        Path(path).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from error
    narrate(f"baseline: {plural(len(found.findings), 'finding')} written to {path}")


def _narrate(found: Audit, *, since_given: bool) -> None:
    from trajscope.pipeline.load import NO_TRACE
    from trajscope.report.text import safe_text

    for suppression in found.expired:
        what = suppression.rule or suppression.fingerprint or "?"
        narrate(
            f"suppression of {safe_text(what, 80)} expired on {suppression.until}: "
            f"{safe_text(suppression.reason, 200)}"
        )
    if not found.trace_count:
        narrate("no trace started since then" if since_given else NO_TRACE)
        return
    for rule in found.policy.rules:
        if not found.verdicts.get(rule.id):
            narrate(f"rule {safe_text(rule.id, 80)!r} was for no trace; check its select")


def _exit_code(found: Audit, fail_on: str, fail_on_unknown: bool) -> ExitCode:
    from trajscope.model.score import Severity

    if not found.evaluated:
        narrate("nothing could be evaluated")
        return ExitCode.NOTHING_EVALUATED
    if fail_on != "never" and found.at_least(Severity(fail_on)):
        return ExitCode.FINDINGS
    if fail_on_unknown and found.unknown_count:
        return ExitCode.FINDINGS
    return ExitCode.OK
