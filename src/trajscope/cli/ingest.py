"""`trajscope ingest`: captures into a store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from trajscope.cli._io import (
    db_option_of,
    given_input,
    input_options,
    json_option,
    narrate,
    print_json,
    print_problems,
)
from trajscope.cli._numbers import MOST_WORKERS, PlainInt
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, InputError, Problems, StoreError

if TYPE_CHECKING:
    from trajscope.pipeline.storing import Progress
    from trajscope.store import Store


@click.command("ingest", short_help=COMMANDS["ingest"])
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@db_option_of(required=True, help="The DuckDB store to write; made if it is not there.")
@click.option(
    "--memory-limit",
    default="200MB",
    envvar="TRAJSCOPE_MEMORY_LIMIT",
    show_default=True,
    show_envvar=True,
    help="What DuckDB may hold in memory.",
)
@click.option(
    "--drop-attributes",
    "drop_attributes",
    multiple=True,
    metavar="GLOB",
    help="Do not store attributes of this name, such as 'http.*' (repeat for several). Steps are "
    "read before, so they keep what they are.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Mask secrets before anything is stored (in one process, for good). "
    "TRAJSCOPE_REDACT names a file with more rules, TRAJSCOPE_REDACT_KEY makes masks equal across "
    "runs.",
)
@click.option(
    "--jobs",
    type=PlainInt(min=1, max=MOST_WORKERS),
    metavar="N",
    help="Processes that read large captures; default: one for each core.",
)
@click.option("--quiet", is_flag=True, help="Print the totals only, not a line for each capture.")
@input_options
@json_option
def COMMAND(  # noqa: N802
    paths: tuple[str, ...],
    db: str,
    memory_limit: str,
    drop_attributes: tuple[str, ...],
    redact: bool,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read captures into a DuckDB store: spans, and the typed steps derived from them.

    Each capture is one transaction. Ingesting the same capture again changes nothing; a late one
    mends the traces it touches.

    \b
    Examples:
      trajscope ingest traces/ --db spans.duckdb
      cat trace.json | trajscope ingest - --db spans.duckdb
    """
    from trajscope.pipeline.ahead import cores, start_ahead

    jobs = 1 if redact else jobs or cores()
    if jobs > 1:
        start_ahead(paths)

    from trajscope.pipeline.redaction import load_redactor
    from trajscope.pipeline.storing import ingest
    from trajscope.report.ingest import ingest_json, ingested_text
    from trajscope.report.text import plural, safe_text

    redactor = load_redactor() if redact else None
    options = given_input(drop_attributes=drop_attributes, redactor=redactor)
    with _store(db, memory_limit, options.problems) as store:
        with _progress() as progress:
            done = list(ingest(paths, store, options, progress, jobs=jobs))
        spans, traces = store.count()
    print_problems(options.problems)
    if as_json:
        print_json(ingest_json(done, options.problems, spans=spans, traces=traces))
    else:
        for one in () if quiet else done:
            click.echo(ingested_text(one))
        if os.path.lexists(db):
            click.echo(
                f"{safe_text(db)} now holds {plural(spans, 'span')} in {plural(traces, 'trace')}"
            )
    read = sum(one.report.spans + one.report.logs for one in done)
    if not read and options.problems.count:
        raise InputError("nothing could be read from any capture", hint="see the problems above")
    if options.mapping is not None and any(one.report.known for one in done):
        narrate("a capture that was ingested before keeps its first reading: use a new --db")
    if options.problems.count:
        narrate(f"{plural(options.problems.count, 'problem')}; the rest was kept")
    click.get_current_context().exit(ExitCode.OK)


@contextmanager
def _store(db: str, memory_limit: str, problems: Problems) -> Iterator[Store]:
    """Yield the store; one that this run made goes again if what went wrong left nothing in it."""
    from trajscope.store import Store, discard

    is_new, failed = not os.path.lexists(db), False  # of any name: `Path` raises for some
    try:
        with Store.open(db, memory_limit=memory_limit) as store:
            try:
                yield store
            except BaseException:
                failed = True
                raise
    finally:
        if is_new and (failed or problems.count) and _holds_nothing(db):
            discard(Path(db))


def _holds_nothing(db: str) -> bool:
    """Look anew: a database that met a full disk answers nothing more, its file does."""
    from trajscope.store import Store

    try:
        with Store.open(db, create=False, read_only=True) as store:
            return store.count() == (0, 0) and not store.log_count()
    except StoreError:
        return False


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show what is being read while stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _name, _count, _share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    from trajscope.report.text import safe_text

    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[spans]:,} spans, {task.fields[rate]:,.0f} a second", markup=False),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, name=Text(""), spans=0, rate=0.0)
        known, since = "", monotonic()

        def tell(name: str, count: int, share: float | None) -> None:
            nonlocal known, since
            if name != known:
                known, since = name, monotonic()
                bar.reset(task)
            rate = count / max(monotonic() - since, 0.001)
            bar.update(
                task,
                total=None if share is None else 1.0,
                completed=share or 0,
                name=safe_text(name, 60),
                spans=count,
                rate=rate,
            )

        yield tell
