"""What a user's SQL may have meant: a way out for what DuckDB says of a name it does not know.

One thing a newcomer would get wrong: a column is looked for in the tables that the statement names.
One of the same name in another table is no near name; it is told with its place.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

import duckdb
import msgspec

from trajscope.store.statements import rows

_NO_TABLE = re.compile(
    r'Table with name "?(?P<name>[^"\n]+?)"? does not exist|Referenced table "(?P<other>[^"]+)"'
)
_NO_COLUMN = re.compile(
    r'[Cc]olumn "(?P<name>[^"]+)" (?:in \w+ list )?(?:was )?(?:not found|does not exist)'
    r'|does not have a column named "(?P<other>[^"]+)"'
)
_WORD = re.compile(r"\w+")
_SCHEMA = "see the tables with: trajscope schema"
_MOST_NAMED = 3


class Column(msgspec.Struct, frozen=True):
    """One column of a table or view."""

    name: str
    type: str
    comment: str


class Relation(msgspec.Struct, frozen=True):
    """One table or view of the store, with what it holds."""

    name: str
    kind: str
    comment: str
    columns: tuple[Column, ...]


def describe(connection: duckdb.DuckDBPyConnection) -> list[Relation]:
    """Return the tables, then the views, with the comments of the DDL."""
    found: dict[str, tuple[str, str, list[Column]]] = {}
    for name, kind, comment, column, type_, column_comment in rows(connection, "describe"):
        columns = found.setdefault(name, (kind, comment, []))[2]
        columns.append(Column(column, type_, column_comment))
    return [
        Relation(name, kind, comment, tuple(columns))
        for name, (kind, comment, columns) in found.items()
    ]


def hint(connection: duckdb.DuckDBPyConnection, text: str, sql: str) -> str | None:
    """Return the way out of what DuckDB said (`text`) of a statement, if there is one to tell."""
    if "file system operations are disabled" in text or "Cannot access" in text:
        return "queries see the store only; ingest files first: trajscope ingest CAPTURE --db FILE"
    if (table := _name(_NO_TABLE, text)) is not None:
        return _of_table(table, _relations(connection))
    if (column := _name(_NO_COLUMN, text)) is not None:
        return _of_column(column, sql, _relations(connection))
    return None


def _name(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else (found["name"] or found["other"]).rpartition(".")[2].lower()


def _relations(connection: duckdb.DuckDBPyConnection) -> list[Relation]:
    try:
        return describe(connection)
    except duckdb.Error:
        return []


def _of_table(name: str, relations: Sequence[Relation]) -> str:
    near = _near(name, [relation.name for relation in relations])
    return f"did you mean {' or '.join(near)}?" if near else _SCHEMA


def _of_column(name: str, sql: str, relations: Sequence[Relation]) -> str:
    """Return what the tables of the statement have instead, and which table has the column."""
    words = set(_WORD.findall(sql.lower()))
    named = [relation for relation in relations if relation.name.lower() in words]
    kin = {column for relation in named for column in _columns(relation)}
    others = [r for r in relations if r not in named and name in _columns(r, str.lower)]
    elsewhere = [r.name for r in sorted(others, key=lambda r: -len(kin & set(_columns(r))))]
    near = _near(name, kin)
    if near and not elsewhere:
        return f"did you mean {' or '.join(near)}?"
    told = [f"{relation.name} has: {', '.join(_columns(relation))}" for relation in named]
    if elsewhere:
        more = ", …" if len(elsewhere) > _MOST_NAMED else ""
        told.append(f"{name} is in {', '.join(elsewhere[:_MOST_NAMED])}{more}")
    return "; ".join(told) or _SCHEMA


def _columns(relation: Relation, as_told: Callable[[str], str] = str) -> list[str]:
    return [as_told(column.name) for column in relation.columns]


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Return near names; never the missing one itself, which another table may have."""
    return difflib.get_close_matches(name, sorted({n for n in names if n.lower() != name}))
