"""`trajscope vacuum`: the space of what was removed is given back."""

from __future__ import annotations

from pathlib import Path

import click

from trajscope.cli._io import json_option, print_json, required_db_option
from trajscope.cli.app import COMMANDS


@click.command("vacuum", short_help=COMMANDS["vacuum"])
@required_db_option
@click.option(
    "--memory-limit",
    default="350MB",
    envvar="TRAJSCOPE_MEMORY_LIMIT",
    show_default=True,
    show_envvar=True,
    help="What DuckDB may hold in memory.",
)
@json_option
def COMMAND(db: str, memory_limit: str, as_json: bool) -> None:  # noqa: N802
    """Rewrite a store into a new file without gaps, and put it in the place of the old one.

    It needs room for the second copy. The old file is replaced in one step when the new one is
    whole; if anything goes wrong before, it stays as it was.

    \b
    Examples:
      trajscope vacuum --db spans.duckdb
      trajscope vacuum --db spans.duckdb --wait 60 --json
    """
    from trajscope.report.text import bytes_text, safe_text
    from trajscope.store import vacuum

    done = vacuum(Path(db), memory_limit=memory_limit)
    if as_json:
        print_json({"before_bytes": done.before_bytes, "after_bytes": done.after_bytes})
        return
    click.echo(
        f"{safe_text(db)}: {bytes_text(done.before_bytes)} before, "
        f"{bytes_text(done.after_bytes)} after"
    )
