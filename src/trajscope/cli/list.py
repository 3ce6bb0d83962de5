"""`trajscope list`: traces with their key figures."""

from __future__ import annotations

import click

from trajscope.cli._io import (
    db_option,
    given_input,
    input_options,
    json_option,
    narrate,
    print_json,
    print_problems,
    print_table,
    snapshot_option,
)
from trajscope.cli.app import COMMANDS


@click.command("list", short_help=COMMANDS["list"])
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@db_option
@snapshot_option
@input_options
@json_option
def COMMAND(paths: tuple[str, ...], db: str | None, as_json: bool) -> None:  # noqa: N802
    """List traces: start, agents, tool calls, failures, tokens, duration.

    \b
    Examples:
      trajscope list traces/
      trajscope list --db spans.duckdb --json
    """
    from trajscope.pipeline.load import load
    from trajscope.report.show import tool_steps, trace_json
    from trajscope.report.text import count_text, duration_text, safe_text, time_text

    loaded = load(paths, given_input(), db)
    print_problems(loaded.problems)
    if as_json:
        hidden = ("tool_calls", "repairs")
        traces = [trace_json(t) for t in loaded.trajectories]
        for trace in traces:
            calls = trace["tool_calls"]
            trace["tool_call_count"] = len(calls)
            trace["failed_tool_calls"] = sum(c["success"] is False for c in calls)
        print_json({"traces": [{k: v for k, v in t.items() if k not in hidden} for t in traces]})
        return
    rows = []
    for trajectory in loaded.trajectories:
        calls = tool_steps(trajectory)
        failed = sum(c.success is False for c in calls)
        tokens = trajectory.tokens
        rows.append(
            (
                safe_text(trajectory.trace_id or "?"),
                time_text(trajectory.start_ns),
                safe_text(", ".join(trajectory.agents), 40),
                count_text(trajectory.span_count),
                count_text(len(calls)),
                str(failed) if failed else "",
                count_text(
                    tokens.total if tokens else None, at_least=bool(tokens and not tokens.complete)
                ),
                duration_text(trajectory.total_duration_ms),
            )
        )
    headings = ("trace", "start (UTC)", "agents", "spans", "tools", "failed", "tokens", "duration")
    print_table(headings, rows)
    if note := loaded.nothing_understood():
        narrate(note)
