"""What DuckDB says is told for what it is: damage, no such place, a right that lacks."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.support.spans import span
from tests.support.stores import held_elsewhere, ingest
from trajscope.errors import QueryError, StoreError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.store import Store
from trajscope.store.faults import StoreHeld, is_damaged, store_error

BLOCK = 256 * 1024
"""Bytes that DuckDB has one checksum for."""
MISLEADING = ("wallet", "corrupt", "checksum does not match", "read-only", "No space left", 'a"WAL')


def filled(path: Path, spans: int = 1) -> Path:
    attributes = [{"x": os.urandom(1500).hex()} for _ in range(spans)]
    with Store.open(path) as store:
        ingest(store, [(span(n, attributes=a), NOT_UNDERSTOOD) for n, a in enumerate(attributes)])
    return path


def flipped(path: Path, start: int, end: int) -> Path:
    content = bytearray(path.read_bytes())
    content[start:end] = bytes(byte ^ 0x5A for byte in content[start:end])
    path.write_bytes(content)
    return path


def opened(path: Path, *, read_only: bool = False) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store.open(path, read_only=read_only)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value


def is_told(error: StoreError) -> bool:
    return "the store is damaged" in str(error) and "restore a copy" in (error.hint or "")


@pytest.mark.parametrize("read_only", [False, True])
def test_damage_that_is_found_when_a_store_is_opened(tmp_path: Path, read_only: bool) -> None:
    headers = flipped(filled(tmp_path / "headers.duckdb"), 4096, 12288)
    cut = filled(tmp_path / "cut.duckdb")
    cut.write_bytes(cut.read_bytes()[:9000])
    for path in (headers, cut):
        error = opened(path, read_only=read_only)
        assert is_told(error)
        assert "ingest the captures again" in (error.hint or "")


def test_damage_that_is_found_by_a_statement(tmp_path: Path) -> None:
    """The blocks of a table are read when it is asked; then the checksum of one is wrong."""
    path = filled(tmp_path / "s.duckdb", 999)
    size = path.stat().st_size
    assert size > 2_000_000
    for start in range(size // 4, 3 * size // 4, BLOCK):
        flipped(path, start, start + 64)
    with Store.open(path, read_only=True) as store:
        for ask in (
            lambda: list(store.query("FROM spans").rows),
            lambda: list(store.iter_traces()),
        ):
            with pytest.raises(StoreError) as caught:
                ask()
            assert not isinstance(caught.value, QueryError)
            assert str(caught.value).startswith(f"{path}: the store is damaged (")
            assert is_told(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'corrupt'::INTEGER",
        "SELECT error('Corrupt database file: INTERNAL Error')",
        "SELECT 'not a valid DuckDB database file'::DATE",
        'FROM "checksum does not match"',
    ],
)
def test_a_text_that_says_so_is_no_damage(tmp_path: Path, sql: str) -> None:
    with Store.open(filled(tmp_path / "s.duckdb"), read_only=True) as store:
        with pytest.raises(QueryError):
            list(store.query(sql).rows)
        assert list(store.query("SELECT 1").rows) == [(1,)]


@pytest.mark.parametrize("word", MISLEADING)
def test_no_name_of_a_file_is_taken_for_what_is_wrong(tmp_path: Path, word: str) -> None:
    path = tmp_path / word / "x.duckdb"
    assert "no folder" in str(opened(path))
    for said in (f'IO Error: Cannot open file "{path}": No such file or directory',):
        told = store_error(duckdb.IOException(said), path)
        assert told.message == f"no folder {path.parent}; expected a store in it"
        assert not is_damaged(duckdb.IOException(said), path)
    path.parent.mkdir()
    with held_elsewhere(filled(path)):
        assert "another process holds the store" in str(opened(path))
    refused = f'IO Error: Cannot open file "{path}": Permission denied'
    assert "permission denied" in str(store_error(duckdb.IOException(refused), path))
    assert "no room" not in str(store_error(duckdb.IOException(f'cannot seek "{path}"'), path))


@pytest.mark.parametrize("name", ["e", "o", " ", "r"])
def test_a_short_name_hides_no_damage(name: str) -> None:
    error = duckdb.IOException("IO Error: Could not read enough bytes from file")
    assert is_damaged(error, Path(name))
    assert is_told(store_error(error, Path(name)))


def test_a_file_that_may_not_be_written_is_told_with_a_way_out() -> None:
    error = duckdb.IOException('IO Error: Cannot open file "s.duckdb": Permission denied')
    told = store_error(error, Path("s.duckdb"))
    assert str(told).startswith("s.duckdb: may not be opened (permission denied); expected the ")
    for way_out in ("query", "export --dry-run", "copy"):
        assert way_out in (told.hint or "")


def test_only_who_reads_is_offered_a_copy(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.duckdb")
    with held_elsewhere(path):
        writes, reads = opened(path), opened(path, read_only=True)
    assert isinstance(writes, StoreHeld)
    assert isinstance(reads, StoreHeld)
    assert (writes.hint or "") == "wait for it with --wait SECONDS"
    assert "--wait SECONDS, or read a copy" in (reads.hint or "")
    assert "--snapshot" in (reads.hint or "")
