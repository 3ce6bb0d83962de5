"""`trajscope list`: traces with their key figures."""

from __future__ import annotations

import click

from trajscope.cli._io import (
    db_option,
    given_input,
    input_options,
    json_option,
    narrate,
    print_json,
    print_problems,
    print_table,
    snapshot_option,
)
from trajscope.cli.app import COMMANDS


@click.command("list", short_help=COMMANDS["list"])
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@db_option
@snapshot_option
@input_options
@json_option
def COMMAND(paths: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """List traces: start, agents, tool calls, failures, tokens, duration.

    \b
    Examples:
      trajscope list traces/
      trajscope list --db spans.duckdb --json
    """
    from trajscope.pipeline.listing import list_traces
    from trajscope.report.listing import HEADINGS, figures_json, figures_row

    listing = list_traces(paths, given_input(), db)
    print_problems(listing.problems)
    if as_json:
        print_json({"traces": [figures_json(trace) for trace in listing.traces]})
    else:
        print_table(HEADINGS, [figures_row(trace) for trace in listing.traces])
    if listing.note:
        narrate(listing.note)
