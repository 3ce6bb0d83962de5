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
    print_json_list,
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
    from trajscope.pipeline.load import traces
    from trajscope.report.show import print_show, trace_json

    found = traces(targets, given_input(), db)
    print_problems(found.problems)
    shown = masked_trajectories(found)
    if as_json:
        problems = found.problems
        rest = {**problems.to_json(), "skipped": dict(problems.skipped)}
        print_json_list("traces", map(trace_json, shown), rest)
    else:
        print_show(console(), shown)
    if note := found.nothing_understood():
        narrate(note)
