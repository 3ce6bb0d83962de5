"""A store that another program changed: what it lacks is said when it is opened, with a way out."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.stores import empty_store
from trajscope.errors import StoreError
from trajscope.store import SCHEMA_VERSION, Store, vacuum
from trajscope.store.shape import expected

TABLES = sorted(name for name, columns in expected().items() if columns)
VIEWS = sorted(name for name, columns in expected().items() if not columns)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s.duckdb"
    Store.open(path).close()
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "s.duckdb"
    copy.write_bytes(whole.read_bytes())
    return copy


def refusals(path: Path, *changes: str) -> set[str]:
    """Return what is said of a changed store, by whoever reads, writes or rewrites it."""
    with duckdb.connect(str(path)) as other:
        for change in changes:
            other.execute(change)
    said = set()
    for use in (
        lambda: Store.open(path),
        lambda: Store.open(path, read_only=True),
        lambda: vacuum(path, memory_limit="100MB"),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        said.add(str(caught.value))
        assert "ingest the captures again into a new file" in (caught.value.hint or "")
    return said


def test_the_shape_is_that_of_the_store() -> None:
    with empty_store() as store:
        found = {r.name: {c.name for c in r.columns} for r in store.schema() if r.kind == "table"}
        views = [r.name for r in store.schema() if r.kind == "view"]
    assert found == {name: set(expected()[name]) for name in TABLES}
    assert sorted(views) == VIEWS


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_gone(path: Path, table: str) -> None:
    [said] = refusals(path, f"DROP TABLE {table}")
    place, _, rest = said.partition(": ")
    assert place == str(path)
    has = f"a store of version {SCHEMA_VERSION} has it\nhint: "
    assert rest.startswith(f"lacks table {table}; {has}")


@pytest.mark.parametrize(
    "column", [f"{table}.{min(expected()[table])}" for table in TABLES if table != "schema_info"]
)
def test_a_column_that_is_gone(path: Path, column: str) -> None:
    table, _, name = column.partition(".")
    [said] = refusals(path, f"ALTER TABLE {table} DROP COLUMN {name}")
    assert f"lacks column {column}; " in said


def test_all_that_is_gone_is_told_together(path: Path) -> None:
    [said] = refusals(
        path,
        "DROP VIEW traces",
        "ALTER TABLE spans DROP COLUMN session_id",
        *(f"DROP TABLE {table}" for table in ("steps", "scores", "findings", "repairs")),
    )
    assert "lacks tables findings, repairs, scores, … and view traces and column spans." in said
    assert "has them" in said


def test_a_table_of_the_same_name_in_another_schema_stands_for_none(path: Path) -> None:
    changes = ("CREATE SCHEMA elsewhere", "CREATE TABLE elsewhere.spans AS FROM main.spans")
    [said] = refusals(path, *changes, "DROP TABLE main.spans")
    assert "lacks table spans; " in said


def test_a_store_without_a_version(path: Path) -> None:
    [said] = refusals(path, "DELETE FROM schema_info")
    assert f"holds no schema version; expected version {SCHEMA_VERSION}" in said


def test_what_others_add_does_no_harm(path: Path) -> None:
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE mine (x INTEGER)")
        other.execute("ALTER TABLE scores ADD COLUMN reviewed BOOLEAN")
        other.execute("CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.spans (x INTEGER)")
    for read_only in (False, True):
        Store.open(path, read_only=read_only).close()


@pytest.mark.parametrize("table", ["schema_info", "spans"])
def test_a_file_of_another_program_with_a_name_of_ours(tmp_path: Path, table: str) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as other:
        other.execute(f"CREATE TABLE {table} (x INTEGER)")
    with pytest.raises(StoreError, match=f"something else \\(tables {table}\\)"):
        Store.open(path)
