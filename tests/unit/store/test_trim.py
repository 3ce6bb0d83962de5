"""Old traces go as if they had never been there, and a store is rewritten without loss."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spans import open_span, span, spans
from tests.support.stores import empty_store, ingest, readings, select, tables
from trajscope.errors import ExitCode, StoreError
from trajscope.model.reading import NOT_UNDERSTOOD, Reading, StepType, ToolRequest, ToolResponse
from trajscope.model.score import Finding, Score
from trajscope.store import Record, Store, vacuum

FEW = settings(max_examples=12)


@st.composite
def captures(draw: Any) -> list[Record]:
    """Records of several traces whose readings answer each other's calls, of narrow times."""
    found = draw(spans(traces=5, max_size=60))
    known = {(s.trace_id, s.span_id): draw(readings()) for s in found}
    return [(s, known[s.trace_id, s.span_id]) for s in found]


def is_older(records: list[Record], before_ns: int) -> bool:
    """Whether the last span of one trace started before a time; its end stands for no start."""
    known = [s.start_ns if s.start_ns is not None else s.end_ns for s, _ in records]
    times = [t for t in known if t is not None]
    return bool(times) and max(times) < before_ns


@FEW
@given(captures(), st.integers(0, 21), st.booleans())
def test_what_is_left_is_what_a_store_holds_that_never_saw_the_rest(
    records: list[Record], before_ns: int, rehearse: bool
) -> None:
    with empty_store() as store, empty_store() as fresh:
        ingest(store, records)
        kept: list[Record] = []
        gone = 0
        for _, own in store.iter_traces():
            if is_older(own, before_ns):
                gone += 1
            else:
                kept += own
        before = tables(store)
        told = store.prune(before_ns, dry_run=True)
        assert tables(store) == before
        assert store.prune(before_ns, dry_run=rehearse) == told
        assert (told.traces, told.spans) == (gone, len(before["spans"]) - len(kept))
        ingest(fresh, kept)
        assert tables(store) == (before if rehearse else tables(fresh))


def one(trace: str, at_ns: int | None, reading: Reading = NOT_UNDERSTOOD) -> Record:
    return span(1, trace_id=trace, start_ns=at_ns), reading


def test_a_trace_goes_as_a_whole_or_not_at_all() -> None:
    with empty_store() as store:
        long = [(span(n, trace_id="long", start_ns=n), NOT_UNDERSTOOD) for n in (1, 50, 100)]
        ingest(store, [*long, one("short", 99)])
        gone = store.prune(100)
        assert (gone.traces, gone.oldest_ns, gone.newest_ns) == (1, 99, 99)
        assert [len(own) for _, own in store.iter_traces()] == [3]
        assert store.prune(101).spans == 3
        assert store.count() == (0, 0)


def test_a_trace_without_any_time_is_not_known_to_be_old() -> None:
    with empty_store() as store:
        ingest(store, [(open_span(1, trace_id="t", start_ns=None), NOT_UNDERSTOOD)])
        gone = store.prune(2**62)
        assert (gone.traces, gone.undated) == (0, 1)
        assert store.count() == (1, 1)


def test_everything_that_names_a_removed_trace_goes() -> None:
    """Whatever table has a trace id, also one that is added later: no row of the trace is left."""
    tool = Reading(convention="test", step_type=StepType.TOOL_CALL, name="search")
    twice = [(open_span(7, trace_id="old", start_ns=n), tool) for n in (1, 2)]
    with empty_store() as store:
        ingest(store, [*twice, one("old", 1), one("new", 100)])
        finding = Finding(rule="r", message="m", trace_id="old", span_ids=("1",))
        store.save_scores([Score(scorer="s", value=0.0, trace_id="old", findings=(finding,))])
        store.save_findings([finding])
        gone = store.prune(50)
        with_ids = select(
            store,
            "SELECT table_name AS name FROM duckdb_columns() c JOIN duckdb_tables() t "
            "USING (database_name, table_name) WHERE column_name = 'trace_id' AND NOT t.temporary",
        )
        left = {
            row["name"]: select(store, f"FROM {row['name']} WHERE trace_id = 'old'")
            for row in with_ids
        }
    assert {"spans", "steps", "trajectories", "repairs", "scores", "findings"} <= set(left)
    assert {name: rows for name, rows in left.items() if rows} == {}
    assert (gone.steps, gone.scores, gone.findings) == (1, 1, 2)
    assert gone.repairs > 0


def test_scores_stay_as_a_record_when_asked_to() -> None:
    with empty_store() as store:
        ingest(store, [one("old", 1)])
        store.save_scores([Score(scorer="s", value=0.5, trace_id="old")])
        gone = store.prune(50, keep_scores=True)
        assert (gone.traces, gone.scores) == (1, 0)
        assert [s.value for s in store.scores()] == [0.5]


def test_a_capture_is_forgotten_with_its_last_span_and_can_come_again() -> None:
    with empty_store() as store:
        ingest(store, [one("a", 1)], "first")
        ingest(store, [one("b", 1), one("c", 100)], "second")
        assert store.prune(50).captures == 1
        assert [c.id for c in store.captures()] == ["second"]
        again = ingest(store, [one("a", 1)], "first")
        assert (again.known, again.added) == (False, 1)


def test_a_prune_of_everything_forgets_captures_that_only_repeated_others() -> None:
    with empty_store() as store:
        for name in ("first", "repeat", "third"):
            ingest(store, [one("a", 1)], name)
        assert store.prune(50).captures == 3
        assert store.captures() == []


def test_a_trace_that_stays_forgets_what_a_removed_one_told_of_its_calls() -> None:
    asks = Reading(
        convention="test",
        step_type=StepType.MODEL_GENERATION,
        is_model_call=True,
        session_id="s",
        requests=(ToolRequest("search", "call_1", {}),),
    )
    answers = Reading(
        convention="test",
        step_type=StepType.MODEL_GENERATION,
        is_model_call=True,
        session_id="s",
        responses=(ToolResponse("call_1", result="found"),),
    )
    asking = [(span(1, trace_id="asks", start_ns=1), asks)]
    asking.append((span(2, trace_id="asks", start_ns=100), NOT_UNDERSTOOD))
    with empty_store() as store:
        ingest(store, [*asking, (span(1, trace_id="answers", start_ns=2), answers)])
        results = "SELECT result FROM steps WHERE step_type = 'tool_call'"
        assert select(store, results) == [{"result": '"found"'}]
        assert store.prune(50).derived == 1
        assert select(store, results) == [{"result": None}]


def filled(path: Path, traces: int = 40) -> Path:
    with Store.open(path) as store:
        ingest(
            store,
            [
                (span(n, trace_id=f"t{t}", start_ns=t, attributes={"text": "x" * n * 50}), READ)
                for t in range(traces)
                for n in range(1, 6)
            ],
        )
    return path


READ = Reading(convention="test", step_type=StepType.TOOL_CALL, name="search", args={"q": 1})


def contents(path: Path) -> tuple[Any, ...]:
    with Store.open(path, read_only=True) as store:
        return tables(store), store.schema(), [c.id for c in store.captures()]


def test_a_vacuum_loses_nothing_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.duckdb")
    path.chmod(0o640)
    with Store.open(path) as store:
        store.prune(20)
    before = contents(path)
    (tmp_path / ".s.duckdb.0123abcd.vacuum").write_text("of one that was killed")
    done = vacuum(path, memory_limit="100MB")
    assert contents(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.duckdb"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert done.after_bytes == path.stat().st_size
    with Store.open(path) as store:  # and it can be written again
        ingest(store, [one("next", 1)], "next")
        assert store.derive().traces == 21


def test_a_vacuum_gives_space_back(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    random = Random(5)
    with Store.open(path) as store:
        for n in range(4):
            noise = {"noise": random.randbytes(400_000).hex()}  # does not compress to nothing
            ingest(store, [(span(1, trace_id=f"t{n}", start_ns=n, attributes=noise), READ)], f"{n}")
    with Store.open(path) as store:
        store.prune(3)
    done = vacuum(path, memory_limit="100MB")
    assert done.after_bytes < done.before_bytes - 500_000
    assert done.after_bytes == path.stat().st_size


def test_a_vacuum_goes_through_a_link_to_the_file_itself(tmp_path: Path) -> None:
    real = filled(tmp_path / 'it\'s "real".duckdb')
    link = tmp_path / "link.duckdb"
    link.symlink_to(real)
    vacuum(link, memory_limit="100MB")
    assert link.is_symlink()
    assert contents(link) == contents(real)


def test_a_vacuum_does_not_make_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store") as caught:
        vacuum(tmp_path / "no.duckdb", memory_limit="100MB")
    assert caught.value.exit_code == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []


def test_a_vacuum_that_cannot_replace_the_file_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path / "s.duckdb")
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(StoreError, match="it is as it was"):
        vacuum(path, memory_limit="100MB")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.duckdb"]
