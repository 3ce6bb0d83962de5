"""How commands print: JSON to stdout, tables to a terminal or a pipe, problems to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trajscope.errors import Problems

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Refuse a capture at its first problem instead of keeping the rest.",
)
db_option = click.option(
    "--db",
    type=click.Path(dir_okay=False),
    envvar="TRAJSCOPE_DB",
    show_envvar=True,
    help="The DuckDB store to use.",
)
max_expanded_option = click.option(
    "--max-expanded",
    metavar="SIZE",
    default="4GiB",
    show_default=True,
    help="Refuse a compressed capture that expands beyond this (500MB, 8GiB).",
)
format_option = click.option(
    "--input-format",
    "format_name",
    metavar="NAME",
    help="Read every capture as this format instead of recognising it (otlp-json, …).",
)


def input_options(command: F) -> F:
    """Add the options of commands that read captures."""
    for option in (format_option, max_expanded_option, strict_option):
        command = option(command)
    return command


def print_json(document: Any) -> None:
    """Print one JSON document, exact: control characters as escapes, never NaN."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def console() -> Console:
    """Return a console on stdout: colour only on a terminal, plain and wide on a pipe."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    width = None if terminal else int(os.environ.get("COLUMNS", "160"))
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=not terminal)


def narrate(text: str) -> None:
    """Print one line of narration to stderr."""
    click.echo(text, err=True)


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
