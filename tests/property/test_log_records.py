"""Laws of stored log records: whoever comes first, in whatever parts, the store says the same."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.logs import (
    READ,
    call_spans,
    loose_records,
    nested_spans,
    repeated_records,
    row_of,
)
from tests.support.stores import capture, empty_store, select, tables
from trajscope.assemble import assemble, join_logs
from trajscope.model.reading import StepType
from trajscope.model.span import LogRecord, Span
from trajscope.model.step_row import StepRow
from trajscope.store import Store
from trajscope.store.resolve import to_row

LAWS = settings(max_examples=10)
MORE_LAWS = settings(max_examples=25)

Sent = Span | LogRecord
TOLD = (("kind", READ.KINDS), ("id", ("a", "b")), ("session", ("s", "t")), ("name", ("m",)))


def ingest(store: Store, sent: list[Sent], name: str) -> Any:
    return store.ingest(capture(name), [row_of(one) for one in sent], READ)


def seen(step: StepRow) -> tuple[Any, ...]:
    tool = step.step_type is StepType.TOOL_CALL
    return step.step_id, step.depth, step.ord, step.agent, tool and step.result, step.failed


def before(span: Span, random: Any) -> Span:
    """A span as it was before it ended, when it may have told another thing."""
    told = random.choice([{}, *({name: other} for name, others in TOLD for other in others)])
    attributes = {**span.attributes, **told} if span.attributes else {}
    return msgspec.structs.replace(span, end_ns=None, attributes=attributes)


def with_versions(spans: list[Span], random: Any) -> list[Span]:
    """Every other span also as it was before."""
    return [*spans, *(before(span, random) for span in spans[::2])]


def whole(spans: list[Span], logs: list[LogRecord]) -> dict[str, list[str]]:
    with empty_store() as store:
        ingest(store, [*spans, *logs], "all")
        return tables(store)


@LAWS
@given(
    nested_spans | call_spans,
    repeated_records | loose_records,
    st.randoms(use_true_random=False),
    st.integers(1, 4),
)
def test_any_cut_and_any_order_give_the_same_store(
    spans: list[Span], logs: list[LogRecord], random: Any, parts: int
) -> None:
    spans = with_versions(spans, random)
    sent: list[Sent] = [*spans, *logs]
    random.shuffle(sent)
    with empty_store() as store:
        for at in range(parts):
            ingest(store, sent[at::parts], f"part {at}")
        found = tables(store)
    assert found == whole(spans, logs)


@MORE_LAWS
@given(call_spans, loose_records, st.randoms(use_true_random=False))
def test_a_fuller_version_of_a_span_leaves_nothing_of_what_it_said_before(
    spans: list[Span], logs: list[LogRecord], random: Any
) -> None:
    first: list[Sent] = [*(before(span, random) for span in spans), *logs]
    with empty_store() as store:
        ingest(store, first, "before")
        ingest(store, [*spans], "after")
        found = tables(store)
    assert found == whole(spans, logs)


@LAWS
@given(nested_spans, repeated_records)
def test_what_is_read_back_is_what_a_join_in_memory_gives(
    spans: list[Span], logs: list[LogRecord]
) -> None:
    expected = {(s.trace_id, s.span_id): s for s in join_logs(spans, logs, READ)}
    with empty_store() as store:
        ingest(store, [*logs], "logs")
        ingest(store, [*spans], "spans")
        found = [record for _, trace in store.iter_traces() for record in trace]
        kept = list(store.iter_logs())
    assert {(s.trace_id, s.span_id): (s, r) for s, r in found} == {
        key: (s, READ(s)) for key, s in expected.items()
    }
    assert sorted(map(repr, kept)) == sorted({repr(log): None for log in logs})


@LAWS
@given(nested_spans, repeated_records)
def test_trajectories_are_those_of_assemble(spans: list[Span], logs: list[LogRecord]) -> None:
    joined = join_logs(spans, logs, READ)
    with empty_store() as store:
        ingest(store, [*logs, *spans], "all")
        found = {row.trace_id: row for row in store.iter_rows()}
    for trajectory in assemble(joined, READ):
        own = [s for s in joined if s.trace_id == trajectory.trace_id]
        expected = to_row(trajectory, own)
        row = found.pop(trajectory.trace_id or "")
        assert list(map(seen, row.steps)) == list(map(seen, expected.steps))
    assert found == {}


@LAWS
@given(nested_spans, repeated_records, st.booleans())
def test_the_same_records_again_change_nothing(
    spans: list[Span], logs: list[LogRecord], renamed: bool
) -> None:
    with empty_store() as store:
        ingest(store, [*spans, *logs], "all")
        once = tables(store), select(store, "FROM log_records ORDER BY rowid")
        again = ingest(store, [*logs], "again" if renamed else "all")
        assert (tables(store), select(store, "FROM log_records ORDER BY rowid")) == once
    assert again.traces == 0


@LAWS
@given(nested_spans, repeated_records, st.integers(0, 5), st.booleans())
def test_after_a_prune_the_store_is_as_if_it_had_never_seen_the_rest(
    spans: list[Span], logs: list[LogRecord], before_ns: int, rehearse: bool
) -> None:
    with empty_store() as store:
        ingest(store, [*spans, *logs], "all")
        if rehearse:
            whole_store = tables(store)
            told = store.prune(before_ns, dry_run=True, read=READ)
            assert tables(store) == whole_store
            assert store.prune(before_ns, read=READ) == told
        else:
            store.prune(before_ns, read=READ)
        traces = {trace_id for trace_id, _ in store.iter_traces()}
        kept = list(store.iter_logs())
        found = tables(store)
    assert found == whole([span for span in spans if span.trace_id in traces], kept)
    gone = {span.trace_id for span in spans} - traces
    assert all(log.trace_id not in gone for log in kept)
