"""Writes spans in the formats no recording exists of, as the documentation of each says.

One thing a newcomer would get wrong: a writer loses what its format loses (types, scopes,
nanoseconds), so a test may compare what comes back only as far as that goes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trajscope.model.span import Json, Span

Rows = list[dict[str, Any]]


def as_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    """One object a line."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_array(rows: Rows) -> bytes:
    """A pretty array."""
    return json.dumps(rows, indent=2).encode()


def as_page(rows: Rows, member: str = "data") -> bytes:
    """A page of an API."""
    return json.dumps({member: rows, "meta": {"page": 1}}).encode()


def as_parquet(rows: Rows, schema: pa.Schema | None = None) -> bytes:
    """A Parquet file in row groups of three."""
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, sink, row_group_size=3)
    return sink.getvalue()


def parquet_of(batch: pa.RecordBatch) -> bytes:
    """An Arrow batch as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_batches([batch]), sink)
    return sink.getvalue()


def iso(time_ns: int | None, *, digits: int = 6, separator: str = "T", zone: str = "Z") -> Any:
    """A time as text."""
    if time_ns is None:
        return None
    whole = datetime.fromtimestamp(time_ns // 10**9, UTC).strftime(f"%Y-%m-%d{separator}%H:%M:%S")
    fraction = f"{time_ns % 10**9:09d}"[:digits]
    return f"{whole}.{fraction}{zone}" if digits else whole + zone


def as_text(value: Json) -> str:
    """A value as OpenTelemetry turns it into text."""
    return value if isinstance(value, str) else json.dumps(value)


def console_rows(spans: Iterable[Span]) -> Rows:
    """`ReadableSpan.to_json`."""
    return [
        {
            "name": s.name,
            "context": {
                "trace_id": f"0x{s.trace_id}",
                "span_id": f"0x{s.span_id}",
                "trace_state": "[]",
            },
            "kind": f"SpanKind.{s.kind}",
            "parent_id": f"0x{s.parent_span_id}" if s.parent_span_id else None,
            "start_time": iso(s.start_ns),
            "end_time": iso(s.end_ns),
            "status": {"status_code": s.status_code}
            | ({"description": s.status_message} if s.status_message else {}),
            "attributes": s.attributes,
            "events": [
                {"name": e.name, "timestamp": iso(e.time_ns), "attributes": e.attributes}
                for e in s.events
            ],
            "links": [
                {
                    "context": {"trace_id": f"0x{k.trace_id}", "span_id": f"0x{k.span_id}"},
                    "attributes": k.attributes,
                }
                for k in s.links
            ],
            "resource": {"attributes": s.resource, "schema_url": ""},
        }
        for s in spans
    ]


def zipkin_rows(spans: Iterable[Span]) -> Rows:
    """Zipkin v2 as OpenTelemetry exports to it."""
    rows = []
    for s in spans:
        tags = {k: as_text(v) for k, v in s.attributes.items()}
        if s.status_code != "UNSET":
            tags["otel.status_code"] = s.status_code
        if s.status_code == "ERROR":
            tags["error"] = s.status_message
        tags |= {"otel.scope.name": s.scope_name, "otel.scope.version": s.scope_version}
        row: dict[str, Any] = {
            "traceId": s.trace_id,
            "id": s.span_id,
            "name": s.name,
            "timestamp": (s.start_ns or 0) // 1000,
            "localEndpoint": {"serviceName": s.service_name or "unknown"},
            "tags": tags,
            "annotations": [
                {
                    "timestamp": (e.time_ns or 0) // 1000,
                    "value": json.dumps({e.name: e.attributes}) if e.attributes else e.name,
                }
                for e in s.events
            ],
        }
        if s.parent_span_id:
            row["parentId"] = s.parent_span_id
        if s.kind in ("CLIENT", "SERVER", "PRODUCER", "CONSUMER"):
            row["kind"] = s.kind
        if s.duration_ns is not None:
            row["duration"] = max(1, s.duration_ns // 1000)
        rows.append(row)
    return rows


def clickhouse_rows(spans: Iterable[Span]) -> Rows:
    """`otel_traces` as JSONEachRow."""
    return [
        {
            "Timestamp": iso(s.start_ns, digits=9, separator=" ", zone=""),
            "TraceId": s.trace_id,
            "SpanId": s.span_id,
            "ParentSpanId": s.parent_span_id or "",
            "TraceState": s.trace_state,
            "SpanName": s.name,
            "SpanKind": s.kind.capitalize(),
            "ServiceName": s.service_name or "",
            "ResourceAttributes": {k: as_text(v) for k, v in s.resource.items()},
            "ScopeName": s.scope_name,
            "ScopeVersion": s.scope_version,
            "SpanAttributes": {k: as_text(v) for k, v in s.attributes.items()},
            "Duration": str(s.duration_ns or 0),
            "StatusCode": s.status_code.capitalize(),
            "StatusMessage": s.status_message,
            "Events.Timestamp": [
                iso(e.time_ns, digits=9, separator=" ", zone="") for e in s.events
            ],
            "Events.Name": [e.name for e in s.events],
            "Events.Attributes": [
                {k: as_text(v) for k, v in e.attributes.items()} for e in s.events
            ],
            "Links.TraceId": [k.trace_id for k in s.links],
            "Links.SpanId": [k.span_id for k in s.links],
            "Links.TraceState": ["" for _ in s.links],
            "Links.Attributes": [
                {k: as_text(v) for k, v in link.attributes.items()} for link in s.links
            ],
        }
        for s in spans
    ]


_WORDS = pa.map_(pa.string(), pa.string())
_NANO = pa.timestamp("ns")
CLICKHOUSE_SCHEMA = pa.schema(
    [
        ("Timestamp", _NANO),
        *((n, pa.binary()) for n in ("TraceId", "SpanId", "ParentSpanId", "TraceState")),
        *((n, pa.binary()) for n in ("SpanName", "SpanKind", "ServiceName")),
        ("ResourceAttributes", pa.map_(pa.binary(), pa.binary())),
        ("ScopeName", pa.binary()),
        ("ScopeVersion", pa.binary()),
        ("SpanAttributes", pa.map_(pa.binary(), pa.binary())),
        ("Duration", pa.uint64()),
        ("StatusCode", pa.string()),
        ("StatusMessage", pa.string()),
        ("Events.Timestamp", pa.list_(_NANO)),
        ("Events.Name", pa.list_(pa.string())),
        ("Events.Attributes", pa.list_(_WORDS)),
        ("Links.TraceId", pa.list_(pa.string())),
        ("Links.SpanId", pa.list_(pa.string())),
        ("Links.TraceState", pa.list_(pa.string())),
        ("Links.Attributes", pa.list_(_WORDS)),
    ]
)
"""How ClickHouse writes the table: texts as bytes, maps as maps."""


def clickhouse_parquet(spans: Iterable[Span]) -> bytes:
    """`otel_traces` as Parquet."""
    rows = clickhouse_rows(spans)
    for span, row in zip(spans, rows, strict=True):
        row["Timestamp"] = span.start_ns
        row["Duration"] = int(row["Duration"])
        row["Events.Timestamp"] = [e.time_ns for e in span.events]
        for name in ("ResourceAttributes", "SpanAttributes"):
            row[name] = [(k.encode(), v.encode()) for k, v in row[name].items()]
        for field in CLICKHOUSE_SCHEMA:
            if field.type == pa.binary():
                row[field.name] = row[field.name].encode()
        for name in ("Events.Attributes", "Links.Attributes"):
            row[name] = [list(part.items()) for part in row[name]]
    return as_parquet(rows, CLICKHOUSE_SCHEMA)


_LANGFUSE = "langfuse.observation."


def langfuse_api_rows(spans: Iterable[Span]) -> Rows:
    """Observations of the public API, inputs and outputs as text."""
    return [
        {
            "id": s.span_id,
            "traceId": s.trace_id,
            "startTime": iso(s.start_ns, digits=3),
            "endTime": iso(s.end_ns, digits=3),
            "parentObservationId": s.parent_span_id,
            "type": str(s.attributes.get(_LANGFUSE + "type", "span")).upper(),
            "name": s.name,
            "level": s.attributes.get(_LANGFUSE + "level", "DEFAULT"),
            "statusMessage": s.attributes.get(_LANGFUSE + "status_message", ""),
            "input": s.attributes.get(_LANGFUSE + "input"),
            "output": s.attributes.get(_LANGFUSE + "output"),
            "providedModelName": s.attributes.get(_LANGFUSE + "model.name", ""),
            "usageDetails": _langfuse_usage(s),
            "metadata": {"resourceAttributes": s.resource, "scope": {"name": s.scope_name}},
            "environment": "default",
            "sessionId": s.attributes.get("session.id", ""),
            "tags": [],
        }
        for s in spans
    ]


def _langfuse_usage(span: Span) -> dict[str, int]:
    text = span.attributes.get(_LANGFUSE + "usage_details")
    if text is None:
        return {}
    found = json.loads(text)
    kinds = ("prompt_tokens", "input"), ("completion_tokens", "output"), ("total_tokens", "total")
    return {name: found[key] for key, name in kinds}


def langfuse_export_rows(spans: Iterable[Span]) -> Rows:
    """Rows of the blob storage export."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "statusMessage": "status_message",
        "providedModelName": "provided_model_name",
        "usageDetails": "usage_details",
        "sessionId": "session_id",
    }
    rows = [
        {names.get(k, k): v for k, v in row.items() if k not in ("startTime", "endTime")}
        for row in langfuse_api_rows(spans)
    ]
    for span, row in zip(spans, rows, strict=True):
        row["start_time"] = iso(span.start_ns, separator=" ", zone="")
        row["end_time"] = iso(span.end_ns, separator=" ", zone="")
        row["parent_observation_id"] = row["parent_observation_id"] or ""
        row["input"], row["output"] = row["input"] or "", row["output"] or ""
        row["metadata"] = {k: as_text(v) for k, v in row["metadata"].items()}
    return rows


LANGFUSE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("trace_id", pa.string()),
        ("type", pa.dictionary(pa.int32(), pa.string())),
        ("parent_observation_id", pa.string()),
        ("start_time", pa.timestamp("us", "UTC")),
        ("end_time", pa.timestamp("us", "UTC")),
        *((n, pa.string()) for n in ("name", "level", "status_message", "input", "output")),
        ("provided_model_name", pa.string()),
        ("usage_details", pa.map_(pa.string(), pa.int64())),
        ("metadata", _WORDS),
        ("session_id", pa.string()),
        ("tags", pa.list_(pa.string())),
        ("latency", pa.float64()),
    ]
)


def langfuse_parquet(spans: Iterable[Span]) -> bytes:
    """The blob storage export as Parquet."""
    rows = langfuse_export_rows(spans)
    for span, row in zip(spans, rows, strict=True):
        row["start_time"] = None if span.start_ns is None else span.start_ns // 1000
        row["end_time"] = None if span.end_ns is None else span.end_ns // 1000
        row["usage_details"] = list(row["usage_details"].items())
        row["metadata"] = list(row["metadata"].items())
        row["latency"] = None
    return as_parquet(rows, LANGFUSE_SCHEMA)


def nested(attributes: dict[str, Json]) -> dict[str, Any]:
    """Attributes as Phoenix keeps them: nested at their dots, lists where the parts are numbers.

    Objects of a list keep dotted names inside, as in Phoenix's dataframe.
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        *path, leaf = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[leaf] = value
    return _listed(tree)  # type: ignore[no-any-return]


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(k.isdigit() for k in node):
        return [_dotted(_listed(node[k])) for k in sorted(node, key=int)]
    return {k: _listed(v) for k, v in node.items()}


def _dotted(node: Any, prefix: str = "") -> Any:
    if not isinstance(node, dict):
        return node
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if isinstance(value, dict):
            flat |= _dotted(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def phoenix_api_rows(spans: Iterable[Span]) -> Rows:
    """Spans of Phoenix's REST API."""
    return [
        {
            "id": f"U3Bhbjo{i}",
            "name": s.name,
            "context": {"trace_id": s.trace_id, "span_id": s.span_id},
            "span_kind": s.attributes.get("openinference.span.kind", "UNKNOWN"),
            "parent_id": s.parent_span_id,
            "start_time": iso(s.start_ns, zone="+00:00"),
            "end_time": iso(s.end_ns, zone="+00:00"),
            "status_code": s.status_code,
            "status_message": s.status_message,
            "attributes": s.attributes,
            "events": [
                {"name": e.name, "timestamp": iso(e.time_ns), "attributes": e.attributes}
                for e in s.events
            ],
        }
        for i, s in enumerate(spans)
    ]


def phoenix_frame_rows(spans: Iterable[Span]) -> Rows:
    """Rows of Phoenix's dataframe: a column per attribute, one level above lists nested."""
    rows = []
    for row in phoenix_api_rows(spans):
        context, attributes = row.pop("context"), nested(row.pop("attributes"))
        del row["id"]
        row |= {f"context.{k}": v for k, v in context.items()}
        if isinstance(attributes.get("metadata"), str):
            attributes["metadata"] = json.loads(attributes["metadata"])
        whole = {"metadata": attributes.pop("metadata", None)}
        row |= {f"attributes.{k}": v for k, v in (_dotted(attributes) | whole).items()}
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def phoenix_parquet(spans: Iterable[Span]) -> bytes:
    """Phoenix's dataframe as Parquet; metadata of mixed types fits no column but text."""
    rows = phoenix_frame_rows(spans)
    for row in rows:
        row["attributes.metadata"] = json.dumps(row.get("attributes.metadata"))
    return as_parquet(rows)


_LANGSMITH = "langsmith.metadata."


def langsmith_rows(spans: Iterable[Span]) -> Rows:
    """Runs of LangSmith's API."""
    rows = []
    for s in spans:
        a = s.attributes
        error = next((e.attributes["exception.message"] for e in s.events), None)
        rows.append(
            {
                "id": s.span_id,
                "trace_id": s.trace_id,
                "parent_run_id": s.parent_span_id,
                "name": s.name,
                "run_type": a["langsmith.span.kind"],
                "start_time": iso(s.start_ns, zone=""),
                "end_time": iso(s.end_ns, zone=""),
                "status": "error" if error else "success",
                "error": error,
                "session_id": "e2f7c1f0-0000-4000-8000-000000000001",
                "inputs": json.loads(a.get("gen_ai.prompt", "{}")),
                "outputs": json.loads(a.get("gen_ai.completion", "{}")),
                "prompt_tokens": a.get("gen_ai.usage.input_tokens", 0),
                "completion_tokens": a.get("gen_ai.usage.output_tokens", 0),
                "tags": [],
                "extra": {
                    "metadata": {
                        k.removeprefix(_LANGSMITH): v
                        for k, v in a.items()
                        if k.startswith(_LANGSMITH)
                    },
                    "runtime": {"sdk": "langsmith-py"},
                },
            }
        )
    return rows


def langsmith_parquet(spans: Iterable[Span]) -> bytes:
    """LangSmith's bulk export."""
    rows = langsmith_rows(spans)
    for span, row in zip(spans, rows, strict=True):
        for name in ("inputs", "outputs", "extra"):
            row[name] = json.dumps(row[name])
        for name, time_ns in (("start_time", span.start_ns), ("end_time", span.end_ns)):
            row[name] = None if time_ns is None else datetime.fromtimestamp(time_ns / 1e9, UTC)
    return as_parquet(rows)
