"""Langfuse observations: the public API, a trace with its observations, exports to blob storage.

Built from Langfuse's API and export documentation; no recording exists. One thing a newcomer would
get wrong: an observation is handed over under the names Langfuse's own OTLP export uses
(`langfuse.observation.*`), and the attributes of the span it was ingested from, where the metadata
still holds them, stand beside those.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.formats._row import Row, decode_text, present
from trajscope.formats._rows import RowFormat, build_each
from trajscope.model.span import Json, Span

_OBSERVATION = "langfuse.observation."
_PARENTS = ("parentObservationId", "parent_observation_id", "parent_span_id")
_OWN = {
    *_PARENTS[:2],
    *("usageDetails", "usage_details", "statusMessage", "status_message"),
    *("providedModelName", "provided_model_name", "modelParameters", "model_parameters"),
    *("completionStartTime", "completion_start_time", "costDetails", "cost_details"),
}
_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR"}
    | {"EMBEDDING", "GUARDRAIL"}
)
_FIELDS: dict[str, tuple[str, ...]] = {
    "input": ("input",),
    "output": ("output",),
    "level": ("level",),
    "status_message": ("statusMessage", "status_message"),
    "model.name": ("providedModelName", "provided_model_name", "model"),
    "model.parameters": ("modelParameters", "model_parameters"),
    "usage_details": ("usageDetails", "usage_details"),
    "cost_details": ("costDetails", "cost_details"),
    "completion_start_time": ("completionStartTime", "completion_start_time"),
    "prompt.name": ("promptName", "prompt_name"),
    "prompt.version": ("promptVersion", "prompt_version"),
    "tool_calls": ("toolCalls", "tool_calls"),
    "tool_call_names": ("toolCallNames", "tool_call_names"),
    "tool_definitions": ("toolDefinitions", "tool_definitions"),
}
"""Attributes of an observation, after `langfuse.observation.`, and the members that hold them."""
_TRACE_FIELDS: dict[str, tuple[str, ...]] = {
    "session.id": ("sessionId", "session_id"),
    "user.id": ("userId", "user_id"),
    "langfuse.trace.name": ("traceName", "trace_name"),
    "langfuse.trace.tags": ("tags",),
    "langfuse.release": ("release",),
    "langfuse.version": ("version",),
    "langfuse.environment": ("environment",),
}


def judge(record: dict[str, Json]) -> int:
    """Return 3 for an observation, or a trace of the API with its observations."""
    if isinstance(record.get("observations"), list) and "id" in record:
        return 3
    if "id" not in record or not ("traceId" in record or "trace_id" in record):
        return 0
    if "type" not in record or not ("startTime" in record or "start_time" in record):
        return 0
    if not _OWN.isdisjoint(record):
        return 3
    kind = record["type"]
    return 2 if isinstance(kind, str) and kind.upper() in _TYPES else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the span of an observation, or those of a trace's observations."""
    if "observations" not in row.members:
        yield _span(row, {}, "")
        return
    names = {**_TRACE_FIELDS, "langfuse.trace.name": ("name",)}
    about, trace_id = _fields(row, names), row.id("id")
    yield from build_each(row.rows("observations"), lambda part: [_span(part, about, trace_id)])


def _span(row: Row, trace: dict[str, Json], trace_id: str) -> Span:
    said = _decoded(row.get("metadata"))
    metadata = said if isinstance(said, dict) else {}
    recorded = {k: _object(metadata.get(k)) for k in ("attributes", "resourceAttributes", "scope")}
    kind = row.text("type").upper()
    start = row.time("startTime", "start_time", unit="ms")
    end = row.time("endTime", "end_time", unit="ms")
    is_error = row.text("level").upper() == "ERROR"
    own = {_OBSERVATION + k: v for k, v in _fields(row, _FIELDS).items()}
    rest = {k: v for k, v in metadata.items() if not recorded.get(k)}
    attributes = present(
        trace
        | _fields(row, _TRACE_FIELDS)
        | {_OBSERVATION + "type": kind.lower()}
        | own
        | _usage(row, own)
        | {f"{_OBSERVATION}metadata.{k}": v for k, v in rest.items()}
        | {_OBSERVATION + "metadata": None if isinstance(said, dict) else said}
    )
    scope = recorded["scope"]
    return Span(
        trace_id=row.id("traceId", "trace_id") or trace_id or row.required_id("traceId"),
        span_id=row.required_id("id"),
        parent_span_id=row.id(*_PARENTS) or None,
        name=row.text("name"),
        start_ns=start,
        end_ns=start if kind == "EVENT" and end is None else end,
        status_code="ERROR" if is_error else "UNSET",
        status_message=row.text("statusMessage", "status_message"),
        scope_name=_text(scope.get("name")),
        scope_version=_text(scope.get("version")),
        attributes=present(recorded["attributes"]) | attributes,
        resource=present(recorded["resourceAttributes"]),
    )


def _fields(row: Row, names: dict[str, tuple[str, ...]]) -> dict[str, Json]:
    found = {name: row.get(*members) for name, members in names.items()}
    return {k: v for k, v in found.items() if v not in (None, "", [], {})}


def _usage(row: Row, own: dict[str, Json]) -> dict[str, Json]:
    """Token counts of API versions before `usageDetails`: an object, or members of their own."""
    if _OBSERVATION + "usage_details" in own:
        return {}
    old = row.get("usage")
    if isinstance(old, dict):
        counts = {k: v for k, v in old.items() if k in ("input", "output", "total")}
    else:
        names = (("input", "promptTokens"), ("output", "completionTokens"))
        counts = {name: row.get(member) for name, member in names}
    if not any(counts.values()):  # Langfuse wrote zeros where nothing was counted
        return {}
    return {_OBSERVATION + "usage_details": {k: v for k, v in counts.items() if v is not None}}


def _decoded(value: Json) -> Json:
    """A value of the metadata; exports write it as text."""
    return decode_text(value) if isinstance(value, str) else value


def _object(value: Json) -> dict[str, Json]:
    value = _decoded(value)
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


FORMAT = RowFormat(
    name="langfuse",
    description="Langfuse observations: API pages and traces, blob exports (JSON lines, Parquet).",
    judge=judge,
    read_row=read_row,
    members=("data",),
    has_parquet=True,
)
