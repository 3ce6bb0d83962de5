"""`trajscope doctor`: how well captures are understood."""

from __future__ import annotations

import click

from trajscope.cli._io import (
    console,
    db_option,
    given_input,
    input_options,
    json_option,
    narrate,
    print_json,
    print_problems,
    snapshot_option,
    traces_done,
)
from trajscope.cli._stdout import reader_may_leave
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode


@click.command("doctor", short_help=COMMANDS["doctor"])
@click.argument("targets", nargs=-1, metavar="[PATH | TRACE]...")
@db_option
@snapshot_option
@input_options
@json_option
def COMMAND(targets: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """Show how many spans were understood by which convention, and which evidence is missing.

    Vocabularies nobody knows are listed by scope with their attribute prefixes; missing evidence
    comes with what to switch on in the framework. Exits with 5 when no span was understood.

    \b
    Examples:
      trajscope doctor traces/
      trajscope doctor --db spans.duckdb --json
    """
    from trajscope.pipeline.doctor import examine
    from trajscope.report.doctor import doctor_json, print_doctor

    options = given_input()
    with traces_done("examining") as progress:
        coverage = examine(targets, options, db, progress)
    print_problems(options.problems)
    with reader_may_leave():
        if as_json:
            print_json(doctor_json(coverage, options.problems))
        else:
            print_doctor(console(), coverage)
    if not coverage.understood:
        from trajscope.pipeline.load import NO_TRACE

        own = "no span was understood: docs/mapping.md tells how to describe spans of your own"
        narrate(own if coverage.spans else NO_TRACE)
        click.get_current_context().exit(ExitCode.NOTHING_EVALUATED)
