"""The SQL of the set-based scorers: every statement prepared, explained and used."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tests.support.statements import prepare
from trajscope.store import sql_text
from trajscope.store.scored import SCORED
from trajscope.store.scoring import SETUP
from trajscope.store.sqltext import ddl_order

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
STATEMENTS = sorted(
    f"{folder}/{path.stem}"
    for folder in ("scorers", "scoring")
    for path in (SQL / folder).glob("*.sql")
)
INCOMING = {
    "scoring/judge_some": pa.table({"e": pa.array([], pa.int32()), "t": pa.array([], pa.int32())}),
    "scoring/add_scored": SCORED.empty_table(),
}


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name in ddl_order("store"):
        connection.execute(sql_text(name))
    for name in SETUP:
        connection.execute(sql_text(f"scoring/setup/{name}"))
    connection.execute(sql_text("scoring/number_steps"))
    return connection


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_is_prepared_against_the_full_schema(
    database: duckdb.DuckDBPyConnection, name: str
) -> None:
    prepare(database, sql_text(name), INCOMING.get(name))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_says_what_it_is_for_and_names_its_parameters(name: str) -> None:
    text = sql_text(name)
    head = text[: re.search(r"^(?!--)", text, re.MULTILINE).start()]  # type: ignore[union-attr]
    assert head.startswith("-- ")
    assert all(param in head for param in re.findall(r"\$(\w+)", text[len(head) :]))


def test_setup_makes_one_object_a_file_and_all_of_them() -> None:
    files = sorted(path.stem for path in (SQL / "scoring" / "setup").glob("*.sql"))
    assert files == sorted(SETUP)
    for name in SETUP:
        made = re.findall(r"CREATE (?:TABLE|MACRO) (\w+)", sql_text(f"scoring/setup/{name}"))
        assert made == [name]


def test_every_statement_is_used() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    unused = [
        name
        for name in STATEMENTS
        if name not in code and f'"{name.partition("/")[2]}"' not in code
    ]
    assert unused == []
