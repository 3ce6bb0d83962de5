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
)
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode


@click.command("doctor", short_help=COMMANDS["doctor"])
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@db_option
@input_options
@json_option
def COMMAND(paths: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """Show how many spans were understood by which convention, and which evidence is missing.

    Vocabularies nobody knows are listed with their attribute prefixes; missing evidence comes with
    what to switch on in the framework. Exits with 5 when no span was understood.

    \b
    Examples:
      trajscope doctor traces/
      trajscope doctor --db spans.duckdb --json
    """
    from trajscope.pipeline.doctor import examine
    from trajscope.pipeline.load import load
    from trajscope.report.explain import print_examination

    loaded = load(paths, given_input(), db)
    print_problems(loaded.problems)
    report = examine(loaded.assembled)
    if as_json:
        print_json(report)
    else:
        print_examination(console(), report)
    if not report["understood"]:
        narrate("no span was understood")
        click.get_current_context().exit(ExitCode.NOTHING_EVALUATED)
