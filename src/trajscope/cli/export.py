"""`trajscope export`: what a store holds, to an OpenTelemetry backend or into files.

One thing a newcomer would get wrong: stdout says what was sent; credentials are printed nowhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from trajscope.cli._io import db_option, json_option, narrate, print_json, traces_done
from trajscope.cli._numbers import PlainFloat
from trajscope.cli._redact import given_redactor, redact_options
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, ExportError, UsageError

if TYPE_CHECKING:
    from trajscope.pipeline.evaluations import Evaluation
    from trajscope.pipeline.exporting import Exported
    from trajscope.telemetry.sender import OtlpSender


NO_TRACE = "no trace; ingest some: trajscope ingest … --db …"
NO_SCORES = "no scores or findings; make some: trajscope score --db …, or audit --db …"


@click.command("export", short_help=COMMANDS["export"])
@click.argument("traces", nargs=-1, metavar="[TRACE]...")
@click.option("--otlp", "url", metavar="URL", help="Send scores and findings as OTLP log events.")
@click.option(
    "--to",
    "kind",
    type=click.Choice(["parquet", "csv"]),
    help="Write files: spans as Parquet (a folder a day), or scores and findings as CSV.",
)
@click.option("--out", metavar="DIR", help="The new folder for --to.")
@db_option
@click.option(
    "--protocol",
    type=click.Choice(["http", "grpc"]),
    help="How the backend is spoken to; default grpc on port 4317, else http.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="A header of every request (repeat for several); never printed. "
    "OTEL_EXPORTER_OTLP_HEADERS counts too and is not seen in the list of processes.",
)
@click.option(
    "--timeout",
    type=PlainFloat(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For each batch with all its retries.",
)
@click.option(
    "--target",
    metavar="NAME",
    help="What the backend is remembered by, where the address alone does not tell.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be sent; send and note nothing.")
@redact_options
@json_option
def COMMAND(  # noqa: N802
    traces: tuple[str, ...],
    url: str | None,
    kind: Literal["parquet", "csv"] | None,
    out: str | None,
    db: str | None,
    protocol: Literal["http", "grpc"] | None,
    headers: tuple[str, ...],
    timeout: float,
    target: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send stored scores and findings to an OpenTelemetry backend, each to the span it judges.

    Or write files: --to parquet is for DuckDB, Spark and trajscope ingest; --to csv for people.

    Events are `gen_ai.evaluation.result`. What a backend confirmed is noted in the store
    and not sent to it again; what it did not confirm is left for the next time.

    \b
    Examples:
      trajscope export --db spans.duckdb --otlp http://localhost:4318
      trajscope export --db spans.duckdb --otlp http://localhost:4317 --protocol grpc
      trajscope export --db spans.duckdb --otlp https://host/api/otel --header api-key=…
      trajscope export --db spans.duckdb --otlp http://localhost:4318 --dry-run
      trajscope export --db spans.duckdb --to parquet --out spans/
    """
    if db is None:
        raise UsageError("no store was named", hint="give --db FILE, or set TRAJSCOPE_DB")
    if kind is not None and url is None:
        _write(kind, out, db, traces, as_json=as_json)
        return
    if url is None or kind is not None:
        raise UsageError(
            "one place to export to is needed", hint="give --otlp URL, or --to KIND --out DIR"
        )
    from trajscope.telemetry.sender import OtlpSender

    with OtlpSender(
        url, protocol=protocol, headers=_headers(headers), timeout_seconds=timeout, target=target
    ) as sender:
        if dry_run:
            _show_pending(sender, db, traces, as_json=as_json)
        else:
            _send(sender, db, traces, as_json=as_json)
    click.get_current_context().exit(ExitCode.OK)


def _write(
    kind: Literal["parquet", "csv"],
    out: str | None,
    db: str,
    traces: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    from trajscope.pipeline.files_out import export_csv, export_parquet
    from trajscope.report.text import plural, safe_text
    from trajscope.store import Store

    if out is None:
        raise UsageError(f"--to {kind} needs a folder", hint="give --out DIR")
    with Store.open(db, read_only=True) as store:
        if store.count() == (0, 0):
            _write_nothing(out, as_json=as_json)
        if kind == "parquet":
            done = export_parquet(store, Path(out), traces or None)
            document: dict[str, Any] = {"spans": done.spans, "traces": done.traces}
            document["files"] = list(done.files)
            what = f"{plural(done.spans, 'span')} of {plural(done.traces, 'trace')}"
        else:
            rows = export_csv(store, Path(out), traces or None)
            document = {**rows, "files": [f"{name}.csv" for name in rows]}
            what = f"{plural(rows['scores'], 'score')} and {plural(rows['findings'], 'finding')}"
    if as_json:
        print_json({"out": out, **document})
    else:
        click.echo(f"{safe_text(out)}: {what} in {plural(len(document['files']), 'file')}")
    if kind == "csv" and not any(rows.values()):
        narrate(f"nothing was exported: the store holds {NO_SCORES}")


def _write_nothing(out: str, *, as_json: bool) -> NoReturn:
    if as_json:
        print_json({"out": out, "files": []})
    narrate(f"nothing was exported: the store holds {NO_TRACE}")
    click.get_current_context().exit(ExitCode.NOTHING_EVALUATED)


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    """Return `NAME=VALUE` pairs; what is none is not shown, for it may be a secret."""
    pairs = [header.partition("=") for header in given]
    if not all(name and equals for name, equals, _ in pairs):
        raise UsageError("--header: is no NAME=VALUE", hint="--header 'authorization=Bearer …'")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _send(sender: OtlpSender, db: str, traces: tuple[str, ...], *, as_json: bool) -> None:
    from trajscope.pipeline.exporting import export
    from trajscope.pipeline.redaction import MaskingSender
    from trajscope.report.text import plural, safe_text
    from trajscope.store import Store

    redactor = given_redactor()
    way = sender if redactor is None else MaskingSender(sender, redactor)
    with Store.open(db, create=False) as store, traces_done("sending") as progress:
        done = export(store, way, traces or None, progress)
        has_scores = done.known or done.sent or done.left or done.refused
    if as_json:
        print_json(_document(sender, done))
    else:
        click.echo(
            f"{safe_text(sender.shown, 200)}: {plural(done.sent, 'event')} sent, "
            f"{done.known:,} sent before, {done.left:,} left"
            + (f", {done.refused:,} turned away" if done.refused else "")
        )
    if not has_scores:
        narrate(f"nothing was sent: the store holds {NO_SCORES}")
    if not done.complete:
        raise ExportError(done.failure or "the backend did not take all", hint=done.hint)


def _show_pending(sender: OtlpSender, db: str, traces: tuple[str, ...], *, as_json: bool) -> None:
    from trajscope.pipeline.exporting import Exported, pending
    from trajscope.report.text import plural, safe_text
    from trajscope.store import Store

    done = Exported()
    with Store.open(db, read_only=True) as store:
        found = list(pending(store, sender.target, traces or None, done))
    done.left = len(found)
    if as_json:
        print_json({**_document(sender, done, dry_run=True), "events": [*map(_event, found)]})
        return
    for evaluation in found:
        said = evaluation.label if evaluation.value is None else f"{evaluation.value:g}"
        span = f"{evaluation.trace_id or '(session)'} {evaluation.span_id or ''}"
        click.echo(
            safe_text(f"{span} {evaluation.name} {said}  {evaluation.explanation or ''}", 200)
        )
    click.echo(
        f"{safe_text(sender.shown, 200)}: {plural(done.left, 'event')} to send, "
        f"{done.known:,} sent before (dry run: nothing was sent)"
    )
    if not found and not done.known:
        narrate(f"nothing is to be sent: the store holds {NO_SCORES}")


def _event(evaluation: Evaluation) -> dict[str, Any]:
    from trajscope.telemetry.events import attributes

    return {
        "trace_id": evaluation.trace_id,
        "span_id": evaluation.span_id,
        "time_ns": evaluation.time_ns,
        "severity": evaluation.level,
        "attributes": attributes(evaluation),
    }


def _document(sender: OtlpSender, done: Exported, *, dry_run: bool = False) -> dict[str, Any]:
    return {
        "target": sender.target,
        "protocol": sender.protocol,
        "dry_run": dry_run,
        "sent": done.sent,
        "known": done.known,
        "refused": done.refused,
        "left": done.left,
        "failure": done.failure,
        "hint": done.hint,
    }
