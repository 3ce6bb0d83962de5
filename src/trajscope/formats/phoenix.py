"""Phoenix spans: the REST API, and its dataframe as JSON lines or Parquet.

Built from Phoenix's API and client documentation; no recording exists. One thing a newcomer would
get wrong: Phoenix *nests* what OpenInference flattens, and decodes some JSON text on the way; the
attributes are flattened again to the names the spans had.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.formats._flatten import flattened
from trajscope.formats._row import Row
from trajscope.formats._rows import RowFormat
from trajscope.formats._times import to_hex
from trajscope.model.span import Json, Span, SpanEvent

_KIND = "openinference.span.kind"
_COLUMN = "attributes."
_WHOLE = (
    *("metadata", "input.value", "output.value", "llm.invocation_parameters", "tool.parameters"),
    *("json_schema", "function.arguments", "prompt_template.variables", "document.metadata"),
    *("function_call_arguments_json", "embedding.vector", "tag.tags"),
)
"""Ends of the names of attributes that hold JSON text, which stays one attribute decoded or not."""


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a span with Phoenix's `span_kind` beside a context."""
    has_context = isinstance(record.get("context"), dict) or "context.trace_id" in record
    if not has_context:
        return 0
    if "span_kind" in record or any(k.startswith(_COLUMN) for k in record):
        return 3
    return 2 if "status_code" in record and "parent_id" in record else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the record."""
    ids = row if "context.trace_id" in row.members else row.row("context")
    prefix = "context." if ids is row else ""
    trace_id = to_hex(ids.required_id(prefix + "trace_id"), 32)
    span_id = to_hex(ids.required_id(prefix + "span_id"), 16)
    if not trace_id or not span_id:
        ids.refuse(prefix + "span_id", ids.get(prefix + "span_id"), "ids that are not all zeros")
    yield Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=to_hex(row.id("parent_id"), 16) or None,
        name=row.text("name"),
        start_ns=row.time("start_time", unit="ms"),
        end_ns=row.time("end_time", unit="ms"),
        status_code=row.status("status_code"),
        status_message=row.text("status_message"),
        attributes=_attributes(row),
        events=tuple(_event(part) for part in row.rows("events")),
    )


def _attributes(row: Row) -> dict[str, Json]:
    columns = {k.removeprefix(_COLUMN): v for k, v in row.members.items() if k.startswith(_COLUMN)}
    found = flattened(row.mapping("attributes") | columns, _is_whole)
    kind = row.text("span_kind")
    return found if _KIND in found or not kind else found | {_KIND: kind}


def _is_whole(name: str) -> bool:
    return name.endswith(_WHOLE)


def _event(part: Row) -> SpanEvent:
    return SpanEvent(
        part.text("name"), part.time("timestamp", unit="ms"), part.mapping("attributes")
    )


FORMAT = RowFormat(
    name="phoenix",
    description="Phoenix spans: its REST API, its dataframe as JSON lines or Parquet.",
    judge=judge,
    read_row=read_row,
    members=("data",),
    has_parquet=True,
)
