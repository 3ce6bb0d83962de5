"""`trajscope prune`: old traces out of a store."""

from __future__ import annotations

import click
import msgspec

from trajscope.cli._io import json_option, print_json, required_db_option
from trajscope.cli.app import COMMANDS


@click.command("prune", short_help=COMMANDS["prune"])
@required_db_option
@click.option(
    "--before",
    required=True,
    metavar="DATE|AGE",
    help="Remove traces whose last span started before this: 2026-11-01 (UTC), 30d, 12h.",
)
@click.option(
    "--keep-scores", is_flag=True, help="Leave scores and findings of removed traces in place."
)
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@json_option
def COMMAND(  # noqa: N802
    db: str, before: str, keep_scores: bool, dry_run: bool, as_json: bool
) -> None:
    """Remove old traces from a store, whole, with everything derived from them.

    A trace goes when its last span started before the given time; one that tells no time stays.
    All of it is one transaction. The file does not shrink by it: see trajscope vacuum.

    \b
    Examples:
      trajscope prune --before 30d --db spans.duckdb --dry-run
      trajscope prune --before 2026-11-01 --db spans.duckdb
    """
    from trajscope.pipeline.trim import prune
    from trajscope.report.text import plural, safe_text, time_text
    from trajscope.store import Store

    with Store.open(db, create=False) as store:
        before_ns, gone = prune(store, before, keep_scores=keep_scores, dry_run=dry_run)
        spans, traces = store.count()
    if as_json:
        went = msgspec.structs.asdict(gone)
        left = {"spans": spans, "traces": traces}
        print_json({"before_ns": before_ns, "dry_run": dry_run, **went, "store": left})
        return
    verb = "would remove" if dry_run else "removed"
    what = f"{plural(gone.traces, 'trace')} ({plural(gone.spans, 'span')})"
    click.echo(f"{safe_text(db)}: {verb} {what} from before {time_text(before_ns)} UTC")
    if gone.log_records:
        click.echo(f"  and {plural(gone.log_records, 'log record')}")
    if gone.traces:
        click.echo(
            f"  with {plural(gone.steps, 'step')}, {plural(gone.scores, 'score')}, "
            f"{plural(gone.findings, 'finding')}, {plural(gone.repairs, 'repair')}, "
            f"{plural(gone.captures, 'emptied capture')}"
        )
        click.echo(
            f"  first span {time_text(gone.oldest_ns)}, last {time_text(gone.newest_ns)} UTC"
        )
    if gone.derived:
        click.echo(
            f"  {plural(gone.derived, 'trace')} derived afresh: what answered their calls went"
        )
    if gone.undated:
        click.echo(f"  {plural(gone.undated, 'trace')} without any time stayed")
    if not dry_run:
        click.echo(
            f"{safe_text(db)} now holds {plural(spans, 'span')} in {plural(traces, 'trace')}"
        )
