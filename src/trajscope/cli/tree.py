"""`trajscope tree`: the execution tree, drawn or exported."""

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
from trajscope.cli._redact import masked_outline, masked_trajectories, redact_options
from trajscope.cli.app import COMMANDS
from trajscope.errors import UsageError


@click.command("tree", short_help=COMMANDS["tree"])
@click.argument("targets", nargs=-1, metavar="[PATH | TRACE]...")
@db_option
@snapshot_option
@redact_options
@input_options
@click.option(
    "--format",
    "graph_format",
    type=click.Choice(["graphml", "dot", "mermaid"]),
    help="Write the execution graph in this format instead of drawing it (one trace).",
)
@click.option("--noise", is_flag=True, help="Draw noise spans too, with the reason they are noise.")
@click.option(
    "--critical-path", is_flag=True, help="Show what each run waited for, with self times."
)
@json_option
def COMMAND(  # noqa: N802 - the constant every command module has
    targets: tuple[str, ...],
    db: str | None,
    graph_format: str | None,
    noise: bool,
    critical_path: bool,
    as_json: bool,
) -> None:
    """Draw the execution tree of each trace: type, name, duration, tokens, failures.

    \b
    Examples:
      trajscope tree trace.otlp.json
      trajscope tree trace.otlp.json --noise
      trajscope tree trace.otlp.json --format mermaid
    """
    from trajscope.pipeline.load import load
    from trajscope.report import tree

    loaded = load(targets, given_input(), db)
    print_problems(loaded.problems)
    found = masked_trajectories(loaded.trajectories)
    if graph_format:
        if len(found) != 1:
            raise UsageError(
                f"--format {graph_format} writes one trace (got {len(found)})",
                hint="name one trace: trajscope list shows their ids",
            )
        from trajscope.analysis import GRAPH_FORMATS, execution_graph

        click.echo(GRAPH_FORMATS[graph_format](execution_graph(found[0])), nl=False)
    elif as_json:
        to_json = tree.critical_path_json if critical_path else tree.tree_json
        print_json({"traces": [to_json(t) for t in found]})
    elif critical_path:
        tree.print_critical_paths(console(), found)
    elif noise:
        tree.print_outlines(console(), (masked_outline(a.outline()) for a in loaded.assembled))
    else:
        tree.print_trees(console(), found)
    if note := loaded.nothing_understood():
        narrate(note)
