"""`trajscope show`: what each trace did."""

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
)
from trajscope.cli._redact import masked_trajectories, redact_options
from trajscope.cli.app import COMMANDS


@click.command("show", short_help=COMMANDS["show"])
@click.argument("targets", nargs=-1, metavar="[PATH | TRACE]...")
@db_option
@snapshot_option
@redact_options
@input_options
@json_option
def COMMAND(targets: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """Show what each trace did: tool calls with outcomes, agents, model calls, tokens.

    PATHs are captures (files, directories, - for stdin); all of them are read as one capture. With
    --db the arguments are trace ids; none means every trace.

    \b
    Examples:
      trajscope show trace.otlp.json
      trajscope show spans.json logs.json --json
      trajscope show --db spans.duckdb 0afb1e5666d81046547950e40a46ff89
    """
    from trajscope.pipeline.load import load
    from trajscope.report.show import print_show, show_json

    loaded = load(targets, given_input(), db)
    print_problems(loaded.problems)
    shown = masked_trajectories(loaded.trajectories)
    if as_json:
        print_json(show_json(shown, loaded.problems))
    else:
        print_show(console(), shown)
    if note := loaded.nothing_understood():
        narrate(note)
