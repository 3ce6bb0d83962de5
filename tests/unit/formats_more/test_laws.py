"""Spans written in a format and read back: equal, as far as the format holds them."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.captures import read_bytes
from tests.support.spans import any_spans, hex_ids, span_values, spans, texts
from tests.unit.formats_more import writers as w
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.model.span import Span, SpanEvent, SpanLink
from trajscope.store.columns import to_batch

TIMES = st.integers(10**15, 2**63 - 2)
SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts()


def records(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Span]]:
    """Spans with real ids and times, whose attributes are of `values`."""
    attributes = st.dictionaries(texts().filter(bool), values, max_size=3)
    one = st.builds(
        Span,
        trace_id=hex_ids(32),
        span_id=hex_ids(16),
        parent_span_id=st.none() | hex_ids(16),
        name=texts(),
        kind=st.sampled_from(["INTERNAL", "CLIENT", "SERVER", "PRODUCER", "CONSUMER"]),
        start_ns=TIMES,
        end_ns=st.none(),
        status_code=st.sampled_from(["UNSET", "OK", "ERROR"]),
        status_message=texts(),
        scope_name=texts(),
        attributes=attributes,
        events=st.lists(st.builds(SpanEvent, texts(), TIMES, attributes), max_size=2).map(tuple),
        links=st.lists(st.builds(SpanLink, hex_ids(32), hex_ids(16), attributes), max_size=2).map(
            tuple
        ),
        resource=attributes,
    )
    ended = st.builds(
        lambda span, length: msgspec.structs.replace(span, end_ns=span.start_ns + length),
        one,
        st.integers(0, 10**12),
    )
    return st.lists(ended, min_size=1, max_size=4)


def to_micro(span: Span) -> Span:
    """The span as far as microseconds hold it."""

    def cut(time_ns: int | None) -> int | None:
        return None if time_ns is None else time_ns // 1000 * 1000

    return msgspec.structs.replace(
        span,
        start_ns=cut(span.start_ns),
        end_ns=cut(span.end_ns),
        events=tuple(msgspec.structs.replace(e, time_ns=cut(e.time_ns)) for e in span.events),
    )


@given(any_spans(max_size=4).filter(bool) | spans(min_size=1, rich=True))
def test_our_own_parquet_is_the_identity(given_spans: list[Span]) -> None:
    batch = to_batch([(span, NOT_UNDERSTOOD) for span in given_spans])
    found = read_bytes(w.parquet_of(batch), strict=True)
    assert found.spans == given_spans


@given(records(SCALARS))
def test_the_console_form_keeps_all_but_the_scope_and_nanoseconds(given_spans: list[Span]) -> None:
    lines = w.as_lines(w.console_rows(given_spans))
    found = read_bytes(lines, format_name="otel-console", strict=True).spans
    scopeless = [msgspec.structs.replace(to_micro(s), scope_name="") for s in given_spans]
    assert found == scopeless


@given(records(texts()))
@pytest.mark.parametrize(
    "write",
    [
        lambda s: w.as_lines(w.clickhouse_rows(s)),
        lambda s: w.as_page(w.clickhouse_rows(s)),
        w.clickhouse_parquet,
    ],
    ids=["lines", "json", "parquet"],
)
def test_clickhouse_keeps_texts_to_the_nanosecond(
    write: Callable[[list[Span]], bytes], given_spans: list[Span]
) -> None:
    found = read_bytes(write(given_spans), strict=True).spans
    assert found == given_spans


@given(records(SCALARS))
def test_phoenix_keeps_flat_attributes(given_spans: list[Span]) -> None:
    page = w.as_page(w.phoenix_api_rows(given_spans))
    found = read_bytes(page, strict=True).spans
    for got, sent in zip(found, given_spans, strict=True):
        want = {"openinference.span.kind": "UNKNOWN"} | sent.attributes
        assert got.attributes == want
        assert (got.span_id, got.parent_span_id) == (sent.span_id, sent.parent_span_id)
        assert (got.start_ns, got.end_ns) == (to_micro(sent).start_ns, to_micro(sent).end_ns)
        assert got.events == to_micro(sent).events


@given(st.lists(span_values(ids=hex_ids(16), parents=hex_ids(16), rich=False), max_size=5))
def test_reading_does_not_depend_on_how_records_are_wrapped(given_spans: list[Span]) -> None:
    rows = w.clickhouse_rows(given_spans)
    shapes = [w.as_lines(rows), w.as_array(rows), w.as_page(rows)]
    read = [read_bytes(s, format_name="clickhouse-otel", strict=True).spans for s in shapes if rows]
    assert all(one == read[0] for one in read)
