"""Explanations and coverage for terminals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from trajscope.report.text import plural, safe_text


def print_explanations(console: Console, traces: Iterable[dict[str, Any]]) -> None:
    """Print why every span became what it is."""
    for trace in traces:
        console.print(Text(f"trace {safe_text(trace['trace_id'] or '?')}", style="bold"))
        for span in trace["spans"]:
            _print_span(console, span)


def _print_span(console: Console, span: dict[str, Any]) -> None:
    head = Text(f"{safe_text(span['span_name'], 80)}  {safe_text(span['span_id'])}", style="bold")
    if span["step_type"]:
        head.append(f"  {span['step_type']} {safe_text(span['name'], 60)}", style="cyan")
    else:
        head.append(f"  noise: {safe_text(span['noise_reason'] or '', 120)}", style="dim")
    console.print(head)
    if span["requested"]:
        console.print("  requested by this model call; the call has no span of its own")
    claims = ", ".join(f"{safe_text(c['convention'])} {c['claim']}" for c in span["claims"])
    console.print(Text(f"  claims   {claims or 'none: no convention understands this span'}"))
    for field, source in span["sources"].items():
        console.print(Text(f"  {safe_text(field):<14} from {safe_text(str(source), 100)}"))
    outcome = {True: "failed", False: "not failed", None: "unknown"}[span["failed"]]
    if span["step_type"]:
        console.print(Text(f"  outcome  {outcome}: {safe_text(span['failure_evidence'], 160)}"))
    for note in span["notes"]:
        console.print(Text(f"  note     {safe_text(note, 160)}"))
    for repair in span["repairs"]:
        console.print(Text(f"  repair   {repair['kind']}: {safe_text(repair['detail'], 160)}"))
    if span["unused_attributes"]:
        unused = safe_text(", ".join(span["unused_attributes"]), 200)
        console.print(Text(f"  not used {unused}", style="dim"))


def print_examination(console: Console, report: dict[str, Any]) -> None:
    """Print how well captures are understood."""
    understood, spans = report["understood"], report["spans"]
    console.print(
        f"{plural(report['traces'], 'trace')}, {plural(spans, 'span')}, {understood:,} understood"
    )
    for title in ("by_convention", "steps", "missing", "repairs"):
        if report[title]:
            console.print(Text(title.replace("_", " "), style="bold"))
            for what, count in report[title].items():
                console.print(Text(f"  {count:>8,}  {safe_text(what)}"))
    if report["not_understood"]:
        console.print(Text("not understood", style="bold"))
        for group in report["not_understood"]:
            prefixes = ", ".join(group["attribute_prefixes"]) or "no attributes"
            line = f"{group['scope'] or '(no scope)'}: {prefixes}; like {group['example']!r}"
            console.print(Text(f"  {group['spans']:>8,}  {safe_text(line, 200)}"))
    for convention, hint in report["hints"].items():
        console.print(Text(f"hint: {convention}: {hint}", style="cyan"))
