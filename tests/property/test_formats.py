"""Laws of formats: nothing changes on the way, and no bytes do harm."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.captures import CASES, read_bytes, source_of
from tests.support.otlp import as_google_json, as_json, as_protobuf
from tests.support.spans import any_spans, spans, texts
from trajscope.errors import InputError, Problems
from trajscope.formats import formats, read_capture
from trajscope.formats.mastra_spans import record_from_span, span_from_record
from trajscope.model.span import Span

FIXTURES = Path(__file__).parents[2] / "fixtures" / "traces"
INPUTS = [
    p
    for p in sorted([*FIXTURES.glob("*/*.*"), *CASES.glob("*/*.json*")])
    if p.name not in ("truth.json", "PROVENANCE.md") and "bomb" not in p.name
]


def dumped(value: Any, **options: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, **options).encode()


def read_spans(data: bytes, format_name: str) -> list[Span]:
    read = read_bytes(data, format_name=format_name)
    assert read.messages == []
    return read.spans


SOME = settings(max_examples=40)
"""For laws whose examples are slow to draw."""


@SOME
@given(any_spans(max_size=4))
def test_otlp_keeps_every_span_whatever_the_encoding(given_spans: list[Span]) -> None:
    message = as_protobuf(given_spans)
    assert read_spans(message or b"\n\0", "otlp-protobuf") == given_spans
    for document in (
        as_json(given_spans),
        as_google_json(given_spans),
        as_google_json(given_spans, proto_names=True),
    ):
        document = document or {"resourceSpans": []}
        assert read_spans(dumped(document), "otlp-json") == given_spans


@SOME
@given(st.lists(any_spans(max_size=3), max_size=4), st.sampled_from(["\n", "", "\r\n\n", " \n "]))
def test_documents_may_stand_in_any_arrangement(parts: list[list[Span]], between: str) -> None:
    documents = [as_json(part) or {"resourceSpans": []} for part in parts]
    expected = [span for part in parts for span in part]
    one_a_line = between.join(json.dumps(d) for d in documents).encode()
    pretty = between.join(json.dumps(d, indent=1) for d in documents).encode()
    flush = between.join(json.dumps(d, indent=0) for d in documents).encode()
    for data in (
        one_a_line,
        pretty,
        flush,
        dumped(documents),
        dumped(documents, indent=2),
        b"\xef\xbb\xbf" + one_a_line,
        b"[\n" + b",\n".join(dumped(d) for d in documents) + b"\n]\n",
    ):
        assert read_spans(data or b" ", "otlp-json") == expected


@SOME
@given(st.lists(any_spans(max_size=3).filter(bool), min_size=1, max_size=4))
def test_protobuf_messages_may_be_framed_or_concatenated(parts: list[list[Span]]) -> None:
    messages = [as_protobuf(part) for part in parts]
    expected = [span for part in parts for span in part]
    bare = b"".join(messages)
    length = b"".join(len(m).to_bytes(4, "big") + m for m in messages)
    varint = b"".join(_varint(len(m)) + m for m in messages)
    for data in (bare, length, varint):
        read = read_bytes(data)
        assert read.messages == []
        assert read.spans == expected


def _varint(size: int) -> bytes:
    found = b""
    while size > 127:
        found += bytes([size & 127 | 128])
        size >>= 7
    return found + bytes([size])


@given(st.lists(st.binary(max_size=300), max_size=4), st.randoms(use_true_random=False))
def test_compression_is_undone(parts: list[bytes], shuffle: random.Random) -> None:
    expected = b"".join(parts)
    for compress in (gzip.compress, zstandard.compress):
        data = b"".join(compress(part) for part in parts)
        if data:
            with source_of(data).open() as stream:
                assert stream.read() == expected
            source = source_of(data[: shuffle.randrange(8, len(data))])
            with source.open() as stream:
                assert expected.startswith(stream.read())


@SOME
@given(
    any_spans(max_size=3).filter(bool).map(lambda s: dumped(as_json(s))),
    st.data(),
)
def test_a_cut_line_costs_that_line(document: bytes, data: st.DataObject) -> None:
    cut = document[: data.draw(st.integers(1, len(document) - 1))]
    read = read_bytes(document + b"\n" + cut + b"\n" + document)
    alone = read_bytes(document).spans
    assert read.spans == alone + alone
    assert read.problems.count == 1
    assert "capture:2" in read.messages[0]


KEYS = """resourceSpans resource_spans batches scopeSpans instrumentationLibrarySpans spans scope
resource attributes key value stringValue intValue arrayValue values kvlistValue traceId spanId
parentSpanId startTimeUnixNano name kind status code events links traces spanType startedAt endedAt
error resourceLogs scopeLogs logRecords trace"""


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts() | st.just("0" * 16)
    keys = st.sampled_from(KEYS.split())
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=25,
    )


@given(json_values(), st.sampled_from(["otlp-json", "mastra-spans"]))
def test_no_json_makes_anything_but_problems(value: Any, format_name: str) -> None:
    try:
        read = read_bytes(json.dumps(value).encode(), format_name=format_name)
    except InputError:
        return
    for span in read.spans:
        assert span.trace_id
        assert span.span_id


@given(st.binary(max_size=400), st.sampled_from(["otlp-json", "mastra-spans", "otlp-protobuf"]))
def test_no_bytes_make_anything_but_problems(data: bytes, format_name: str) -> None:
    for capture in (data, b"\x1f\x8b" + data, b"\x28\xb5\x2f\xfd" + data, b"\n" + data):
        problems = Problems()
        with contextlib.suppress(InputError):
            list(read_capture(source_of(capture), problems, format_name=format_name))


MUTABLE = [p for p in INPUTS if p.stat().st_size < 60_000]


@pytest.mark.parametrize(
    "path", MUTABLE[:: max(1, len(MUTABLE) // 16)], ids=lambda p: p.parent.name
)
def test_no_damage_to_a_real_capture_makes_anything_but_problems(path: Path) -> None:
    data = path.read_bytes()
    draw = random.Random(str(path.name))
    whole = len(read_bytes(data).records)
    for _ in range(15):
        damaged = bytearray(data)
        for _ in range(draw.choice([1, 1, 3])):
            at = draw.randrange(len(damaged))
            kind = draw.randrange(4)
            if kind == 0:
                damaged[at] = draw.randrange(256)
            elif kind == 1:
                del damaged[at : at + draw.choice([1, 50, 5000])]
            elif kind == 2:
                damaged[at:at] = damaged[at : at + draw.choice([1, 50, 5000])]
            else:
                del damaged[at + 1 :]
        try:
            read = read_bytes(bytes(damaged))
        except InputError:
            continue
        assert len(read.records) <= whole + 60
        for span in read.spans:
            assert span.trace_id
            assert span.span_id


@pytest.mark.parametrize("path", INPUTS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_one_format_is_surest_of_every_capture(path: Path) -> None:
    source = source_of(path.read_bytes())
    surest = sorted((f.sniff(source), name) for name, f in formats().items())
    assert surest[-1][0] > surest[-2][0], surest


@given(st.binary(max_size=200) | texts(60).map(str.encode))
def test_sniffing_never_raises(data: bytes) -> None:
    for found in formats().values():
        assert 0 <= found.sniff(source_of(data)) <= 3


def records() -> st.SearchStrategy[dict[str, Any]]:
    json_like = st.none() | st.integers() | texts() | st.dictionaries(texts(), texts(), max_size=2)
    times = st.none() | st.integers(1, 4_000_000_000_000_000_000)
    return st.builds(
        lambda ids, name, start, end, rest: record_from_span(
            Span(
                trace_id=ids[0],
                span_id=ids[1],
                parent_span_id=ids[2],
                name=name,
                start_ns=start,
                end_ns=end,
                attributes={f"mastra.record.{key}": value for key, value in rest.items()},
            )
        ),
        st.tuples(texts().filter(bool), texts().filter(bool), st.none() | texts().filter(bool)),
        texts(),
        times,
        times,
        st.dictionaries(
            st.sampled_from(["spanType", "input", "output", "entityId", "userId", "newMember"]),
            json_like,
        ),
    )


@given(records())
def test_a_stored_record_comes_back_as_it_was(record: dict[str, Any]) -> None:
    span = span_from_record(record)
    assert span_from_record(record_from_span(span)) == span
    kept = {k: v for k, v in record.items() if v is not None or k in ("input", "output")}
    back = record_from_span(span)
    assert {k: back[k] for k in kept} == kept


@given(spans(max_size=8))
def test_stored_records_keep_ids_repeats_and_order(given_spans: list[Span]) -> None:
    stored = [{**record_from_span(span), "spanType": "generic"} for span in given_spans]
    for value in (stored, {"spans": stored}, {"traces": [{"spans": stored}]}):
        read = read_bytes(json.dumps(value).encode(), format_name="mastra-spans")
        ids = [(s.trace_id, s.span_id, s.parent_span_id, s.start_ns, s.end_ns) for s in read.spans]
        assert ids == [
            (s.trace_id, s.span_id, s.parent_span_id, s.start_ns, s.end_ns) for s in given_spans
        ]
