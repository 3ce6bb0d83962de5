"""A span of the SDK is read as the OTLP is that the SDK's own exporter writes for it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from tests.support.spans import texts, times_ns
from trajscope.errors import Problems
from trajscope.model.span import LogRecord, Span
from trajscope.otlp import Report, records_from_protobuf
from trajscope.telemetry._spans import is_local_root, to_span


def contexts(*, remote: bool = False) -> st.SearchStrategy[SpanContext]:
    return st.builds(
        SpanContext,
        st.integers(1, 2**128 - 1),
        st.integers(1, 2**64 - 1),
        is_remote=st.booleans() if remote else st.just(False),
        trace_flags=st.just(TraceFlags(1)),
        trace_state=st.sampled_from([TraceState(), TraceState([("a", "1"), ("b", "x y")])]),
    )


def values() -> st.SearchStrategy[Any]:
    one = (
        st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=True)
        | texts()
        | st.binary(max_size=4)
    )
    many = st.lists(texts(), max_size=3).map(tuple) | st.lists(st.integers(0, 9)).map(tuple)
    return one | many


def attributes() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts().filter(bool), values(), max_size=3)


def sdk_spans() -> st.SearchStrategy[ReadableSpan]:
    statuses = st.sampled_from(
        [Status(), Status(StatusCode.OK), Status(StatusCode.ERROR, "it broke")]
    )
    return st.builds(
        ReadableSpan,
        name=texts(),
        context=contexts(),
        parent=st.none() | contexts(remote=True),
        resource=attributes().map(Resource),
        attributes=attributes(),
        events=st.lists(st.builds(Event, texts(), attributes(), st.integers(0, 2**63)), max_size=2),
        links=st.lists(st.builds(Link, contexts(), attributes()), max_size=2),
        kind=st.sampled_from(SpanKind),
        status=statuses,
        start_time=times_ns(),
        end_time=times_ns(),
        instrumentation_scope=st.none()
        | st.builds(InstrumentationScope, texts(), st.none() | texts()),
    )


def through_otlp(span: ReadableSpan) -> list[Span | LogRecord]:
    problems = Problems(strict=True)
    message = encode_spans([span]).SerializeToString()
    return list(records_from_protobuf(message, Report(problems)))


@given(sdk_spans())
def test_a_span_is_what_a_collector_would_have_written(span: ReadableSpan) -> None:
    assert [to_span(span)] == through_otlp(span)


@given(sdk_spans())
def test_a_root_has_no_parent_in_this_process(span: ReadableSpan) -> None:
    assert is_local_root(span) == (span.parent is None or span.parent.is_remote)
    assert (to_span(span).parent_span_id is None) == (span.parent is None)
