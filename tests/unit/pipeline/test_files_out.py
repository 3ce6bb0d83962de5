"""A store into files and back: nothing is lost on the way, and nothing half written is left."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.recorded import recorded_spans
from tests.support.spans import any_spans, open_span, span, spans
from tests.support.stores import empty_store, select, tables
from tests.support.stores import ingest as ingest_records
from trajscope.conventions import Reader
from trajscope.errors import ExitCode, SpanError, StoreError, UsageError
from trajscope.model.reading import Reading, ReadSpan, StepType
from trajscope.model.score import Finding, Score
from trajscope.model.span import Span
from trajscope.pipeline.dropping import Dropper
from trajscope.pipeline.files_out import export_csv, export_parquet
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.storing import ingest
from trajscope.store import Store

FEW = settings(max_examples=12)
DAY_NS = 86_400 * 10**9

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"}
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.arguments": '{"q": 1}',
}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 3,
    "gen_ai.usage.output_tokens": 4,
}


@st.composite
def recorded(draw: Any) -> list[Span]:
    """Spans with orphans, cycles, repeats and unknown times, some of which are steps."""
    found = draw(spans(traces=3, min_size=1, max_size=25, rich=True) | any_spans().filter(bool))
    kinds = st.sampled_from([{}, AGENT, TOOL, CHAT])
    return [Span(**{**_fields(s), "attributes": {**s.attributes, **draw(kinds)}}) for s in found]


def _fields(span: Span) -> dict[str, Any]:
    return {name: getattr(span, name) for name in span.__struct_fields__}


def there_and_back(store: Store, into: Store) -> None:
    options = InputOptions(strict=True)
    with TemporaryDirectory() as folder:
        out = Path(folder, "out")
        export_parquet(store, out)
        list(ingest([str(out)], into, options))


def store_spans(store: Store, found: Sequence[Span], drop: Sequence[str] = ()) -> None:
    read, dropped = Reader(), Dropper(drop)
    ingest_records(store, [(dropped(s), read(s)) for s in found])


@FEW
@given(recorded(), st.sampled_from([(), ("gen_ai.*",), ("*",)]))
def test_what_was_exported_and_ingested_is_what_was_there(
    found: list[Span], drop: Sequence[str]
) -> None:
    with empty_store() as store, empty_store() as again:
        store_spans(store, found, drop)
        there_and_back(store, again)
        assert tables(again) == tables(store)


def test_every_recorded_trace_survives_the_way_there_and_back(tmp_path: Path) -> None:
    with empty_store() as store, empty_store() as again:
        store_spans(store, recorded_spans(), ("http.*", "llm.*"))
        there_and_back(store, again)
        assert tables(again) == tables(store)
        assert len(tables(store)["steps"]) > 500


def test_the_reading_of_a_mapping_comes_along(tmp_path: Path) -> None:
    mapped = Reading(convention="map:mine", step_type=StepType.TOOL_CALL, name="search")
    with empty_store() as store, empty_store() as again:
        ingest_records(store, [(span(1, trace_id="t"), mapped)])
        there_and_back(store, again)
        assert select(again, "SELECT name FROM steps") == [{"name": "search"}]


def test_a_trace_lies_in_one_file_whole_and_files_are_sorted(tmp_path: Path) -> None:
    night = [
        span(1, trace_id="b", start_ns=DAY_NS - 5),
        span(2, parent=1, trace_id="b", start_ns=DAY_NS + 5),
        span(1, trace_id="a", start_ns=3),
        span(1, trace_id="c", start_ns=DAY_NS),
        open_span(1, trace_id="d", start_ns=None),
    ]
    with empty_store() as store:
        store_spans(store, night)
        done = export_parquet(store, tmp_path / "out")
    read = {
        str(file.relative_to(tmp_path / "out")): pq.ParquetFile(file)
        .read(["trace_id", "span_id"])
        .column("trace_id")
        .to_pylist()
        for file in (tmp_path / "out").rglob("*.parquet")
    }
    assert read == {
        "day=1970-01-01/spans-00001.parquet": ["a", "b", "b"],
        "day=1970-01-02/spans-00001.parquet": ["c"],
        "day=unknown/spans-00001.parquet": ["d"],
    }
    assert (done.spans, done.traces, len(done.files)) == (5, 4, 3)


def test_only_the_traces_that_were_asked_for(tmp_path: Path) -> None:
    with empty_store() as store:
        store_spans(store, [span(1, trace_id="a"), span(1, trace_id="b")])
        assert export_parquet(store, tmp_path / "out", ["b"]).traces == 1
        with pytest.raises(SpanError, match="no trace 'x'"):
            export_parquet(store, tmp_path / "other", ["x"])
    assert not (tmp_path / "other").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with empty_store() as store, pytest.raises(UsageError, match="holds something"):
        export_parquet(store, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    with empty_store() as store:
        store_spans(store, [span(1)])
        with pytest.raises(StoreError, match="No space left") as caught:
            export_parquet(store, tmp_path / "out")
    assert caught.value.exit_code == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []


def test_csv_of_scores_and_findings_runs_nothing_in_a_spreadsheet(tmp_path: Path) -> None:
    finding = Finding(
        rule="r", message='=HYPERLINK("x")', trace_id="t", span_ids=("1", "2"), steps=("a,b",)
    )
    score = Score(scorer="s", value=None, trace_id="t", reason="-why\nnot", findings=(finding,))
    with empty_store() as store:
        store.save_scores([score])
        assert export_csv(store, tmp_path / "out") == {"scores": 1, "findings": 1}
    [scored], [found] = (
        csv.DictReader((tmp_path / "out" / f"{name}.csv").read_text("utf-8").splitlines(True))
        for name in ("scores", "findings")
    )
    assert (scored["value"], scored["reason"]) == ("", "'-why\nnot")
    assert found["message"] == '\'=HYPERLINK("x")'
    assert (found["span_ids"], found["steps"]) == ('["1","2"]', '["a,b"]')


def test_dropped_attributes_are_counted_and_classification_is_unharmed() -> None:
    tool = span(1, attributes={**TOOL, "http.url": "x"}, resource={"host.name": "h", "a": 1})
    lighter = Dropper(["gen_ai.*", "host.*"])(tool)
    assert lighter.attributes == {"http.url": "x", "trajscope.dropped_attributes": 4}
    assert lighter.resource == {"a": 1}
    again = Dropper(["http.*"])(lighter)
    assert again.attributes == {"trajscope.dropped_attributes": 5}
    assert Dropper(["none"])(tool) is tool
    assert Dropper([])(tool) is tool


def test_a_span_with_its_reading_is_not_read_anew() -> None:
    brought = Reading(convention="x", step_type=StepType.TOOL_CALL, name="t")
    assert Reader()(ReadSpan(**_fields(span(1, attributes=CHAT)), reading=brought)) is brought
