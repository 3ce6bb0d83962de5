"""`trajscope explain`: why a span became what it is."""

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
from trajscope.cli._redact import masked_explanations, redact_options
from trajscope.cli.app import COMMANDS
from trajscope.errors import UsageError


@click.command("explain", short_help=COMMANDS["explain"])
@click.argument("target", metavar="PATH | TRACE")
@click.argument("span", required=False)
@click.option("--span", "span_option", metavar="SPAN", help="The same as the second argument.")
@click.option(
    "--with",
    "more",
    multiple=True,
    metavar="PATH",
    help="Read this capture too: the log records of the spans (repeat for several).",
)
@db_option
@snapshot_option
@redact_options
@input_options
@json_option
def COMMAND(  # noqa: N802 - the constant every command module has
    target: str,
    span: str | None,
    span_option: str | None,
    more: tuple[str, ...],
    db: str | None,
    as_json: bool,
) -> None:
    """Show why every span of a trace, or one SPAN, became what it is.

    For each: which conventions claimed it and how specifically, which attribute gave which field,
    why it is noise or part of another span, what evidence made a call failed, and which attributes
    nothing used.

    \b
    Examples:
      trajscope explain trace.otlp.json
      trajscope explain trace.otlp.json 852acda6aea726d6
      trajscope explain spans.json --with logs.json
      trajscope explain --db spans.duckdb 0afb1e5666d81046547950e40a46ff89
    """
    from trajscope.pipeline.explain import explain
    from trajscope.pipeline.load import load
    from trajscope.report.explain import explain_json, print_explanations

    if span is not None and span_option is not None and span != span_option:
        raise UsageError(f"two spans were named (got {span!r:.80} and --span {span_option!r:.80})")
    if db is not None and more:
        raise UsageError("--with reads captures (got it beside --db)", hint="drop one of the two")
    options = given_input()
    loaded = load([target, *more], options, db)
    print_problems(loaded.problems)
    traces = masked_explanations(explain(loaded.assembled, options.reader(), span or span_option))
    if as_json:
        print_json(explain_json(traces))
    else:
        print_explanations(console(), traces)
    if note := loaded.nothing_understood():
        narrate(note)
