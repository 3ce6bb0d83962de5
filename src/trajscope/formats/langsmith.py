"""LangSmith runs: API pages, JSON lines, and the bulk export to Parquet.

Built from LangSmith's run data format and bulk export documentation; no recording exists. One thing
a newcomer would get wrong: a run's `session_id` is its *project*; the conversation is `thread_id`
or its like in the metadata. Runs are handed over under the names of LangSmith's own OTLP export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajscope.errors import SpanError
from trajscope.formats._row import Row, decode_text, present
from trajscope.formats._rows import RowFormat
from trajscope.model.span import Json, Span, SpanEvent

_METADATA = "langsmith.metadata."
_OWN = (
    "dotted_order",
    "parent_run_id",
    "parent_run_ids",
    "trace_id",
    "child_run_ids",
    "child_runs",
)
_DOTTED = re.compile(r"\d{8}T\d{6,12}Z([0-9a-fA-F-]{32,36})", re.ASCII)


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a run with its type and place in a trace, 2 for its outer shape."""
    if "run_type" not in record or "id" not in record:
        return 0
    return 3 if any(name in record for name in _OWN) else 2


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of the run, and those of runs nested in it."""
    stack = [(row, "", "")]
    while stack:
        run, trace_id, parent = stack.pop()
        try:
            span = _span(run, trace_id, parent)
        except SpanError as error:
            run.report.add_error(error, lost="the run and those in it are left out")
            continue
        yield span
        if isinstance(run.get("child_runs"), list):
            inner = [(part, span.trace_id, span.span_id) for part in run.rows("child_runs")]
            stack.extend(reversed(inner))


def _span(row: Row, trace_id: str, parent: str) -> Span:
    span_id = row.required_id("id")
    above = _DOTTED.findall(row.text("dotted_order"))
    listed = [p for p in row.list("parent_run_ids") if isinstance(p, str)]
    parent = row.id("parent_run_id") or parent or (above[-2:-1] or listed[-1:] or [""])[0]
    error = row.text("error")
    failed = bool(error) or row.text("status") == "error"
    end = row.time("end_time", unit="ms")
    return Span(
        trace_id=row.id("trace_id") or trace_id or (above[:1] or listed[:1] or [span_id])[0],
        span_id=span_id,
        parent_span_id=parent or None,
        name=row.text("name"),
        start_ns=row.time("start_time", unit="ms"),
        end_ns=None if row.text("status") == "pending" else end,
        status_code="ERROR" if failed else "UNSET" if end is None else "OK",
        status_message=error,
        scope_name="langsmith",
        attributes=_attributes(row),
        events=tuple(_events(row)),
    )


def _attributes(row: Row) -> dict[str, Json]:
    kind = row.text("run_type")
    extra = row.row("extra")
    parameters = extra.mapping("invocation_params")
    inputs = row.get("inputs")
    found = {
        "langsmith.span.kind": kind,
        "langsmith.trace.name": row.get("name"),
        "langsmith.trace.session_id": row.get("session_id"),
        "langsmith.trace.session_name": row.get("session_name"),
        "langsmith.span.tags": row.get("tags") or None,
        "gen_ai.prompt": _unwrapped(inputs) if kind == "tool" else inputs,
        "gen_ai.completion": row.get("outputs"),
        "gen_ai.request.model": parameters.get("model") or parameters.get("model_name"),
        "gen_ai.usage.input_tokens": row.get("prompt_tokens"),
        "gen_ai.usage.output_tokens": row.get("completion_tokens"),
        "gen_ai.usage.total_tokens": row.get("total_tokens"),
    }
    if kind == "tool":
        found["gen_ai.tool.name"] = row.get("name")
        found["gen_ai.tool.call.id"] = extra.get("tool_call_id")
    metadata = {**row.mapping("metadata"), **extra.mapping("metadata")}
    return present(found | {_METADATA + k: v for k, v in metadata.items()})


def _unwrapped(inputs: Json) -> Json:
    """A tool's inputs without LangChain's wrapper: `{"input": "<repr of the arguments>"}`."""
    value = decode_text(inputs) if isinstance(inputs, str) else inputs
    if isinstance(value, dict) and value.keys() == {"input"}:
        inner = value["input"]
        if isinstance(inner, str) and inner.startswith(("{'", "{}")):
            return inner
    return inputs


def _events(row: Row) -> Iterator[SpanEvent]:
    """The run's events, and its error as the exception that it was in LangSmith's OTLP export."""
    value = row.get("events")
    if isinstance(value, list | str) and value:
        for part in row.rows("events"):
            rest = {k: v for k, v in part.members.items() if k not in ("name", "time")}
            yield SpanEvent(part.text("name"), part.time("time", unit="ms"), present(rest))
    if error := row.text("error"):
        yield SpanEvent(
            "exception",
            row.time("end_time", unit="ms"),
            {"exception.type": _error_type(error), "exception.message": error},
        )


def _error_type(error: str) -> str:
    """The type an error text begins with (`ValueError('…')`), else LangSmith's `Exception`."""
    match = re.match(r"[A-Za-z_][\w.]{0,80}(?=\()", error)
    return match[0] if match else "Exception"


FORMAT = RowFormat(
    name="langsmith",
    description="LangSmith runs: API pages, JSON lines, and its bulk export to Parquet.",
    judge=judge,
    read_row=read_row,
    members=("runs", "data"),
    has_parquet=True,
)
