"""Times, ids, flattening, the look at a cut head, and Parquet files that are odd or broken."""

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.captures import read_bytes, source_of
from tests.support.spans import attribute_values, texts
from tests.support.truth import spans_of
from tests.unit.formats_more import writers as w
from trajscope.errors import Problems
from trajscope.formats import FileSource
from trajscope.formats._flatten import flattened
from trajscope.formats._parquet import parquet_columns, parquet_rows
from trajscope.formats._peek import first_values
from trajscope.formats._times import to_duration_ns, to_hex, to_time_ns

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=ZONES))
def test_iso_text_of_any_zone_is_the_same_instant(moment: datetime) -> None:
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    assert to_time_ns(moment.isoformat()) == micros * 1000
    assert to_time_ns(moment.isoformat(" ").replace(":00+", "+")) is not None


@given(st.integers(1, 2**64 - 1))
def test_nanoseconds_are_exact_as_numbers_and_as_text(time_ns: int) -> None:
    assert to_time_ns(time_ns) == to_time_ns(str(time_ns)) == time_ns
    micro = time_ns // 1000
    assert to_time_ns(micro, "us") == (micro * 1000 or None)
    seconds = f"{time_ns // 10**9}.{time_ns % 10**9:09d}"
    assert to_time_ns(seconds, "s") == time_ns


@pytest.mark.parametrize(
    "value", [None, "", 0, "0", 0.0, "1970-01-01 00:00:00", "0001-01-01T00:00:00Z"]
)
def test_a_zero_time_is_no_time(value: Any) -> None:
    assert to_time_ns(value) is None


@pytest.mark.parametrize(
    "value",
    [
        *("now", "2026-13-01", "2026-02-30T00:00:00Z", "2026-03-03T25:00:00", -1, "-1", True, []),
        *({}, float("nan"), float("inf"), 1e300, 2**64, "1" * 30, "2026-03-03T09:00:00+0100x"),
        "٣",
    ],
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        to_time_ns(value)


@pytest.mark.parametrize("value", [-1, "-1", "x", True, None, [], float("inf"), 2**63, 1e30])
def test_what_is_no_duration_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        to_duration_ns(value, "ns")


@given(st.integers(1, 2**64 - 1))
def test_hex_ids_are_one_id_in_every_spelling(number: int) -> None:
    spellings = [f"{number:x}", f"{number:016X}", f"0x{number:x}", f" {number:016x} "]
    assert {to_hex(s, 16) for s in spellings} == {f"{number:016x}"}


@given(st.dictionaries(texts(), attribute_values(), max_size=3))
def test_flattening_keeps_every_leaf(nested: dict[str, Any]) -> None:
    flat = flattened(nested, lambda _: False)
    assert None not in flat.values()
    assert not any(isinstance(v, dict) and v for v in flat.values())
    assert flattened(flat, lambda _: True) == flat


def test_flattening_ends_however_deep_the_value() -> None:
    value: Any = 1
    for _ in range(5000):
        value = {"a": value}
    [(name, _)] = flattened({"a": value}, lambda _: False).items()
    assert name.count(".") == 31


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts(), JSON, max_size=4) | st.lists(JSON, max_size=4), st.data())
def test_a_cut_head_shows_what_is_whole_before_the_cut(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    assert first_values(text) == [value]
    [cut] = first_values(text[: data.draw(st.integers(1, len(text)))])
    assert type(cut) is type(value)
    assert _within(cut, value)


def _within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(k in whole and _within(v, whole[k]) for k, v in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(_within, part, whole))
    return bool(part == whole)


@given(st.binary(max_size=300) | st.text('{}[]",:\\ \n1', max_size=60).map(str.encode))
def test_looking_at_bytes_never_raises(head: bytes) -> None:
    first_values(head)


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_columns_of_every_kind_become_json() -> None:
    moment = datetime(2026, 3, 3, 9, tzinfo=UTC)
    columns = {
        "list_of_times": pa.array([[1]], pa.list_(pa.timestamp("ns"))),
        "struct": pa.array([{"t": moment, "n": None}]),
        "map": pa.array([[("a", [b"x"])]], pa.map_(pa.binary(), pa.list_(pa.binary()))),
        "empty_map": pa.array([[]], pa.map_(pa.string(), pa.string())),
        "nan": pa.array([float("nan")]),
        "date": pa.array([moment.date()]),
        "decimal": pa.array(["1.50"]).cast(pa.decimal128(5, 2)),
        "bytes": pa.array([b"\xff\x00"]),
        "words": pa.array(["w"]).dictionary_encode(),
        "large": pa.array([["a"]], pa.large_list(pa.large_string())),
        "new_york": pa.array([moment], pa.timestamp("us", "America/New_York")),
        "null": pa.array([None]),
        "half": pa.array([1.5], pa.float16()),
        "duration": pa.array([timedelta(seconds=1)]),
    }
    source = source_of(parquet(pa.table(columns)))
    [row] = parquet_rows(source, Problems(strict=True))
    assert row.members == {
        "list_of_times": ["1970-01-01 00:00:00.000000001"],
        "struct": {"t": "2026-03-03 09:00:00.000000Z", "n": None},
        "map": {"a": ["x"]},
        "empty_map": {},
        "nan": None,
        "date": "2026-03-03",
        "decimal": "1.50",
        "bytes": "/wA=",
        "words": "w",
        "large": ["a"],
        "new_york": "2026-03-03 09:00:00.000000Z",
        "null": None,
        "half": 1.5,
        "duration": "0:00:01",
    }
    assert parquet_columns(source) == tuple(columns)


@pytest.mark.parametrize("cut", [4, 100, 1000, -1, -9, -200])
def test_a_cut_parquet_file_is_a_problem(cut: int) -> None:
    whole = w.clickhouse_parquet(spans_of("pydantic_ai_v5-err/trace.otlp.json"))
    found = read_bytes(whole[:cut], format_name="clickhouse-otel")
    assert found.spans == []
    assert len(found.messages) == 1
    assert found.messages[0].startswith("capture: Parquet file damaged after 0 rows")


def test_the_rows_before_the_damage_stay() -> None:
    spans = spans_of("langgraph_oi-err/trace.otlp.json")
    whole = bytearray(w.clickhouse_parquet(spans))
    last = pq.ParquetFile(io.BytesIO(bytes(whole))).metadata.row_group(3).column(1)
    at = last.dictionary_page_offset or last.data_page_offset
    whole[at : at + 40] = b"\xff" * 40
    found = read_bytes(bytes(whole), format_name="clickhouse-otel")
    assert [s.span_id for s in found.spans] == [s.span_id for s in spans[: len(found.spans)]]
    assert found.problems.count == 1


def test_parquet_inside_gzip_and_on_disk_is_the_same(tmp_path: Any) -> None:
    import gzip

    spans = spans_of("pydantic_ai_v5-err/trace.otlp.json")
    whole = w.clickhouse_parquet(spans)
    file = tmp_path / "rows.parquet"
    file.write_bytes(whole)
    squeezed = read_bytes(gzip.compress(whole), strict=True).spans
    on_disk = list(parquet_rows(FileSource(str(file), file), Problems(strict=True)))
    assert squeezed == read_bytes(whole, strict=True).spans
    assert len(on_disk) == len(spans)


def test_a_record_with_infinities_is_read() -> None:
    row = {"TraceId": "1", "SpanId": "2", "SpanName": "a", "SpanAttributes": {"x": 1}}
    text = json.dumps(row).replace("1}", "1e999}").encode()
    [span] = read_bytes(text).spans
    assert span.span_id == "2".zfill(16)
