"""Spans made from log records of programs that log what they do.

One thing a newcomer would get wrong: a record is written when the work *ended*; its start is that
time less the duration the record gives, and without one the span is a point in time.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from trajscope.model.span import Json, LogRecord, Span
from trajscope.values import count_of

_NS_PER_MS = 1_000_000


def standin(
    record: LogRecord,
    name: str,
    *,
    group: str,
    parent: str | None = None,
    span_id: str | None = None,
    **extra: Json,
) -> Span:
    """Return the span a record stands for, in the trace `group` where its own is not recorded.

    The id is the record's content in sixteen digits, so the same record, sent twice, is one span.
    """
    ended = record.time_ns
    duration = count_of(record.attributes.get("duration_ms")) or 0
    return Span(
        trace_id=group,
        span_id=span_id or _digest(record),
        parent_span_id=parent,
        name=name,
        start_ns=None if ended is None else ended - duration * _NS_PER_MS,
        end_ns=ended,
        scope_name=record.scope_name,
        attributes={**record.attributes, **extra},
        resource=record.resource,
    )


def _digest(record: LogRecord) -> str:
    content = msgspec.json.encode(record, order="deterministic")
    return blake2b(content, digest_size=8).hexdigest()
