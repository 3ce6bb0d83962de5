"""The tables of one run: of that run alone, in memory alone; statements beside each other."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.spans import span
from tests.support.stores import ingest
from trajscope.errors import StoreError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.store import Store
from trajscope.store import temporary as under_test
from trajscope.store.temporary import TemporaryTables

ENDLESS = "SELECT count(*) FROM range(100_000_000_000) a, range(1_000_000) b WHERE a.range = -1"
NAMES = ("s.duckdb", "it's.duckdb", 'a "b", c.d.duckdb', "main.duckdb", "temp", "ü;--.db")


def databases(store: Store) -> list[object]:
    return [row[0] for row in store.query("SELECT database_name FROM duckdb_databases()").rows]


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give statements of a test the names it calls them by."""

    def given(**named: str) -> None:
        monkeypatch.setattr(under_test, "sql_text", named.__getitem__)

    return given


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("read_only", [False, True])
def test_two_runs_read_one_store_of_any_name_and_do_not_meet(
    tmp_path: Path, texts: Callable[..., None], name: str, *, read_only: bool
) -> None:
    texts(make="CREATE TABLE t AS SELECT span_id FROM spans", count="SELECT count(*) FROM t")
    with Store.open(tmp_path / name) as store:
        ingest(store, [(span(n), NOT_UNDERSTOOD) for n in range(1, 4)])
    with Store.open(tmp_path / name, read_only=read_only) as store:
        before = databases(store)
        with TemporaryTables(store._connection) as one, TemporaryTables(store._connection) as other:
            one.run("make")
            other.run("make")
            assert one.rows("count") == other.rows("count") == [(3,)]
        assert databases(store) == before
        assert "t" not in {relation.name for relation in store.schema()}


def test_a_store_may_be_called_as_any_run_is(tmp_path: Path, texts: Callable[..., None]) -> None:
    texts(read="SELECT 1")
    with Store.open() as store, TemporaryTables(store._connection):
        [run] = [str(name) for name in databases(store) if "run" in str(name)]
    stem = run.rstrip("0123456789")
    number = int(run.removeprefix(stem) or 0)
    path = tmp_path / f"{stem}{number + 1}.duckdb"
    with Store.open(path) as store, TemporaryTables(store._connection) as tables:
        assert tables.rows("read") == [(1,)]


def test_statements_beside_each_other_all_count_and_one_that_fails_is_told(
    texts: Callable[..., None],
) -> None:
    fill = "INSERT INTO t SELECT range + $first FROM range(1000)"
    texts(make="CREATE TABLE t (n BIGINT)", one=fill, two=fill, bad="SELECT n + 'x' FROM t",
          read="SELECT count(DISTINCT n), count(*) FROM t")  # fmt: skip
    with Store.open() as store, TemporaryTables(store._connection) as tables:
        tables.run("make")
        tables.run_beside({"one": {"first": 0}, "two": {"first": 1000}})
        assert tables.rows("read") == [(2000, 2000)]
        with pytest.raises(StoreError, match="Conversion"):
            tables.run_beside({"bad": {}, "one": {"first": 2000}})
        assert tables.rows("read") == [(3000, 3000)]


def test_ctrl_c_ends_all_statements_beside_each_other(texts: Callable[..., None]) -> None:
    texts(one=ENDLESS, two=ENDLESS + " ", three=ENDLESS + "  ", read="SELECT 1")
    with Store.open() as store, TemporaryTables(store._connection) as tables:
        timer = threading.Timer(0.3, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            tables.run_beside({"one": {}, "two": {}, "three": {}})
        timer.join()
        assert tables.rows("read") == [(1,)]
