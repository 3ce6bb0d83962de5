"""One trace in figures, as lists of traces show it.

One thing a newcomer would get wrong: None is unknown, never zero; a trace whose agents recorded no
model call has no number of them.
"""

from __future__ import annotations

import msgspec

from trajscope.model.trajectory import TokenTotals


class TraceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One trace in figures.

    start_ns: of the earliest span, nanoseconds since 1970, UTC. duration_ms: of the single root,
    milliseconds. roots, orphans: how many spans. missing_parents: ids. steps: all, the root too.
    tool_calls: those that were only requested too; failed_tool_calls: those known to have failed.
    """

    trace_id: str | None
    session_id: str | None = None
    start_ns: int | None = None
    duration_ms: float | None = None
    roots: int = 0
    orphans: int = 0
    missing_parents: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    spans: int | None = None
    noise_spans: int | None = None
    model_calls: int | None = None
    tokens: TokenTotals = TokenTotals()
    steps: int = 0
    tool_calls: int = 0
    failed_tool_calls: int = 0
