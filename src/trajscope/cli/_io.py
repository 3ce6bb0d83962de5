"""How commands print: JSON to stdout, tables to a terminal or a pipe, problems to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import indent
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trajscope.cli._numbers import PlainFloat
from trajscope.errors import Problems, UsageError, shortened

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 10_000
"""Columns of a pipe: wide enough that no table is squeezed."""

_UNKNOWN_WIDTH = 80
_ITEM = " " * 4
"""In front of the lines of an item of a list that a document holds."""

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def _be_patient(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:  # only then is the store, which takes long to load, certain to be used
        from trajscope.store import patient

        ctx.with_resource(patient(**{str(param.name): value}))


_wait_option = click.option(
    "--wait",
    "wait_seconds",
    type=PlainFloat(min=0),
    metavar="SECONDS",
    expose_value=False,
    callback=_be_patient,
    help="Wait this long while another process holds the store.",
)
snapshot_option = click.option(
    "--snapshot",
    is_flag=True,
    expose_value=False,
    callback=_be_patient,
    help="While another process holds the store, read a copy of its last commit.",
)


def _named(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
    """Refuse a name that is none; all else about it is said when the store is opened."""
    if value == "":
        raise UsageError(
            "--db: names no file (got ''); expected the path of a store", hint="--db spans.duckdb"
        )
    return value


def db_option_of(*, required: bool, help: str) -> Callable[[F], F]:
    """Return the option that names the store, with how long to wait for it."""
    db = click.option(
        "--db",
        required=required,
        type=click.Path(readable=False),  # what cannot be read is told by the store
        envvar="TRAJSCOPE_DB",
        show_envvar=True,
        callback=_named,
        help=help,
    )
    return lambda command: db(_wait_option(command))


db_option = db_option_of(required=False, help="The DuckDB store to use.")
required_db_option = db_option_of(required=True, help="The DuckDB store to use.")


def input_options(command: F) -> F:
    """Add the options of commands that read captures: they arrive as one `options` argument."""

    def collect(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        ctx.meta.setdefault("trajscope.input", {})[param.name] = value
        return value

    options = (
        click.option(
            "--map",
            "map_file",
            type=click.Path(),
            expose_value=False,
            callback=collect,
            help="YAML file that says what private spans are (docs/mapping.md).",
        ),
        click.option(
            "--input-format",
            "format_name",
            metavar="NAME",
            expose_value=False,
            callback=collect,
            help="Read every capture as this format instead of recognising it (otlp-json, …).",
        ),
        click.option(
            "--max-expanded",
            metavar="SIZE",
            default="4GiB",
            show_default=True,
            expose_value=False,
            callback=collect,
            help="Refuse a compressed capture that expands beyond this (500MB, 8GiB).",
        ),
        click.option(
            "--strict",
            is_flag=True,
            expose_value=False,
            callback=collect,
            help="Refuse a capture at its first problem instead of keeping the good part.",
        ),
    )
    for option in options:
        command = option(command)
    return command


def given_input(**more: Any) -> Any:
    """Return the input options of the running command as `pipeline.load.InputOptions`."""
    from trajscope.pipeline.load import InputOptions

    return InputOptions(**click.get_current_context().meta["trajscope.input"], **more)


def print_json(document: Any) -> None:
    """Print one JSON document, exact: control characters as escapes, never NaN."""
    click.echo(_json_text(document))


def _json_text(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False, default=str)


def print_json_list(
    key: str, items: Iterable[Any], rest: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Print a document whose first member is a list, item by item; rest: its other members.

    The text is that of `print_json`. The first item is made before anything is printed, so that an
    error at the start leaves nothing behind.
    """
    texts = map(_json_text, items)
    first = next(texts, None)
    if first is None:
        print_json({key: [], **rest})
        return
    click.echo(f'{{\n  "{key}": [\n{indent(first, _ITEM)}', nl=False)
    for text in texts:
        click.echo(",\n" + indent(text, _ITEM), nl=False)
    click.echo("\n  ]" + ("," + _json_text({**rest}).removeprefix("{") if rest else "\n}"))


def console() -> Console:
    """Return a console on stdout: colour only on a terminal, nothing cut or wrapped on a pipe."""
    from rich.console import Console

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - what rich has caught; it would end the program with 1

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    made = Patient(width=width, highlight=False, markup=False, emoji=False)
    if made.width < 1:  # COLUMNS=0, as some terminals say who do not know
        made.width = _UNKNOWN_WIDTH
    return made


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a plain table; cells must already be safe text."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=not sys.stdout.isatty())
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


@contextmanager
def traces_done(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how many traces of all are done, while stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(doing, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("traces"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def narrate(text: str) -> None:
    """Print one line of narration to stderr."""
    click.echo(shortened(text), err=True)


def print_problems(problems: Problems, show: int = 10) -> None:
    """Print what was wrong with the input, and what was passed over, to stderr."""
    from trajscope.report.text import plural, safe_text

    for problem in problems.items[:show]:
        narrate(f"problem: {safe_text(str(problem))}")
        if problem.hint:
            narrate(f"  hint: {safe_text(problem.hint)}")
    if problems.count > show:
        narrate(f"… and {plural(problems.count - show, 'more problem')}")
    for kind, count in problems.skipped.items():
        narrate(f"skipped: {count:,} {safe_text(kind)}")
