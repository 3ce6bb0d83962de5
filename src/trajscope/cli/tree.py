"""`trajscope tree`: the execution tree, drawn or exported."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

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
from trajscope.cli._redact import masked_outline, masked_trajectories, redact_options
from trajscope.cli.app import COMMANDS
from trajscope.errors import UsageError

if TYPE_CHECKING:
    from trajscope.model.trajectory import Trajectory


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
    from trajscope.pipeline.load import traces
    from trajscope.report import tree

    found = traces(targets, given_input(), db)
    print_problems(found.problems)
    if graph_format:
        _print_graph(graph_format, list(islice(masked_trajectories(found), 2)))
    elif noise and not as_json and not critical_path:
        tree.print_outlines(console(), (masked_outline(a.outline()) for a in found))
    else:
        shown = masked_trajectories(found)
        if as_json:
            to_json = tree.critical_path_json if critical_path else tree.tree_json
            print_json_list("traces", map(to_json, shown))
        elif critical_path:
            tree.print_critical_paths(console(), shown)
        else:
            tree.print_trees(console(), shown)
    if note := found.nothing_understood():
        narrate(note)


def _print_graph(graph_format: str, found: list[Trajectory]) -> None:
    """Print the one trace there must be as a graph.

    Raises:
        UsageError: there is none, or there are more.
    """
    if len(found) != 1:
        got = "none" if not found else "more"
        raise UsageError(
            f"--format {graph_format} writes one trace (got {got})",
            hint="name one trace: trajscope list shows their ids",
        )
    from trajscope.analysis import GRAPH_FORMATS, execution_graph

    click.echo(GRAPH_FORMATS[graph_format](execution_graph(found[0])), nl=False)
