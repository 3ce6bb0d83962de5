"""Spans for tests: a factory for one by hand, and hypothesis strategies for many.

One thing a newcomer would get wrong: `spans()` draws ids out of only eight for up to thirty spans,
so repeats, self-parents, cycles and several roots are the common case and not the rare one.
A parent may also be an id no span has (an orphan).
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from trajscope.model.span import Json, Span, SpanEvent, SpanLink

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
IDS = tuple(f"{n:016x}" for n in range(1, 9))
"""The eight span ids `spans()` draws from."""
MISSING = tuple(f"dead{n:012x}" for n in range(1, 3))
"""Parent ids no span ever has."""
T0 = 1_772_528_400_000_000_000
"""2026-03-03T09:00:00Z in nanoseconds: a start for examples."""


def span_id(n: int) -> str:
    """Return `n` as a span id of 16 hex digits."""
    return f"{n:016x}"


def span(
    id: int | str = 1,
    parent: int | str | None = None,
    start_ns: int | None = 0,
    end_ns: int | None = None,
    **fields: Any,
) -> Span:
    """Return a span; whole numbers become ids of 16 hex digits, so trees read as numbers.

    `end_ns` left out is one nanosecond after the start; give `end_ns=None` through `open_span`
    for a span that has not ended. Every other field of `Span` may be given by keyword.

    >>> span(2, parent=1, name="child").parent_span_id
    '0000000000000001'
    """
    end = end_ns if end_ns is not None or start_ns is None else start_ns + 1
    return open_span(id, parent, start_ns, end_ns=end, **fields)


def open_span(
    id: int | str = 1,
    parent: int | str | None = None,
    start_ns: int | None = 0,
    **fields: Any,
) -> Span:
    """Return a span that has not ended, unless `end_ns` is given."""
    given = {"trace_id": TRACE_ID, "name": f"span {id}", **fields}
    return Span(
        span_id=span_id(id) if isinstance(id, int) else id,
        parent_span_id=span_id(parent) if isinstance(parent, int) else parent,
        start_ns=start_ns,
        **given,
    )


def texts(max_size: int = 12) -> st.SearchStrategy[str]:
    """Text as UTF-8 can hold it: anything but lone surrogates; NUL and escapes included."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)


def attribute_values(max_leaves: int = 6) -> st.SearchStrategy[Json]:
    """Values an OTLP AnyValue can hold and give back unchanged (no NaN, ints of 64 bits)."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts()
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
        max_leaves=max_leaves,
    )


def attributes(max_size: int = 3) -> st.SearchStrategy[dict[str, Json]]:
    """Attributes of a span, event, link or resource."""
    return st.dictionaries(texts(), attribute_values(), max_size=max_size)


def hex_ids(digits: int) -> st.SearchStrategy[str]:
    """Lower-case hex ids that are not all zeros."""
    return st.integers(1, 16**digits - 1).map(lambda n: f"{n:0{digits}x}")


def times_ns(*, narrow: bool = False) -> st.SearchStrategy[int]:
    """Times in nanoseconds: the full 64 bits, or `narrow` (1 to 20) so that ties are common."""
    return st.integers(1, 20) if narrow else st.integers(1, 2**64 - 1)


def span_values(
    *,
    trace_ids: st.SearchStrategy[str] | None = None,
    ids: st.SearchStrategy[str] | None = None,
    parents: st.SearchStrategy[str] | None = None,
    narrow: bool = True,
    rich: bool = True,
) -> st.SearchStrategy[Span]:
    """One span. `rich` fills attributes, events, links and resource; else they stay empty."""
    plain: dict[str, st.SearchStrategy[Any]] = {
        "trace_id": st.just(TRACE_ID) if trace_ids is None else trace_ids,
        "span_id": st.sampled_from(IDS) if ids is None else ids,
        "parent_span_id": st.none()
        | (st.sampled_from(IDS + MISSING) if parents is None else parents),
        "name": texts(),
        "kind": st.sampled_from(
            ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
        ),
        "start_ns": st.none() | times_ns(narrow=narrow),
        "end_ns": st.none() | times_ns(narrow=narrow),
        "status_code": st.sampled_from(["UNSET", "OK", "ERROR"]),
        "status_message": texts(),
    }
    if rich:
        plain |= {
            "trace_state": texts(),
            "scope_name": texts(),
            "scope_version": texts(),
            "attributes": attributes(),
            "events": st.lists(
                st.builds(SpanEvent, texts(), st.none() | times_ns(narrow=narrow), attributes()),
                max_size=2,
            ).map(tuple),
            "links": st.lists(
                st.builds(SpanLink, hex_ids(32), hex_ids(16), attributes()), max_size=2
            ).map(tuple),
            "resource": attributes(),
        }
    return st.builds(Span, **plain)


def spans(
    *, min_size: int = 0, max_size: int = 30, traces: int = 1, rich: bool = False
) -> st.SearchStrategy[list[Span]]:
    """Spans of `traces` traces with few ids: repeats, cycles, self-parents, orphans, ties.

    `rich` also draws attributes, events, links, resources; leave it off for laws about shape.
    """
    trace_ids = st.sampled_from([f"{n:032x}" for n in range(1, traces + 1)])
    one = span_values(trace_ids=trace_ids if traces > 1 else None, narrow=True, rich=rich)
    return st.lists(one, min_size=min_size, max_size=max_size)


def any_spans(*, max_size: int = 6) -> st.SearchStrategy[list[Span]]:
    """Spans with ids, times and values over the whole range OTLP allows."""
    one = span_values(
        trace_ids=hex_ids(32), ids=hex_ids(16), parents=hex_ids(16), narrow=False, rich=True
    )
    return st.lists(one, max_size=max_size)
