"""MLflow's stored traces: `Trace.to_dict()`, `to_json()` and the `traces.json` artifact.

One thing a newcomer would get wrong: ids are base64 in MLflow 3 and hex with `0x` before; and
attribute values are JSON text inside text, which they stay, as in MLflow's own OTLP export.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.errors import SpanError
from trajscope.formats._row import Row, present
from trajscope.formats._rows import RowFormat, build_each
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent, SpanLink
from trajscope.otlp import to_id

_SESSION = "mlflow.trace.session"
_COPIES = frozenset({"mlflow.traceInputs", "mlflow.traceOutputs", "mlflow.artifactLocation"})
"""Trace metadata that repeats a span's attributes, or names a place on somebody's disk."""


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a trace with MLflow's info or with spans that have MLflow's attributes."""
    info, data = record.get("info"), record.get("data")
    if isinstance(info, dict) and ("data" in record or "trace_id" in info or "request_id" in info):
        own = ("trace_location", "trace_metadata", "request_metadata", "request_time", "tags")
        if any(name in info for name in own):
            return 3
    spans = (data if isinstance(data, dict) else record).get("spans")
    if isinstance(spans, list) and spans and isinstance(spans[0], dict):
        attributes = spans[0].get("attributes")
        if isinstance(attributes, dict) and any(k.startswith("mlflow.") for k in attributes):
            return 3
    return 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the spans of a trace."""
    info = row.row("info")
    data = row.row("data") if "data" in row.members else row
    about = _about(info)
    session = info.mapping("trace_metadata", "request_metadata").get(_SESSION)
    own = present({_SESSION: session if isinstance(session, str) else None})
    return build_each(data.rows("spans"), lambda part: [_span(part, about, own)])


def _about(info: Row) -> dict[str, Json]:
    """What MLflow keeps of the whole trace: tags and metadata, as the resource of its spans."""
    kept = {**info.mapping("tags"), **info.mapping("trace_metadata", "request_metadata")}
    return present({k: v for k, v in kept.items() if k not in _COPIES})


def _span(row: Row, about: dict[str, Json], own: dict[str, Json]) -> Span:
    ids = row.row("context") if "context" in row.members else row
    trace_id, span_id = _id(ids, "trace_id", 16), _id(ids, "span_id", 8)
    if not trace_id or not span_id:
        row.refuse("span_id", ids.get("span_id"), "ids that are not all zeros")
    parent = _id(row, "parent_span_id" if "parent_span_id" in row.members else "parent_id", 8)
    old = "status" not in row.members
    status = row if old else row.row("status")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent or None,
        name=row.text("name"),
        start_ns=row.time("start_time_unix_nano", "start_time", "start_time_ns"),
        end_ns=row.time("end_time_unix_nano", "end_time", "end_time_ns"),
        status_code=status.status("status_code" if old else "code"),
        status_message=status.text("status_message" if old else "message"),
        attributes=row.mapping("attributes") | ({} if parent else own),
        events=tuple(_event(part) for part in row.rows("events")),
        links=tuple(_links(row)),
        resource=about,
    )


def _id(row: Row, name: str, size: int) -> str:
    """An id as lower-case hex: base64 (MLflow 3), `0x…` (MLflow 2), or `tr-…` (its trace ids)."""
    text = row.id(name).removeprefix("tr-")
    try:
        return to_id(text, size, name)
    except SpanError:
        return to_hex(text, 2 * size)


def _event(part: Row) -> SpanEvent:
    value = part.get("time_unix_nano", "timestamp")
    is_micro = isinstance(value, int) and value < 10**17  # MLflow 2 wrote some in microseconds
    time_ns = part.time("time_unix_nano", "timestamp", unit="us" if is_micro else "ns")
    return SpanEvent(part.text("name"), time_ns, part.mapping("attributes"))


def _links(row: Row) -> Iterator[SpanLink]:
    for part in row.rows("links"):
        trace_id, span_id = _id(part, "trace_id", 16), _id(part, "span_id", 8)
        if trace_id and span_id:
            yield SpanLink(trace_id, span_id, part.mapping("attributes"))


FORMAT = RowFormat(
    name="mlflow-trace",
    description="MLflow's stored traces: Trace.to_dict() and to_json(), of MLflow 2 and 3.",
    judge=judge,
    read_row=read_row,
)
