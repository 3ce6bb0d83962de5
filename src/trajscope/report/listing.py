"""`trajscope list`: its JSON and its rows for people.

One thing a newcomer would get wrong: unknown values are null in the JSON and a dash in a row, never
zero.
"""

from __future__ import annotations

from typing import Any

from trajscope.model.figures import TraceFigures
from trajscope.report.show import tokens_json
from trajscope.report.text import count_text, duration_text, safe_text, time_text

HEADINGS = ("trace", "start (UTC)", "agents", "spans", "tools", "failed", "tokens", "duration")
"""What stands over the columns of `figures_row`."""

_AGENTS_LENGTH = 40


def figures_json(trace: TraceFigures) -> dict[str, Any]:
    """Return one trace of the document of `list --json`."""
    return {
        "trace_id": trace.trace_id,
        "session_id": trace.session_id,
        "roots": trace.roots,
        "spans": trace.spans,
        "noise_spans": trace.noise_spans,
        "orphans": trace.orphans,
        "missing_parents": list(trace.missing_parents),
        "agents": list(trace.agents),
        "model_calls": trace.model_calls,
        "tokens": tokens_json(trace.tokens),
        "duration_ms": trace.duration_ms,
        "tool_call_count": trace.tool_calls,
        "failed_tool_calls": trace.failed_tool_calls,
    }


def figures_row(trace: TraceFigures) -> tuple[str, ...]:
    """Return one trace as a row for people."""
    tokens = trace.tokens
    return (
        safe_text(trace.trace_id or "?"),
        time_text(trace.start_ns),
        safe_text(", ".join(trace.agents), _AGENTS_LENGTH),
        count_text(trace.spans),
        count_text(trace.tool_calls),
        str(trace.failed_tool_calls) if trace.failed_tool_calls else "",
        count_text(tokens.total, at_least=tokens.total is not None and not tokens.complete),
        duration_text(trace.duration_ms),
    )
