"""`trajscope explain`: why a span became what it is."""

from __future__ import annotations

import click

from trajscope.cli._io import (
    console,
    db_option,
    given_input,
    input_options,
    json_option,
    print_json,
    print_problems,
)
from trajscope.cli.app import COMMANDS


@click.command("explain", short_help=COMMANDS["explain"])
@click.argument("target", metavar="PATH | TRACE")
@click.argument("span", required=False)
@db_option
@input_options
@json_option
def COMMAND(target: str, span: str | None, db: str | None, as_json: bool) -> None:  # noqa: N802
    """Show why every span of a trace, or one SPAN, became what it is.

    For each: which conventions claimed it and how specifically, which attribute gave which field,
    why it is noise or part of another span, what evidence made a call failed, and which attributes
    nothing used.

    \b
    Examples:
      trajscope explain trace.otlp.json
      trajscope explain trace.otlp.json 852acda6aea726d6
    """
    from trajscope.pipeline.explain import explain
    from trajscope.pipeline.load import load
    from trajscope.report.explain import print_explanations

    options = given_input()
    loaded = load([target], options, db)
    print_problems(loaded.problems)
    traces = explain(loaded.assembled, options.reader(), span)
    if as_json:
        print_json({"traces": traces})
    else:
        print_explanations(console(), traces)
