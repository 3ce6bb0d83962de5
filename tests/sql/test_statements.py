"""The SQL files: every one is in its place, prepared against the full schema, and used."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tests.support.statements import prepare
from trajscope.model.score import Finding, Score
from trajscope.store import LOG_SCHEMA, SPAN_SCHEMA, sql_text
from trajscope.store.derive import step_table, trajectory_table
from trajscope.store.results import finding_table, score_table
from trajscope.store.sqltext import ddl_order

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
SOURCE = ROOT / "src" / "trajscope"
QUERIES = sorted(path.stem for path in (SQL / "queries").glob("*.sql"))
AUDIT = sorted(path.stem for path in (SQL / "audit").glob("*.sql"))
SPOKEN = [*(f"queries/{name}" for name in QUERIES), *(f"audit/{name}" for name in AUDIT)]
DDL = sorted(str(path.relative_to(SQL).with_suffix("")) for path in (SQL / "ddl").rglob("*.sql"))
SCORES = score_table([Score(scorer="s", value=None)])
FINDINGS = finding_table([(Finding(rule="r", message="m"), ("t", "s", None, None))])
INCOMING: dict[str, pa.Table] = {
    "insert_spans": SPAN_SCHEMA.empty_table(),
    "insert_steps": step_table([]),
    "insert_trajectories": trajectory_table([]),
    "insert_scores": SCORES,
    "replace_scores": SCORES,
    "replace_score_findings": SCORES,
    "insert_findings": FINDINGS,
    "insert_logs": LOG_SCHEMA.empty_table(),
    "replace_spans": SPAN_SCHEMA.empty_table()
    .append_column("capture_no", pa.array([], pa.int32()))
    .append_column("own_reading", pa.array([], pa.string())),
    "join_place": pa.table(
        {
            "row_no": pa.array([], pa.int64()),
            **{name: pa.array([], pa.string()) for name in ("trace_id", "span_id", "role")},
        }
    ),
    "join_reread_listed": pa.table(
        {name: pa.array([], pa.string()) for name in ("trace_id", "span_id")}
    ),
    "replace_rule_findings": FINDINGS,
}
"""The Arrow rows that a statement reads, by its name."""


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name in (*ddl_order("store"), *ddl_order("work")):
        connection.execute(sql_text(name))
    return connection


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_is_prepared_against_the_full_schema(
    database: duckdb.DuckDBPyConnection, name: str
) -> None:
    text = sql_text(f"queries/{name}")
    assert ("incoming" in re.sub(r"--.*", "", text)) == (name in INCOMING)
    prepare(database, text, INCOMING.get(name))


def test_every_object_is_in_the_order_once() -> None:
    order = [*ddl_order("store"), *ddl_order("work")]
    assert sorted(order) == DDL
    assert len(order) == len(set(order))


@pytest.mark.parametrize("name", DDL)
def test_a_ddl_file_makes_one_object_of_its_name(name: str) -> None:
    made = re.findall(r"CREATE (?:TEMP )?(TABLE|VIEW|MACRO) (\w+)", sql_text(name))
    kind, _, own = name.removeprefix("ddl/").partition("/")
    wanted = {"tables": "TABLE", "work": "TABLE", "views": "VIEW", "macros": "MACRO"}[kind]
    assert made == [(wanted, own)]


@pytest.mark.parametrize("name", SPOKEN)
def test_a_query_says_what_it_is_for(name: str) -> None:
    first = sql_text(name).splitlines()[0]
    assert first.startswith("-- ")
    assert len(first) <= 100


def test_a_query_names_its_parameters() -> None:
    for name in SPOKEN:
        head: list[str] = []
        body: list[str] = []
        for line in sql_text(name).splitlines():
            (head if line.startswith("--") and not body else body).append(line)
        used = set(re.findall(r"\$(\w+)", "\n".join(body)))
        told = "\n".join(head)
        assert all(param in told for param in used) or "one per column" in told, name


def test_no_query_lies_about_unused() -> None:
    code = "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    unused = [name for name in QUERIES if f'"{name}"' not in code and f"queries/{name}" not in code]
    unused += [name for name in AUDIT if f'"{name}"' not in code]
    assert unused == []


def test_tables_and_views_are_explained(database: duckdb.DuckDBPyConnection) -> None:
    silent = database.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT temporary AND comment IS NULL "
        "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL"
    ).fetchall()
    assert silent == []
