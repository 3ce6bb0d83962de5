"""What is left after a kill, on a full disk, beside another process, and of a damaged file."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.bench.generate import traces, write
from tests.support import crash
from tests.support.spans import span
from tests.support.stores import held_elsewhere, ingest, tables
from trajscope.errors import ExitCode, InputError, StoreError, TrajscopeError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import ingest as ingest_captures
from trajscope.store import Patience, Store, patient

RUNS = int(os.environ.get("CRASH_RUNS", "3"))
"""`make crash` asks for more."""

COMMAND = [sys.executable, "-m", "trajscope.cli"]


def test_a_killed_ingest_leaves_whole_captures_and_can_be_completed(tmp_path: Path) -> None:
    code = [sys.executable, "-m", "tests.support.crash", str(tmp_path), str(RUNS), "7"]
    ran = subprocess.run(code, capture_output=True, text=True, check=True)
    told = json.loads(ran.stderr)
    whole = told["whole"]
    assert whole["captures"] == {str(n): crash.SPANS for n in range(crash.CAPTURES)}
    assert len(told["runs"]) == RUNS
    for one in told["runs"]:
        killed = one["killed"]
        first = [str(n) for n in range(len(killed["captures"]))]
        assert killed["captures"] == dict.fromkeys(first, crash.SPANS)
        assert killed["spans"] == crash.SPANS * len(first)
        assert one["again"] == whole
    assert told["left"] == []


def filled(path: Path, traces: int = 30) -> Path:
    with Store.open(path) as store:
        ingest(
            store,
            [
                (span(n, trace_id=f"t{t}", attributes={"x": "y" * n * 90}), NOT_UNDERSTOOD)
                for t in range(traces)
                for n in range(1, 9)
            ],
        )
    return path


def limited(megabytes: float) -> Any:
    """Let a process write no file beyond this size, as if the disk were full then."""
    size = int(megabytes * 1_000_000)
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_is_said_and_leaves_the_store(tmp_path: Path) -> None:
    db = filled(tmp_path / "s.duckdb")
    with Store.open(db, read_only=True) as store:
        before = tables(store)
    big = tmp_path / "big.json"
    noise = Random(3)
    found = [[{**s, "name": noise.randbytes(400).hex()} for s in t] for t in traces(6000)]
    write(big, iter(found))
    ran = subprocess.run(
        [*COMMAND, "ingest", str(big), "--db", str(db)],
        capture_output=True,
        text=True,
        preexec_fn=limited(db.stat().st_size / 1_000_000 + 0.6),
    )
    assert ran.returncode == ExitCode.STORE, ran.stderr
    assert "no room to write" in ran.stderr
    assert "Traceback" not in ran.stderr
    with Store.open(db) as store:
        assert tables(store) == before
        assert len(store.captures()) == 1


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A store that another process holds for writing, with a capture that is not committed."""
    db = filled(tmp_path / "s.duckdb")
    add = (
        "from tests.support.stores import ingest; from tests.support.spans import span; "
        "from trajscope.model.reading import NOT_UNDERSTOOD\n"
        "ingest(store, [(span(1, trace_id='small'), NOT_UNDERSTOOD)], 'small')"
    )
    with held_elsewhere(db, first=add) as process:
        yield db, process


def test_the_second_process_is_told_who_holds_the_store_and_the_ways_out(
    writer: tuple[Path, subprocess.Popen[str]],
) -> None:
    db, process = writer
    for read_only in (True, False):
        with pytest.raises(StoreError) as caught:
            Store.open(db, read_only=read_only)
        assert f"process {process.pid}" in str(caught.value)
        assert "--wait" in str(caught.value)
        assert ("--snapshot" in str(caught.value)) == read_only  # a copy is for reading
    with patient(snapshot=True):  # also what was committed but is only in the log yet
        with Store.open(db, read_only=True) as store:
            assert store.trace_ids(["small"]) == ["small"]
            assert store.count() == (241, 31)
        with pytest.raises(StoreError, match="holds the store"):
            Store.open(db)  # a copy is for reading


def test_waiting_ends_when_the_store_is_free(
    writer: tuple[Path, subprocess.Popen[str]],
) -> None:
    db, process = writer
    began = time.monotonic()
    with pytest.raises(StoreError, match="holds the store"):
        Store.open(db, patience=Patience(wait_seconds=0.3))
    assert time.monotonic() - began >= 0.3
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    with Store.open(db, patience=Patience(wait_seconds=60)) as store:
        assert store.count() == (241, 31)


def test_a_store_that_is_open_here_keeps_its_lock(tmp_path: Path) -> None:
    db = filled(tmp_path / "s.duckdb")
    with Store.open(db):
        with pytest.raises(StoreError, match="this process"):
            Store.open(db, read_only=True)
        ran = subprocess.run([*COMMAND, "list", "--db", str(db)], capture_output=True, text=True)
    assert (ran.returncode, "holds the store" in ran.stderr) == (ExitCode.STORE, True)


def damaged(data: bytes) -> Iterator[bytes]:
    random = Random(11)
    for size in (12, 100, 4096, 8192, 12288, 20000, len(data) // 2, len(data) - 1):
        yield data[:size]
    for _ in range(24):
        at = random.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    for _ in range(8):
        at = random.randrange(len(data) - 4096)
        yield data[:at] + random.randbytes(4096) + data[at + 4096 :]
    yield data[:12] + random.randbytes(50_000)


def test_a_damaged_store_is_refused_or_reads_as_it_was(tmp_path: Path) -> None:
    whole = filled(tmp_path / "s.duckdb").read_bytes()
    db = tmp_path / "damaged.duckdb"
    refused = 0
    for data in damaged(whole):
        db.write_bytes(data)
        try:
            with Store.open(db, threads=1) as store:
                found = sum(len(own) for _, own in store.iter_traces())
            assert found == 240
        except StoreError as error:
            refused += 1
            assert "damaged" in str(error)
            assert error.hint is not None
    assert refused > 10


def test_a_damaged_log_is_no_traceback(tmp_path: Path) -> None:
    code = (
        "import os, sys; from tests.support.spans import span; from trajscope.store import Store\n"
        "from tests.support.stores import ingest; from trajscope.model.reading import *\n"
        "store = Store.open(sys.argv[1])\n"
        "ingest(store, [(span(1, name='n' * 5000), NOT_UNDERSTOOD)])\n"
        "os._exit(0)"  # as a kill: the log is left
    )
    db = tmp_path / "s.duckdb"
    subprocess.run([sys.executable, "-c", code, str(db)], check=True)
    log = db.with_name("s.duckdb.wal")
    whole, before = log.read_bytes(), db.read_bytes()
    random = Random(2)
    for _ in range(8):
        at = random.randrange(len(whole))
        log.write_bytes(whole[:at] + random.randbytes(40) + whole[at + 40 :])
        db.write_bytes(before)
        try:
            with Store.open(db) as store:
                assert store.count() in ((0, 0), (1, 1))
        except TrajscopeError as error:
            assert error.exit_code == ExitCode.STORE


@pytest.mark.parametrize("change", [b"", b'{"resourceSpans": []}\n'])
def test_a_capture_that_changes_while_it_is_read_is_not_stored(
    tmp_path: Path, change: bytes
) -> None:
    path = tmp_path / "live.jsonl"
    write(path, traces(3000))

    def tell(*_: object) -> None:
        path.write_bytes(path.read_bytes() + change if change else change)

    with Store.open() as store:
        with pytest.raises(InputError, match="changed while it was read"):
            list(ingest_captures([str(path)], store, InputOptions(), tell))
        assert store.count() == (0, 0)
        assert store.captures() == []
