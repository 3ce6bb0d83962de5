"""A document printed item by item is the one printed whole; a large store is never held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Trajscope
from tests.support.plain import write_otlp
from tests.support.spans import span
from tests.support.stores import ingest
from trajscope.cli import _io
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.pipeline import load
from trajscope.pipeline.load import InputOptions, traces
from trajscope.store import Store

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def printed(*args: object, whole: bool) -> str:
    @click.command()
    def command() -> None:
        if whole:
            _io.print_json(*args)
        else:
            _io.print_json_list(*args)  # type: ignore[arg-type]

    return CliRunner().invoke(command, [], catch_exceptions=False).stdout


@given(st.lists(VALUES, max_size=4), st.dictionaries(st.text(), VALUES, max_size=3))
def test_item_by_item_is_the_same_text_as_whole(
    items: list[object], rest: dict[str, object]
) -> None:
    rest.pop("traces", None)
    found = printed("traces", iter(items), rest, whole=False)
    assert found == printed({"traces": items, **rest}, whole=True)
    assert json.loads(found) == {"traces": items, **rest}


def test_an_error_at_the_first_item_leaves_nothing_behind(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    db = tmp_path / "s.duckdb"
    capture = write_otlp(tmp_path / "c.json", [span(1)])
    assert trajscope("ingest", capture, "--db", db).code == 0
    for command in ("show", "tree"):
        ran = trajscope(command, "--db", db, "nosuch", "--json")
        assert (ran.code, ran.out) == (3, "")
        assert "no trace 'nosuch'" in ran.err


def test_traces_of_a_store_are_read_as_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        ingest(store, [(span(1, trace_id=f"{n:032x}"), NOT_UNDERSTOOD) for n in range(1, 6)])
    passed: list[int] = []
    original = load.stored

    def counted(*args: object) -> Iterator[object]:
        for one in original(*args):  # type: ignore[arg-type]
            passed.append(1)
            yield one

    monkeypatch.setattr(load, "stored", counted)
    found = iter(traces((), InputOptions(), str(path)))
    next(found)
    assert len(passed) == 1
    assert len(list(found)) == 4
