"""Recorded traces and what really happened in them: loading both, and saying where they differ.

One thing a newcomer would get wrong: unknown is no difference. A null success counts as not
failed, null arguments are not compared, and a trace without model spans has no count to be wrong.
What must be *known* is asked separately, so that a reader which knows nothing does not agree.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from trajscope.assemble import assemble_traces
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import LogRecord, Span
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory

FIXTURES = Path(__file__).parents[2] / "fixtures" / "traces"
NAMES = sorted(p.parent.name for p in FIXTURES.glob("*/truth.json"))
"""The recorded traces with a truth."""
FORMS = sorted(
    f"{p.parent.name}/{p.name}" for p in FIXTURES.glob("*/trace.*") if p.parent.name in NAMES
)
"""The files that hold them: the same trace may have been recorded in several forms."""


def form_of(name: str) -> str:
    """Return the first form a trace was recorded in: OTLP/JSON where there is one."""
    forms = [f for f in FORMS if f.startswith(f"{name}/")]
    return min(forms, key=lambda f: not f.endswith(".otlp.json"))


def spans_of(form: str) -> list[Span]:
    """Return the spans of a recorded trace, without its log records."""
    found = read_captures([str(FIXTURES / form)], Problems(strict=True))
    return [record for record in found if isinstance(record, Span)]


def trajectories_of(form: str) -> list[Trajectory]:
    """Return the trajectories of a recorded trace, read with the log records that belong to it."""
    file = FIXTURES / form
    spans: list[Span] = []
    logs: list[LogRecord] = []
    paths = [str(p) for p in (file, *file.parent.glob("logs.*"))]
    for record in read_captures(paths, Problems(strict=True)):
        if isinstance(record, Span):
            spans.append(record)
        else:
            logs.append(record)
    return [found.trajectory for found in assemble_traces(spans, Reader(), logs)]


def truth_of(name: str) -> dict[str, Any]:
    """Return what really happened, as the tools of the run wrote it down."""
    found: dict[str, Any] = json.loads((FIXTURES / name / "truth.json").read_text("utf-8"))
    return found


def tool_calls(trajectories: list[Trajectory]) -> list[ToolStep]:
    """Return the tool calls of all trajectories, in their order."""
    steps = (s for t in trajectories for s in t.walk() if isinstance(s, ToolStep))
    return sorted(steps, key=lambda s: (s.trace_id is None, s.start_ns or 0, s.order or 0))


def differences(truth: dict[str, Any], trajectories: list[Trajectory]) -> dict[str, str]:
    """Return what differs from the truth, by kind: tools, models, agents, args."""
    open_names = {c["name"] for c in truth["tool_calls"] if c.get("evidence") == "none"}
    calls = [
        c
        for c in tool_calls(trajectories)
        if c.executed or c.success is False or c.name in open_names
    ]

    def mark(name: str, success: bool | None) -> tuple[str, bool | None]:
        return name, None if name in open_names else success is not False

    want = Counter(mark(c["name"], c["success"]) for c in truth["tool_calls"])
    got = Counter(mark(c.name, c.success) for c in calls)
    found = {} if want == got else {"tools": f"want {dict(want)} got {dict(got)}"}
    counts = [t.model_calls for t in trajectories]
    if None not in counts and sum(c or 0 for c in counts) != truth["model_calls"]:
        found["models"] = f"want {truth['model_calls']} got {counts}"
    agents = {a for t in trajectories for a in t.agents}
    if missing := sorted({*truth["agents"]} - agents):
        found["agents"] = f"missing {missing} got {sorted(agents)}"
    for call in calls:
        theirs = [c["args"] for c in truth["tool_calls"] if c["name"] == call.name]
        if call.tool_args is not None and call.tool_args not in theirs:
            found["args"] = f"{call.name}: got {call.tool_args} want one of {theirs}"
    return found


def unknown(truth: dict[str, Any], trajectories: list[Trajectory]) -> dict[str, int]:
    """Return how many calls lack arguments or an outcome, and traces a count of model calls."""
    calls = tool_calls(trajectories)
    whole = len(truth["tool_calls"])
    lacks = {
        "args": whole - sum(c.tool_args is not None for c in calls),
        "success": whole - sum(c.success is not None for c in calls),
        "model_calls": sum(t.model_calls is None for t in trajectories),
    }
    return {k: n for k, n in lacks.items() if n > 0}
