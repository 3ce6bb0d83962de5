"""`trajscope query`: SQL over stored spans and steps."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajscope.cli._io import db_option_of, print_json, print_table, snapshot_option
from trajscope.cli.app import COMMANDS
from trajscope.errors import UsageError, unreadable

if TYPE_CHECKING:
    from trajscope.store import QueryResult


@click.command("query", short_help=COMMANDS["query"])
@click.argument("sql", required=False)
@click.option("--file", "file", type=click.Path(), help="Read the SQL from this file.")
@db_option_of(required=True, help="The DuckDB store to ask.")
@snapshot_option
@click.option("--json", "as_json", is_flag=True, help="Print the rows as one JSON document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
def COMMAND(  # noqa: N802
    sql: str | None, file: str | None, db: str, as_json: bool, as_csv: bool
) -> None:
    """Ask one SQL question about stored spans and steps.

    The store is opened read-only and nothing outside it can be reached. `trajscope schema` shows
    the tables and views.

    \b
    Examples:
      trajscope query --db spans.duckdb "select * from failed_tool_calls"
      trajscope query --db spans.duckdb "select tool, count(*) from tool_calls group by 1" --csv
    """
    from trajscope.report.text import safe_text
    from trajscope.store import Store

    if (sql is None) == (file is None):
        raise UsageError("give the SQL as an argument or with --file, one of the two")
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    if file is not None:
        sql = _read(file)
    with Store.open(db, read_only=True) as store:
        result = store.query(sql or "", name=file)
        if as_json:
            print_json(
                [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows]
            )
        elif as_csv:
            _write_csv(result)
        else:
            rows = [[_cell(c) for c in row] for row in result.rows]
            print_table([safe_text(c) for c in result.columns], rows)


def _write_csv(result: QueryResult) -> None:
    """Write exact values to a file or pipe; a terminal, which would obey them, gets safe text."""
    from trajscope.report.text import safe_text

    shown = (lambda c: safe_text(str(c))) if _is_seen() else (lambda c: c)
    writer = csv.writer(sys.stdout)
    writer.writerow(map(shown, result.columns))
    writer.writerows(["" if c is None else shown(c) for c in row] for row in result.rows)


def _is_seen() -> bool:
    return sys.stdout.isatty()


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, "a file with one SQL statement, in UTF-8") from error


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: what it has no word for (a time, NaN) is text."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def _cell(value: Any) -> str:
    from trajscope.report.text import safe_text

    return "" if value is None else safe_text(str(value), 200)
