"""What a store must hold to be one: its version, and every table, view and column of the DDL.

One thing a newcomer would get wrong: other programs may open the file and change it. So this is
looked at whenever a store is opened, in one statement of about two milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import duckdb

from trajscope.errors import Location, SchemaVersionError, StoreError
from trajscope.store.sqltext import ddl_order, sql_text
from trajscope.store.statements import rows

SCHEMA_VERSION = 3
"""Raised by every change of `sql/ddl`; a store of another version is refused."""

_COLUMN = re.compile(r"^ {4}([a-z]\w*) [A-Z]", re.MULTILINE)
_AGAIN = "ingest the captures again into a new file; a store holds nothing that is not in them"
_MOST_NAMED = 3


def is_filled(connection: duckdb.DuckDBPyConnection, path: Path | None) -> bool:
    """Return whether a file is a store of this version; False if there is nothing in it at all.

    Raises:
        StoreError: it holds something else, or not all that a store holds.
        SchemaVersionError: another version of trajscope wrote it.
    """
    found = {name: set(columns) for name, columns in rows(connection, "list_columns")}
    if not found:
        return False
    ours = expected()
    if "schema_info" in found and ours["schema_info"] <= found["schema_info"]:
        _check_version(connection, path)
    elif len(found.keys() & ours.keys()) <= len(ours) / 2:
        raise StoreError(
            f"is a DuckDB file of something else (tables {_few(found)}); expected a store",
            at=_at(path),
            hint="give --db another file name",
        )
    _check_whole(found, path)
    return True


@cache
def expected() -> Mapping[str, frozenset[str]]:
    """Return the columns of every table of the DDL; a view, which follows from it, has none here.

    >>> sorted(expected()["schema_info"])
    ['created_at', 'created_by', 'version']
    """
    return {
        name.rpartition("/")[2]: frozenset(
            _COLUMN.findall(sql_text(name)) if name.startswith("ddl/tables/") else ()
        )
        for name in ddl_order("store")
        if not name.startswith("ddl/macros/")
    }


def _check_version(connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
    kept = rows(connection, "schema_version")
    if not kept:
        raise StoreError(
            f"holds no schema version; expected version {SCHEMA_VERSION}", at=_at(path), hint=_AGAIN
        )
    found, writer = kept[0]
    if found == SCHEMA_VERSION:
        return
    remedy = (
        f"upgrade trajscope (this is {program_version()}, it was written by {writer})"
        if isinstance(found, int) and found > SCHEMA_VERSION
        else _AGAIN
    )
    raise SchemaVersionError(
        f"the store has schema version {found}; this trajscope reads version {SCHEMA_VERSION}",
        at=_at(path),
        hint=remedy,
    )


def _check_whole(found: Mapping[str, set[str]], path: Path | None) -> None:
    ours = expected()
    lost = {
        "table": [name for name, columns in ours.items() if columns and name not in found],
        "view": [name for name, columns in ours.items() if not columns and name not in found],
        "column": [
            f"{name}.{column}"
            for name, columns in ours.items()
            for column in sorted(columns - found.get(name, columns))
        ],
    }
    told = [
        f"{kind if len(names) == 1 else kind + 's'} {_few(names)}"
        for kind, names in lost.items()
        if names
    ]
    if told:
        them = "it" if sum(map(len, lost.values())) == 1 else "them"
        raise StoreError(
            f"lacks {' and '.join(told)}; a store of version {SCHEMA_VERSION} has {them}",
            at=_at(path),
            hint=f"another program changed it; {_AGAIN}",
        )


def program_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("trajscope")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "unknown"


def _few(names: Iterable[str]) -> str:
    ordered = sorted(names)
    shown = ", ".join(ordered[:_MOST_NAMED])
    return f"{shown}, …" if len(ordered) > _MOST_NAMED else shown


def _at(path: Path | None) -> Location:
    return Location(None if path is None else str(path))
