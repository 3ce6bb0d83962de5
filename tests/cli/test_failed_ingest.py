"""An ingest that takes nothing leaves no store behind; one that was there stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Trajscope
from tests.support.plain import write_otlp
from tests.support.spans import span
from trajscope.errors import StoreError
from trajscope.store import Store

FAULTS: dict[str, tuple[list[str], int]] = {
    "a missing file": (["nosuch.json"], 3),
    "an empty file": (["empty.json"], 3),
    "no capture": (["notes.txt"], 3),
    "an empty folder": (["folder"], 3),
    "an unknown format": (["good.json", "--input-format", "nosuch"], 2),
    "a size that is none": (["good.json", "--max-expanded", "-1"], 2),
    "a size beyond all": (["good.json", "--max-expanded", "999999999999T"], 2),
    "a size of nothing": (["good.json", "--max-expanded", "0"], 2),
    "a pattern of nothing": (["good.json", "--drop-attributes", ""], 2),
    "a missing mapping": (["good.json", "--map", "nosuch.yaml"], 2),
}


@pytest.fixture(autouse=True)
def captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_otlp(Path("good.json"), [span(1)])
    Path("empty.json").touch()
    Path("notes.txt").write_text("no capture")
    Path("folder").mkdir()


@pytest.mark.parametrize("fault", FAULTS)
def test_no_store_is_left(trajscope: Trajscope, fault: str) -> None:
    words, code = FAULTS[fault]
    before = sorted(Path().iterdir())
    ran = trajscope("ingest", *words, "--db", "s.duckdb")
    assert (ran.code, ran.out) == (code, "")
    place = next((w for w in reversed(words) if w.startswith("--")), words[0])
    if place == "--map":
        place = "nosuch.yaml"
    assert f"error: {place}: " in ran.err
    assert "expected" in ran.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("fault", FAULTS)
def test_a_store_that_was_there_stays_as_it_was(trajscope: Trajscope, fault: str) -> None:
    words, code = FAULTS[fault]
    Path("first.json").write_bytes(Path("good.json").read_bytes())
    assert trajscope("ingest", "first.json", "--db", "s.duckdb").code == 0
    assert trajscope("ingest", *words, "--db", "s.duckdb").code == code
    assert len(trajscope("list", "--db", "s.duckdb", "--json").json["traces"]) == 1


UNREADABLE = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xx","spanId":"yy"}]}]}]}'


@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"]])
def test_no_store_is_left_of_captures_without_a_span_that_can_be_read(
    trajscope: Trajscope, more: list[str]
) -> None:
    Path("bad.json").write_text(UNREADABLE)
    ran = trajscope("ingest", "bad.json", "--db", "s.duckdb", *more)
    assert ran.code == 3
    assert "nothing could be read from any capture" in ran.err
    assert "now holds" not in ran.out
    assert not Path("s.duckdb").exists()
    assert trajscope("ingest", "bad.json", "good.json", "--db", "s.duckdb", *more).code == 0
    assert trajscope("ingest", "bad.json", "--db", "s.duckdb", *more).code == 3
    assert len(trajscope("list", "--db", "s.duckdb", "--json").json["traces"]) == 1


def test_what_was_taken_before_the_fault_is_kept(trajscope: Trajscope) -> None:
    ran = trajscope("ingest", "good.json", "empty.json", "--db", "s.duckdb")
    assert ran.code == 3
    assert len(trajscope("list", "--db", "s.duckdb", "--json").json["traces"]) == 1


@pytest.mark.parametrize("made_before", [False, True])
def test_the_first_fault_is_told_where_the_database_answers_nothing_more(
    trajscope: Trajscope, monkeypatch: pytest.MonkeyPatch, made_before: bool
) -> None:
    """A full disk that a checkpoint meets makes DuckDB refuse every statement after it."""
    if made_before:
        trajscope("ingest", "good.json", "--db", "s.duckdb")

    def fill(_paths: object, store: Store, *_rest: object, **_more: object) -> Iterator[object]:
        store.close()
        raise StoreError("no room to write")

    monkeypatch.setattr("trajscope.pipeline.storing.ingest", fill)
    ran = trajscope("ingest", "good.json", "--db", "s.duckdb")
    assert (ran.code, ran.out, ran.err) == (4, "", "error: no room to write\n")
    assert Path("s.duckdb").exists() == made_before
