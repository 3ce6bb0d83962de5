"""Reading by worker processes: the same store as in one stream, whatever the capture looks like."""

from __future__ import annotations

import errno
import gzip
import io
import json
import multiprocessing
import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from trajscope.errors import InputError, Location, StoreError
from trajscope.pipeline import parallel
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import Ingested, ingest
from trajscope.store import Store
from trajscope.store import ingest as store_ingest
from trajscope.store.derive import derive as derive_traces

TABLES = ("spans", "log_records", "steps", "trajectories", "repairs")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small captures too, and into many parts."""
    monkeypatch.setattr(parallel, "LARGE_BYTES", 1)
    monkeypatch.setattr(parallel, "WORTH_BYTES", 1)
    monkeypatch.setattr("trajscope.formats._parts.PART_BYTES", 2_000)


def request(number: int) -> dict[str, Any]:
    """One export request with a tool call, and what an HTTP client wrote below it."""
    trace = f"{number // 2 + 1:032x}"
    call = {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}
    name = {"key": "gen_ai.tool.name", "value": {"stringValue": f"tool_{number % 3}"}}
    tool = {"traceId": trace, "spanId": f"{2 * number + 1:016x}", "name": "execute_tool"}
    below = {"traceId": trace, "spanId": f"{2 * number + 2:016x}", "name": "POST"}
    times = {"startTimeUnixNano": str(number + 1), "endTimeUnixNano": str(number + 9)}
    spans = [
        {**tool, **times, "attributes": [call, name]},
        {**below, **times, "parentSpanId": tool["spanId"]},
    ]
    scope = {"scope": {"name": "s"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def log(number: int, event: str = "note") -> dict[str, Any]:
    """A record about the first call of a trace, or one that stands for a call of its own."""
    record = {"traceId": f"{number // 2 + 1:032x}", "spanId": f"{2 * number + 1:016x}"}
    said = {
        "event.name": event,
        "session.id": "s",
        "tool_name": "Bash",
        "tool_use_id": f"c{number}",
    }
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in said.items()]
    scope = {"name": "com.anthropic.claude_code.events"}
    logs = [{**record, "timeUnixNano": str(number + 5), "attributes": attributes}]
    return {"resourceLogs": [{"scopeLogs": [{"scope": scope, "logRecords": logs}]}]}


def lines(*items: object) -> str:
    return "".join((i if isinstance(i, str) else json.dumps(i)) + "\n" for i in items)


MANY = [request(n) for n in range(40)]
CAPTURES = {
    "lines": lines(*MANY),
    "no last line end": lines(*MANY).rstrip("\n"),
    "blank lines": lines(*MANY[:20], "", "  ", *MANY[20:]),
    "a cut line at the end": lines(*MANY)[:-300],
    "a broken line in the middle": lines(*MANY[:20], '{"resourceSpans": [{"sco', *MANY[20:]),
    "no JSON in the middle": lines(*MANY[:20], "not json at all", *MANY[20:]),
    "a document over many lines": lines(*MANY[:9], json.dumps(MANY[9], indent=2), *MANY[10:]),
    "one array": json.dumps(MANY),
    "an array, a member a line": "[\n" + ",\n".join(map(json.dumps, MANY)) + "\n]",
    "two documents a line": lines(*(json.dumps(a) + json.dumps(a) for a in MANY)),
    "logs and metrics between": lines(
        *MANY[:20], log(3), {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{}]}]}]}, *MANY[20:]
    ),
    "logs before spans": lines(*(log(n) for n in range(40)), *MANY),
    "logs that stand for calls": lines(
        *(i for n in range(40) for i in (log(n, "tool_result"), MANY[n])), log(3, "tool_result")
    ),
    "a bad span": lines(*MANY[:30], lines(MANY[30]).replace('"spanId"', '"spanid"'), *MANY[31:]),
    "a mark of UTF-8 inside": lines(*MANY[:20]) + "\ufeff" + lines(*MANY[20:]),
    "one long line": lines(*MANY[:5], {"resourceSpans": [MANY[5]["resourceSpans"][0]] * 30}),
}


def stored(path: Path, jobs: int, **options: Any) -> tuple[Any, ...]:
    given = InputOptions(**options)
    with Store.open() as store:
        done: list[Ingested] = list(ingest([str(path)], store, given, jobs=jobs))
        tables = [
            sorted(map(repr, store.query(f"SELECT * EXCLUDE (capture_no) FROM {t}").rows))
            if t in ("spans", "log_records")
            else sorted(map(repr, store.query(f"FROM {t}").rows))
            for t in TABLES
        ]
        kept = [
            (c.id, c.spans, c.logs, c.skipped, c.problem_count, c.problems)
            for c in store.captures()
        ]
    problems = [str(p) for p in given.problems.items]
    return tables, kept, [d.report for d in done], problems, given.problems.skipped


@pytest.mark.parametrize("name", CAPTURES)
def test_workers_store_what_one_stream_stores(name: str, tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES[name], encoding="utf-8")
    assert stored(path, 2) == stored(path, 1)


def test_a_strict_reader_raises_the_same(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["no JSON in the middle"], encoding="utf-8")
    told = []
    for jobs in (1, 2):
        with pytest.raises(InputError) as error:
            stored(path, jobs, strict=True)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert ":21" in told[0]


def test_a_killed_worker_is_told_and_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["lines"], encoding="utf-8")

    def kill(_name: str, _count: int, _share: float | None) -> None:
        for child in multiprocessing.active_children():
            os.kill(child.pid or 0, signal.SIGKILL)

    with Store.open(tmp_path / "store.duckdb") as store:
        with pytest.raises(StoreError, match="worker process was killed"):
            list(ingest([str(path)], store, InputOptions(), kill, jobs=2))
        assert store.count() == (0, 0)
        assert [one.report.spans for one in ingest([str(path)], store, InputOptions())] == [80]


def test_workers_that_never_serve_name_the_usual_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script without a guard runs again in each worker, which then dies."""
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["lines"], encoding="utf-8")

    class Dead(ProcessPoolExecutor):
        def submit(self, *_args: Any, **_options: Any) -> Future[Any]:
            raise BrokenProcessPool

    monkeypatch.setattr("trajscope.pipeline.parallel.ProcessPoolExecutor", Dead)
    with Store.open(tmp_path / "store.duckdb") as store:
        with pytest.raises(StoreError, match="worker process was killed") as caught:
            list(ingest([str(path)], store, InputOptions(), jobs=2))
        assert str(path) in str(caught.value)
        assert '__name__ == "__main__"' in (caught.value.hint or "")
        assert store.count() == (0, 0)


def test_a_capture_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["lines"], encoding="utf-8")

    def write_on(_name: str, count: int, _share: float | None) -> None:
        with path.open("a") as file:
            file.write(lines(MANY[count % 40]))

    with Store.open() as store:
        with pytest.raises(InputError, match="changed while it was read"):
            list(ingest([str(path)], store, InputOptions(), write_on, jobs=2))
        assert store.count() == (0, 0)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("is_gzip", [False, True])
def test_a_capture_that_vanishes_is_refused(tmp_path: Path, jobs: int, *, is_gzip: bool) -> None:
    path = tmp_path / "capture.jsonl"
    text = (CAPTURES["lines"] * 30).encode()
    path.write_bytes(gzip.compress(text) if is_gzip else text)

    def removed(*_: object) -> None:
        path.unlink(missing_ok=True)

    with Store.open() as store:
        with pytest.raises(InputError, match="is gone since it was found; expected") as caught:
            list(ingest([str(path)], store, InputOptions(), removed, jobs=jobs))
        assert caught.value.at == Location(str(path))
        assert caught.value.hint
        assert (store.count(), store.captures()) == ((0, 0), [])
        path.write_bytes(text)
        list(ingest([str(path)], store, InputOptions(), jobs=jobs))
        assert store.count()[0] > 0


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("nth", range(3))
def test_a_file_that_cannot_be_read_to_its_end_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, nth: int
) -> None:
    """Whoever reads of it when the disk fails: the look at its head, the reading, the hash."""
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["lines"] * 30, encoding="utf-8")
    opened: list[int] = []

    class Failing(io.FileIO):
        def readinto(self, _buffer: Any) -> int:
            raise OSError(errno.EIO, "Input/output error")

    def open_file(file: Path) -> io.FileIO:
        opened.append(1)
        return (Failing if len(opened) > nth else io.FileIO)(file)

    monkeypatch.setattr("trajscope.formats._source.open_file", open_file)
    with Store.open() as store:
        with pytest.raises(InputError, match=r"cannot be read \(Input/output error\); expected"):
            list(ingest([str(path)], store, InputOptions(), jobs=jobs))
        assert len(opened) > nth
        assert (store.count(), store.captures()) == ((0, 0), [])


def test_no_worker_outlives_the_ingest(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_text(CAPTURES["lines"], encoding="utf-8")
    stored(path, 2)
    assert multiprocessing.active_children() == []


def test_workers_of_a_large_capture_end_before_its_steps_are_derived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, some in (("a.jsonl", MANY[:20]), ("b.jsonl", MANY[20:])):
        (tmp_path / name).write_text(lines(*some))
    working: list[int] = []
    derive = derive_traces

    def derived(*args: Any, **given: Any) -> Any:
        working.append(len(multiprocessing.active_children()))
        return derive(*args, **given)

    monkeypatch.setattr(store_ingest, "derive", derived)
    starts: list[int] = []

    def pool(*args: Any) -> ProcessPoolExecutor:
        starts.append(1)
        return ProcessPoolExecutor(*args)

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", pool)
    with Store.open() as store:
        done = list(ingest([str(tmp_path)], store, InputOptions(), jobs=2))
    assert [one.report.spans for one in done] == [40, 40]
    assert working == [0, 0]
    assert len(starts) == 2
