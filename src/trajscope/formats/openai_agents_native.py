"""What the OpenAI Agents SDK exports itself: `trace` and `trace.span` objects.

One thing a newcomer would get wrong: the trace is an object without times and no span; what it
knows (the session) is put on the spans without a parent. Spans are listed in the order they ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.errors import Problems
from trajscope.formats._peek import first_records
from trajscope.formats._row import Row, present
from trajscope.formats._rows import build_each, iter_rows
from trajscope.model.span import Json, Span
from trajscope.ports import Source

PREFIX = "openai.agents."
_MEMBERS = ("data",)


class OpenAIAgentsNative:
    """The format."""

    name = "openai-agents-native"
    description = (
        "The OpenAI Agents SDK's own export: trace and trace.span objects as an array, JSON "
        "lines, or the body it sends ({data: […]})."
    )

    def sniff(self, source: Source) -> int:
        """Return 3 when one of the first objects says it is a `trace` or a `trace.span`."""
        records = first_records(source.head, _MEMBERS)
        return 3 if any(r.get("object") in ("trace", "trace.span") for r in records) else 0

    def read(self, source: Source, problems: Problems) -> Iterator[Span]:
        """Yield the spans in file order; a trace's object comes before its spans."""
        traces: dict[str, dict[str, Json]] = {}

        def build(row: Row) -> Iterator[Span]:
            kind = row.text("object")
            if kind == "trace":
                traces[row.required_id("id")] = _about(row)
            elif kind == "trace.span":
                yield _span(row, traces)
            else:
                row.refuse("object", kind, "trace or trace.span")

        return build_each(iter_rows(source, problems, _MEMBERS), build)


def _about(row: Row) -> dict[str, Json]:
    """What the trace's object knows, as attributes of its outermost spans."""
    known = {n: row.get(n) for n in ("workflow_name", "group_id", "metadata")}
    return present({PREFIX + k: v for k, v in known.items() if v != {}})


def _span(row: Row, traces: dict[str, dict[str, Json]]) -> Span:
    trace_id, span_id = row.required_id("trace_id"), row.required_id("id")
    parent = row.id("parent_id")
    data = row.mapping("span_data")
    error = row.row("error") if isinstance(row.get("error"), dict) else None
    attributes = {PREFIX + k: v for k, v in data.items() if v is not None}
    if not parent:
        attributes |= traces.get(trace_id, {})
    if row.get("error") is not None:
        attributes[PREFIX + "error"] = row.get("error")
    name = data.get("name")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent or None,
        name=name if isinstance(name, str) and name else _label(data),
        start_ns=row.time("started_at", unit="s"),
        end_ns=row.time("ended_at", unit="s"),
        status_code="ERROR" if row.get("error") is not None else "UNSET",
        status_message=_message(row, error),
        attributes=attributes,
    )


def _label(data: dict[str, Json]) -> str:
    """A label for a span without a name: its type, and of a handoff where it goes."""
    kind, target = data.get("type"), data.get("to_agent")
    words = [w for w in (kind, target) if isinstance(w, str)]
    return " to ".join(words) if words else "span"


def _message(row: Row, error: Row | None) -> str:
    """The error's text: of a failed tool the error inside is more telling than the message."""
    if error is None:
        return row.get("error") if isinstance(row.get("error"), str) else ""
    data = error.members.get("data")
    inner = data.get("error") if isinstance(data, dict) else None
    parts = [error.text("message"), inner if isinstance(inner, str) else ""]
    return ": ".join(p for p in parts if p)


FORMAT = OpenAIAgentsNative()
