"""Why a span became what it is: claims, sources of fields, reasons of noise, evidence of failure.

One thing a newcomer would get wrong: this repeats no decision. It shows what the conventions
claimed, what the reading says of itself, and what RESOLVE noted.
"""

from __future__ import annotations

from typing import Any

from trajscope.assemble import Assembled, OutlineRow
from trajscope.conventions import Reader
from trajscope.errors import SpanError


def explain(
    found: list[Assembled], read: Reader, span_id: str | None = None
) -> list[dict[str, Any]]:
    """Return an explanation of every span, or of the one with `span_id`, trace by trace.

    Raises:
        SpanError: no span has the id.
    """
    traces = []
    for assembled in found:
        rows = [r for r in assembled.outline() if span_id in (None, r.span.span_id)]
        if rows:
            spans = [_explained(row, read, assembled) for row in rows]
            traces.append({"trace_id": assembled.trajectory.trace_id, "spans": spans})
    if span_id is not None and not traces:
        raise SpanError(
            f"no span {span_id!r} in these traces", hint="trajscope tree --noise shows ids"
        )
    return traces


def _explained(row: OutlineRow, read: Reader, assembled: Assembled) -> dict[str, Any]:
    reading, span = row.reading, row.span
    used = set(reading.sources.values())
    repairs = [r for r in assembled.trajectory.repairs if r.span_id == span.span_id]
    return {
        "span_id": span.span_id,
        "span_name": span.name,
        "scope": span.scope_name,
        "depth": row.depth,
        "requested": row.requested,
        "step_type": row.step_type.value if row.step_type else None,
        "name": row.name,
        "noise_reason": row.reason or None,
        "convention": reading.convention or None,
        "claims": [{"convention": c.name, "claim": claim} for claim, c in read.claims(span)],
        "sources": dict(reading.sources),
        "failed": row.failed,
        "failure": row.failure,
        "failure_evidence": _evidence(row),
        "notes": list(row.notes),
        "repairs": [{"kind": r.kind, "detail": r.detail} for r in repairs],
        "unused_attributes": sorted(a for a in span.attributes if a not in used),
    }


def _evidence(row: OutlineRow) -> str:
    if row.requested:
        return "the messages of the model calls" if row.failed is not None else "none was recorded"
    if said := row.reading.sources.get("failed"):
        return said
    noted = [note for note in row.notes if note.startswith("failed")]
    if noted:
        return noted[0]
    if row.failed is False and row.step_type is not None:
        return "the span ended and nothing says it failed"
    return "none was recorded"
