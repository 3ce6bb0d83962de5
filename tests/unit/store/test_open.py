"""Opening a store: what is made, what is refused, and what the message says."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.spans import span
from tests.support.stores import held_elsewhere, ingest
from trajscope.errors import ExitCode, QueryError, SchemaVersionError, StoreError, UsageError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.store import MEMORY_LIMIT_VARIABLE, SCHEMA_VERSION, Store, vacuum
from trajscope.store.faults import as_store_errors


def filled(path: Path) -> Path:
    with Store.open(path) as store:
        ingest(store, [(span(1), NOT_UNDERSTOOD)])
    return path


def refusal(path: Path, *, read_only: bool = False) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store.open(path, read_only=read_only)
    assert caught.value.exit_code == ExitCode.STORE
    assert str(path) in str(caught.value)
    return caught.value


def test_a_store_in_memory_is_empty_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open() as store:
        assert store.count() == (0, 0)
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.duckdb")
    for read_only in (False, True):
        with Store.open(path, read_only=read_only) as store:
            assert store.count() == (1, 1)
            assert [s.span_id for s, _ in store.spans_of(span(1).trace_id)] == [span(1).span_id]


def test_a_store_opened_for_reading_cannot_be_written(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.duckdb")
    with Store.open(path, read_only=True) as store, pytest.raises(StoreError) as caught:
        ingest(store, [(span(2), NOT_UNDERSTOOD)], "other")
    assert "reading only" in str(caught.value)


def test_a_name_that_looks_like_an_address_is_a_file_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("md:cloud", ":memory:", "s p'a\"ce;.db"):
        Store.open(name).close()
        assert (tmp_path / name).is_file()


def test_reading_a_store_that_is_not_there(tmp_path: Path) -> None:
    assert "no such store" in str(refusal(tmp_path / "no.duckdb", read_only=True))
    assert not (tmp_path / "no.duckdb").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "no folder" in str(refusal(tmp_path / "no" / "s.duckdb"))


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    assert "is a folder" in str(refusal(tmp_path))


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="this system has no devices as files")
def test_a_device_is_no_store() -> None:
    assert "no regular file" in str(refusal(Path("/dev/null")))


@pytest.mark.parametrize("first", ["Python", "DuckDB"])
def test_ctrl_c_while_a_statement_runs_is_no_fault(first: str) -> None:
    said = KeyboardInterrupt() if first == "Python" else RuntimeError("Query interrupted")
    with pytest.raises(KeyboardInterrupt), as_store_errors(None):
        raise said
    with pytest.raises(RuntimeError, match="something else"), as_store_errors(None):
        raise RuntimeError("something else")


@pytest.mark.parametrize("content", [b"", b"hi", b'{"resourceSpans": []}\n' * 1000])
def test_another_file_is_no_store_and_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    assert "no DuckDB file" in str(refusal(path))
    assert path.read_bytes() == content


def test_an_sqlite_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "phoenix.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(4096))
    assert "no DuckDB file" in str(refusal(path))


def test_a_duckdb_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sales.duckdb"
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE orders AS SELECT 1 AS id")
    assert "tables orders" in str(refusal(path))
    with duckdb.connect(str(path)) as other:
        assert other.execute("SHOW TABLES").fetchall() == [("orders",)]


@pytest.mark.parametrize(
    ("found", "remedy"),
    [(SCHEMA_VERSION + 1, "upgrade trajscope"), (0, "ingest the captures again")],
)
def test_a_store_of_another_version_names_both_and_the_remedy(
    tmp_path: Path, found: int, remedy: str
) -> None:
    path = filled(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as other:
        other.execute("UPDATE schema_info SET version = ?", [found])
    with pytest.raises(SchemaVersionError) as caught:
        Store.open(path)
    message = str(caught.value)
    assert f"version {found}" in message
    assert f"version {SCHEMA_VERSION}" in message
    assert remedy in message


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_that_is_held_names_the_holder(tmp_path: Path, read_only: bool) -> None:
    path = filled(tmp_path / "s.duckdb")
    with held_elsewhere(path) as holder:
        error = refusal(path, read_only=read_only)
    assert f"process {holder.pid}" in str(error)
    assert error.hint is not None
    with Store.open(path) as store:
        assert store.count() == (1, 1)


def test_readers_do_not_keep_readers_out(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.duckdb")
    with held_elsewhere(path, read_only=True), Store.open(path, read_only=True) as store:
        assert store.count() == (1, 1)


def test_one_process_may_open_a_store_twice(tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    Store.open(db).close()
    with Store.open(db, read_only=True) as one, Store.open(db, read_only=True) as other:
        assert one.count() == other.count() == (0, 0)
        for store in (one, other):
            with pytest.raises(QueryError):
                store.query("SET lock_configuration = false")


@pytest.mark.parametrize(
    "limit", ["0MB", "1KB", "4.9MB", "1001TB", "99999999999TB", "9" * 400 + "TB"]
)
def test_a_memory_limit_is_one_that_can_be_kept(limit: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="memory limit: out of range") as caught:
        Store.open(tmp_path / "s.duckdb", memory_limit=limit)
    assert "expected 5MB to 1000TB" in str(caught.value)
    assert "--memory-limit" in (caught.value.hint or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["5MB", "1000TB", "0.9 TiB", "6000kb"])
def test_the_least_and_the_most_memory_open_a_store(limit: str, tmp_path: Path) -> None:
    with Store.open(filled(tmp_path / "s.duckdb"), memory_limit=limit) as store:
        assert store.count() == (1, 1)


@pytest.mark.parametrize("limit", ["-4", "-1GB", "xyz", "7", "1e3MB", "50%", "1GB; x", "inf GB"])
def test_a_memory_limit_is_a_size(limit: str, tmp_path: Path) -> None:
    """DuckDB reads some of these as no limit at all."""
    with pytest.raises(UsageError, match="memory limit: not a size"):
        Store.open(tmp_path / "s.duckdb", memory_limit=limit)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_sets_the_memory_limit_of_every_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limits = []
    for given in ("2GiB", "", None):
        if given is None:
            monkeypatch.delenv(MEMORY_LIMIT_VARIABLE)
        else:
            monkeypatch.setenv(MEMORY_LIMIT_VARIABLE, given)
        with Store.open(tmp_path / "s.duckdb") as store:
            asked = "SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'"
            limits.append(next(iter(store.query(asked).rows))[0])
    assert limits == ["2.0 GiB", "286.1 MiB", "286.1 MiB"]


def interrupted(*_args: object, **_options: object) -> None:
    """Do what DuckDB does when it hears Ctrl-C before Python does."""
    raise RuntimeError("Query interrupted")


def test_ctrl_c_while_a_store_is_opened_is_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path / "s.duckdb")
    monkeypatch.setattr("trajscope.store.connection._ready", interrupted)
    for read_only in (True, False):
        with pytest.raises(KeyboardInterrupt):
            Store.open(path, read_only=read_only)
    with pytest.raises(KeyboardInterrupt):
        Store.open(tmp_path / "new.duckdb")
    with pytest.raises(KeyboardInterrupt):
        vacuum(path, memory_limit="100MB")
    monkeypatch.undo()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.duckdb", "s.duckdb"]
    with Store.open(path) as old, Store.open(tmp_path / "new.duckdb") as new:
        assert (old.count(), new.count()) == ((1, 1), (0, 0))
