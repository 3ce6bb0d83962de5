"""The SQL of users: it reads, sees the store alone, and its errors say what to do."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from tests.support.spans import span
from tests.support.stores import empty_store, ingest, tables
from trajscope.errors import ExitCode, QueryError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.store import QueryResult, Store
from trajscope.store.hints import _of_column


@pytest.fixture(params=["memory", "file", "read-only file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = None if request.param == "memory" else tmp_path / "s.duckdb"
    with Store.open(path) as opened:
        ingest(opened, [(span(n, start_ns=n), NOT_UNDERSTOOD) for n in range(5)])
        if request.param != "read-only file":
            yield opened
            return
    with Store.open(path, read_only=True) as opened:
        yield opened


def refusal(store: Store, sql: str, name: str | None = None) -> QueryError:
    with pytest.raises(QueryError) as caught:
        list(store.query(sql, name=name).rows)
    assert caught.value.exit_code == ExitCode.STORE
    return caught.value


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) FROM spans", [(5,)]),
        ("FROM spans SELECT span_id ORDER BY span_id LIMIT 1", [("0" * 16,)]),
        ("WITH x AS (SELECT 1 AS i) FROM x;", [(1,)]),
        ("VALUES (1), (2) -- two", [(1,), (2,)]),
        ("SELECT 1 WHERE false", []),
    ],
)
def test_reading_statements_are_answered(
    store: Store, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert list(store.query(sql).rows) == rows


def test_other_ways_to_look_are_answered_too(store: Store) -> None:
    for sql in ("DESCRIBE spans", "SHOW TABLES", "SUMMARIZE steps", "EXPLAIN SELECT 1"):
        assert list(store.query(sql).rows)


def test_columns_and_types_are_told(store: Store) -> None:
    result = store.query("SELECT span_id AS id, start_time, 1.5::DOUBLE AS x FROM spans")
    assert isinstance(result, QueryResult)
    assert result.columns == ("id", "start_time", "x")
    assert result.types == ("VARCHAR", "TIMESTAMP_NS", "DOUBLE")


def test_parameters_are_bound(store: Store) -> None:
    hostile = "x' OR '1'='1"
    assert list(store.query("SELECT ?::VARCHAR", params=[hostile]).rows) == [(hostile,)]
    result = store.query("SELECT count(*) FROM spans WHERE span_id = $id", params={"id": hostile})
    assert list(result.rows) == [(0,)]


def test_two_results_can_be_read_side_by_side(store: Store) -> None:
    one, other = (store.query("SELECT span_id FROM spans ORDER BY 1").rows for _ in range(2))
    assert [pair[0] == pair[1] for pair in zip(one, other, strict=True)] == [True] * 5


def test_a_long_result_is_streamed(store: Store) -> None:
    rows = store.query("SELECT i FROM range(100_000) t(i)").rows
    assert next(rows) == (0,)
    assert sum(1 for _ in rows) == 99_999


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM spans",
        "INSERT INTO spans SELECT * FROM spans RETURNING *",
        "UPDATE spans SET name = 'x'",
        "CREATE TABLE x AS SELECT 1",
        "CREATE OR REPLACE VIEW traces AS SELECT 1",
        "DROP TABLE spans",
        "ALTER TABLE spans ADD COLUMN x INTEGER",
        "COPY spans TO 'out.csv'",
        "COPY spans FROM 'in.csv'",
        "EXPORT DATABASE 'out'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA enable_profiling",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "CALL force_checkpoint()",
        "CHECKPOINT",
        "VACUUM",
        "BEGIN",
        "COMMIT",
        "USE memory",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "TRUNCATE spans",
        "MERGE INTO spans USING spans AS s ON true WHEN MATCHED THEN DELETE",
    ],
)
def test_what_is_no_reading_statement_is_refused(store: Store, sql: str) -> None:
    before = tables(store)
    assert "expected a SELECT" in str(refusal(store, sql))
    assert tables(store) == before


@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN ANALYZE DELETE FROM spans",
        "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1",
        "SELECT * FROM force_checkpoint()",
        "FROM enable_logging()",
        "SELECT * FROM query('DELETE FROM spans')",
        "SELECT nextval('x')",
    ],
)
def test_a_reading_statement_that_would_write_is_refused(store: Store, sql: str) -> None:
    before = tables(store)
    refusal(store, sql)
    assert tables(store) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "FROM read_csv('/etc/passwd')",
        "FROM '/etc/passwd'",
        "FROM glob('/*')",
        "SELECT * FROM 'https://example.org/x.parquet'",
        "FROM sniff_csv('/etc/passwd')",
        "FROM parquet_metadata('/tmp/x.parquet')",
        "FROM read_json('/proc/self/environ')",
        "FROM duckdb_secrets()",
    ],
)
def test_no_file_and_no_address_is_within_reach(store: Store, sql: str) -> None:
    error = refusal(store, sql)
    assert "Permission Error" in str(error) or "does not exist" in str(error)


def test_variables_of_the_program_are_no_tables(store: Store) -> None:
    secret = [1, 2, 3]
    assert "does not exist" in str(refusal(store, "FROM secret"))
    assert "does not exist" in str(refusal(store, "FROM connection"))
    assert secret


def test_work_tables_are_not_seen(store: Store) -> None:
    assert "does not exist" in str(refusal(store, "FROM nodes"))
    assert "nodes" not in {relation.name for relation in store.schema()}


@pytest.mark.parametrize(("sql", "count"), [("", "no statement"), ("-- x", "no statement")])
def test_nothing_is_no_query(store: Store, sql: str, count: str) -> None:
    assert count in str(refusal(store, sql))


def test_several_statements_are_refused_together(store: Store) -> None:
    assert "2 statements; expected one" in str(refusal(store, "SELECT 1; DROP TABLE spans"))
    assert store.count() == (5, 1)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT * FROM tool_call", "did you mean tool_calls"),
        ("SELECT trace_idd FROM spans", "trace_id"),
        ("SELECT * FROM zzzzzz", "trajscope schema"),
        ("SELECT * FROM read_csv('x.csv')", "trajscope ingest"),
    ],
)
def test_an_error_has_a_hint(store: Store, sql: str, hint: str) -> None:
    assert hint in str(refusal(store, sql))


def test_an_error_names_file_and_line(store: Store) -> None:
    error = refusal(store, "SELECT 1,\n  2,\n  nope(3)", "failures.sql")
    assert str(error).startswith("failures.sql:3: ")
    assert "Traceback" not in str(error)


def test_a_syntax_error_is_a_query_error(store: Store) -> None:
    assert "syntax error" in str(refusal(store, "SELEC 1")).lower()


def test_an_error_in_a_later_row_is_a_query_error(store: Store) -> None:
    assert refusal(store, "SELECT CAST(if(i = 90_000, 'x', '1') AS INT) FROM range(100_000) t(i)")


def test_the_wrong_parameters_are_a_query_error(store: Store) -> None:
    with pytest.raises(QueryError):
        store.query("SELECT ?", params=[])


def test_the_store_works_after_a_failed_query(store: Store) -> None:
    refusal(store, "FROM nowhere")
    assert store.count() == (5, 1)
    assert list(store.query("SELECT 1").rows) == [(1,)]


def test_the_schema_teaches(store: Store) -> None:
    relations = {relation.name: relation for relation in store.schema()}
    assert relations["spans"].kind == "table"
    assert relations["traces"].kind == "view"
    assert all(relation.comment for relation in relations.values())
    args = next(c for c in relations["steps"].columns if c.name == "args")
    assert (args.type, args.comment) == ("JSON", "Arguments of a tool call; NULL is not recorded.")


@pytest.mark.parametrize(
    "endless",
    [
        "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range = -1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT a.range FROM range(1000000000000) a WHERE a.range < 0",
    ],
)
def test_ctrl_c_ends_an_endless_query_and_the_store_goes_on(endless: str) -> None:
    with empty_store() as store:
        timer = threading.Timer(0.3, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            list(store.query(endless).rows)
        timer.join()
        assert list(store.query("SELECT 1").rows) == [(1,)]


def test_ctrl_c_leaves_no_cursor_with_its_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def interrupted(interrupt: Callable[[], None], _work: object) -> None:
        opened.append(interrupt)
        raise KeyboardInterrupt

    monkeypatch.setattr("trajscope.store.query.heard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.query("SELECT 1")
    monkeypatch.undo()
    [interrupt] = opened
    with pytest.raises(duckdb.ConnectionException, match="closed"):
        interrupt()


@pytest.mark.parametrize(
    "value", ["INTERVAL 10000000 YEAR", "[INTERVAL 10000000 YEAR]", "{'a': INTERVAL 9000000 YEAR}"]
)
def test_a_value_that_python_has_no_room_for_is_told(store: Store, value: str) -> None:
    error = refusal(store, f"SELECT {value} FROM range(3000)", "x.sql")
    assert str(error).startswith("x.sql: a value cannot be read (")
    assert "CAST(… AS VARCHAR)" in (error.hint or "")
    assert store.count() == (5, 1)


def hint_of(store: Store, sql: str) -> str:
    return refusal(store, sql).hint or ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM tool_calls",
        "SELECT NAME FROM main.tool_calls",
        "SELECT t.name FROM tool_calls t",
        "WITH a AS (SELECT tool FROM tool_calls) SELECT name FROM a",
    ],
)
def test_a_column_of_another_table_is_told_with_its_place(store: Store, sql: str) -> None:
    hint = hint_of(store, sql)
    assert "tool_calls has: trace_id, span_id, step_id, ord, tool, " in hint
    assert "; name is in steps, " in hint
    assert "did you mean" not in hint


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT agnt FROM tool_calls", "did you mean agent?"),
        ("SELECT s.atributes FROM spans s", "did you mean attributes"),
        ("SELECT * EXCLUDE (stepp_id) FROM steps", "did you mean step_id or "),
        ("SELECT zzzzz FROM schema_info", "schema_info has: version, "),
        ("SELECT 1 FROM steps JOIN spans USING (zzzzz)", "spans has: trace_id, "),
        ("SELECT * FROM (SELECT 1 AS i) WHERE zzzzz = 1", "see the tables with: trajscope schema"),
    ],
)
def test_a_column_is_looked_for_where_the_statement_looks(
    store: Store, sql: str, hint: str
) -> None:
    assert hint in hint_of(store, sql)


def test_a_hint_never_offers_the_name_that_is_missing() -> None:
    with empty_store() as store:
        relations = store.schema()
        assert "did you mean" not in hint_of(store, "SELECT name FROM tool_calls")
    columns = sorted({column.name for relation in relations for column in relation.columns})
    for relation in relations:
        here = {column.name.lower() for column in relation.columns}
        for name in columns:
            if name.lower() not in here:
                hint = _of_column(name.lower(), f"SELECT {name} FROM {relation.name}", relations)
                assert f"{name.lower()} is in " in hint
                assert "did you mean" not in hint
