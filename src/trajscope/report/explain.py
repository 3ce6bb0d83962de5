"""Explanations of spans for terminals, and as JSON.

One thing a newcomer would get wrong: in the text, lists of attributes are cut to a line or two; the
JSON has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from trajscope.model.reading import TOOL_STEP_TYPES
from trajscope.pipeline.explain import ExplainedTrace, Explanation
from trajscope.report.text import safe_text

_WIDTH = 14
_MOST = 300
_OUTCOMES = {True: "failed", False: "not failed", None: "unknown"}


def explain_json(traces: Iterable[ExplainedTrace]) -> dict[str, Any]:
    """Return the document of `explain --json`: every span with all that is known of its reading."""
    return {
        "traces": [
            {"trace_id": trace.trace_id, "spans": [_span_json(s) for s in trace.spans]}
            for trace in traces
        ]
    }


def _span_json(explained: Explanation) -> dict[str, Any]:
    row = explained.row
    return {
        "span_id": row.span.span_id,
        "parent_span_id": row.span.parent_span_id,
        "span_name": row.span.name,
        "scope": row.span.scope_name,
        "depth": row.depth,
        "step_type": row.step_type.value if row.step_type else None,
        "name": row.name,
        "noise_reason": row.reason or None,
        "requested": row.requested,
        "requested_by": row.span.span_id if row.requested else None,
        "executed": row.executed,
        "tool_call_id": row.tool_call_id,
        "convention": None if row.requested else row.reading.convention or None,
        "claims": [claim._asdict() for claim in explained.claims],
        "sources": explained.sources,
        "failed": row.failed,
        "failure": row.failure,
        "failure_evidence": explained.evidence,
        "notes": list(row.notes),
        "repairs": [{"kind": r.kind, "detail": r.detail} for r in explained.repairs],
        "looked_at": list(explained.looked_at),
        "unused_attributes": list(explained.unused),
    }


def print_explanations(console: Console, traces: Iterable[ExplainedTrace]) -> None:
    """Print why every span became what it is."""
    for trace in traces:
        console.print(Text(f"trace {safe_text(trace.trace_id)}", style="bold"))
        for explained in trace.spans:
            for line in _lines(explained):
                console.print(line)


def _lines(explained: Explanation) -> Iterable[Text]:
    row = explained.row
    yield _head(explained)
    if row.step_type is None:
        yield _line("noise", row.reason, "dim")
    if row.requested:
        yield _line("asked by", f"{row.span.name} {row.span.span_id}")
        if row.tool_call_id:
            yield _line("call id", row.tool_call_id)
        ran = "no, it was refused" if row.failed else "nobody recorded it"
        yield _line("ran", "yes, by the messages" if row.executed else ran)
    else:
        yield from _claim_lines(explained)
    for field, source in explained.sources.items():
        if field != "failed":  # the outcome tells it
            yield _line(field, f"from {source}")
    if row.failed is not None or row.step_type in TOOL_STEP_TYPES:
        style = "red" if row.failed else None
        yield _line("outcome", f"{_OUTCOMES[row.failed]}: {explained.evidence}", style)
    if row.failed and row.failure:
        yield _line("failure", row.failure, "red")
    for note in row.notes:
        if not note.endswith(f": {explained.evidence}"):
            yield _line("note", note)
    for repair in explained.repairs:
        yield _line("repair", f"{repair.kind}: {repair.detail}", "yellow")
    if explained.looked_at:
        yield _line("looked at", _listed(explained.looked_at), "dim")
    if explained.unused:
        yield _line("not used", _listed(explained.unused), "dim")


def _head(explained: Explanation) -> Text:
    row = explained.row
    if row.requested:
        head = Text("requested call, no span of its own", style="bold")
    else:
        head = Text(f"{safe_text(row.span.name, 80)}  {safe_text(row.span.span_id)}", style="bold")
    if row.step_type is not None:
        head.append(f"  {row.step_type.value} {safe_text(row.name, 80)}", style="cyan")
    return head


def _claim_lines(explained: Explanation) -> Iterable[Text]:
    if not explained.claims:
        yield _line("read by", "no convention understands this span", "yellow")
        return
    winner = next((c for c in explained.claims if c.won), None)
    if winner is None:
        name = explained.row.reading.convention or "nobody"
        yield _line("read by", f"{name}, when it was ingested; its claim is no longer made")
    else:
        yield _line("read by", f"{winner.convention}: claim {winner.claim}, {winner.why}")
    others = [f"{c.convention} {c.claim}" for c in explained.claims if c is not winner]
    if others:
        yield _line("also", f"claimed by {', '.join(others)}")


def _line(label: str, text: str, style: str | None = None) -> Text:
    return Text(f"  {safe_text(label, 24):<{_WIDTH}} {safe_text(text, _MOST)}", style=style or "")


def _listed(names: Sequence[str]) -> str:
    """All names on a line, or as many as fit with the count of the rest."""
    shown: list[str] = []
    for name in names:
        if sum(map(len, shown)) + len(name) > _MOST - 60 and shown:
            return f"{', '.join(shown)} and {len(names) - len(shown):,} more"
        shown.append(name[:_MOST])
    return ", ".join(shown)
