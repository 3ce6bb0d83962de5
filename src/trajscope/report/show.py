"""The JSON of `trajscope show` (a contract other programs rely on) and its form for people.

One thing a newcomer would get wrong: unknown values are null here, never left out and never zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trajscope.model.step import ToolStep
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.names import bare_name, mcp_parts
from trajscope.report.text import count_text, duration_text, plural, safe_text
from trajscope.scope import tool_steps


def trace_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return one trace of the document."""
    return {
        "trace_id": trajectory.trace_id,
        "session_id": trajectory.session_id,
        "roots": len(trajectory.root_span_ids),
        "spans": trajectory.span_count,
        "noise_spans": trajectory.noise_span_count,
        "orphans": len(trajectory.orphans),
        "missing_parents": list(trajectory.missing_parents),
        "repairs": [
            {"kind": r.kind, "span_id": r.span_id, "detail": r.detail} for r in trajectory.repairs
        ],
        "agents": list(trajectory.agents),
        "model_calls": trajectory.model_calls,
        "tool_calls": [tool_json(t) for t in tool_steps(trajectory)],
        "tokens": tokens_json(trajectory.tokens or TokenTotals()),
        "duration_ms": trajectory.total_duration_ms,
    }


def tokens_json(tokens: TokenTotals) -> dict[str, Any]:
    """Return token totals as the documents hold them: every figure, null where it is unknown."""
    return {
        "input": tokens.input,
        "output": tokens.output,
        "total": tokens.total,
        "cached_input": tokens.cached_input,
        "complete": tokens.complete,
    }


def tool_json(step: ToolStep) -> dict[str, Any]:
    """Return one tool call of the document."""
    server = getattr(step, "mcp_server", None)
    parts = mcp_parts(step.name)
    return {
        "name": step.name,
        "bare_name": bare_name(step.name, server),
        "mcp_server": server or (parts[0] if parts else None),
        "args": step.tool_args,
        "result": step.tool_result,
        "success": step.success,
        "failure": step.failure,
        "step_type": step.step_type.value,
        "span_id": step.span_id,
        "tool_call_id": step.tool_call_id,
        "agent": step.agent,
        "executed": step.executed,
        "from_messages": step.from_messages,
        "start_ns": step.start_ns,
        "duration_ms": step.duration_ms,
    }


def print_show(console: Console, trajectories: Iterable[Trajectory]) -> None:
    """Print every trace with its tool calls for people."""
    for index, trajectory in enumerate(trajectories):
        if index:
            console.print()
        _print_trace(console, trajectory)


def _print_trace(console: Console, trajectory: Trajectory) -> None:
    console.print(Text("trace ", style="bold") + Text(safe_text(trajectory.trace_id or "?")))
    for name, value in _facts(trajectory):
        console.print(Text(f"  {name:<9}", style="dim") + Text(value))
    steps = tool_steps(trajectory)
    if steps:
        console.print(_tool_table(steps))
    else:
        console.print(Text("  no tool calls", style="dim"))


def _facts(trajectory: Trajectory) -> Iterable[tuple[str, str]]:
    tokens = trajectory.tokens or TokenTotals()
    if trajectory.session_id:
        yield "session", safe_text(trajectory.session_id)
    if trajectory.agents:
        yield "agents", safe_text(", ".join(trajectory.agents))
    yield "spans", _span_text(trajectory)
    yield "models", f"{count_text(trajectory.model_calls)} calls, " + _token_text(tokens)
    yield "duration", duration_text(trajectory.total_duration_ms)
    if trajectory.missing_parents:
        missing = safe_text(", ".join(trajectory.missing_parents), limit=200)
        yield "orphans", f"{len(trajectory.orphans)}, missing parents: {missing}"
    for repair in trajectory.repairs:
        if repair.kind != "orphan":
            yield "repair", safe_text(f"{repair.kind} {repair.span_id}: {repair.detail}", limit=200)


def _span_text(trajectory: Trajectory) -> str:
    roots = plural(len(trajectory.root_span_ids), "root")
    return f"{trajectory.span_count} ({roots}, {trajectory.noise_span_count} noise)"


def _token_text(tokens: TokenTotals) -> str:
    if tokens.total is None:
        return "tokens unknown"
    shown = count_text(tokens.total, at_least=not tokens.complete)
    return f"{shown} tokens ({count_text(tokens.input)} in, {count_text(tokens.output)} out)"


def _tool_table(steps: list[ToolStep]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "tool", "arguments", "outcome", "duration", "agent", "span"):
        table.add_column(heading, overflow="fold" if heading == "span" else "ellipsis")
    for step in steps:
        mark, style, outcome = outcome_of(step)
        args = "?" if step.tool_args is None else json_text(step.tool_args, 60)
        table.add_row(
            Text(mark, style=style),
            Text(safe_text(step.name, 60)),
            Text(args),
            Text(outcome, style=style),
            Text(duration_text(step.duration_ms)),
            Text(safe_text(step.agent or "", 30)),
            Text(safe_text(step.span_id or "")),
        )
    return table


def outcome_of(step: ToolStep) -> tuple[str, str, str]:
    """Return the mark, the style and the words for what became of a call."""
    if step.success is False:
        what = "failed" if step.executed else "refused"
        return "✗", "red", f"{what}: {safe_text(step.failure or 'no message', 80)}"
    if not step.executed:
        return "?", "yellow", "requested, never seen to run"
    if step.success is None:
        return "?", "yellow", "unknown"
    return "✓", "green", "ok, by the messages" if step.from_messages else "ok"


def json_text(value: Any, limit: int) -> str:
    """Return a JSON value on one line, cut to `limit` characters, safe for a terminal."""
    import json

    return safe_text(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), limit)
