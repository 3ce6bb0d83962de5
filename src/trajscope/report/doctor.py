"""What `doctor` found, for terminals and as JSON.

One thing a newcomer would get wrong: a hint is shown only where the evidence it brings is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from trajscope.errors import Problems
from trajscope.pipeline.doctor import LACKS, Coverage, Understanding, Unknown
from trajscope.report.text import plural, safe_text

MOST = 20
"""Scopes and prefixes shown; the rest is counted."""

_SHAPES = {
    "orphans": "orphans: spans whose parent is not there",
    "unfinished": "spans that never ended",
    "repeated": "spans that were received more than once",
    "skewed": "spans that start before their parent",
    "negative_durations": "spans that end before they start",
    "cycles": "spans in a cycle of parents",
}


def doctor_json(coverage: Coverage, problems: Problems) -> dict[str, Any]:
    """Return the document of `doctor --json`; see docs/cli.md."""
    return {
        "traces": coverage.traces,
        "spans": coverage.spans,
        "understood": coverage.understood,
        "requested_calls": coverage.requested,
        "log_records": coverage.log_records,
        "conventions": [
            {
                "name": name,
                "spans": found.types.total(),
                "types": dict(found.types.most_common()),
                "tool_calls": found.counts["tool_calls"],
                "model_calls": found.counts["model_calls"],
                "agent_runs": found.counts["agent_runs"],
                "missing": {lack: found.counts[lack] for lack in LACKS},
                "hints": found.hints,
            }
            for name, found in _by_size(coverage)
        ],
        "not_understood": [
            {
                "scope": scope,
                "spans": group.spans,
                "attribute_prefixes": dict(_by_count(group)),
                "example": group.example,
            }
            for scope, group in sorted(coverage.unknown.items(), key=lambda i: (-i[1].spans, i[0]))
        ],
        "shape": {what: coverage.shape[what] for what in _SHAPES},
        "missing_parents": coverage.missing_parents,
        **problems.to_json(),
        "skipped": dict(problems.skipped),
    }


def _by_size(coverage: Coverage) -> list[tuple[str, Understanding]]:
    found = coverage.by_convention.items()
    return sorted(found, key=lambda item: (-item[1].types.total(), item[0]))


def _by_count(group: Unknown) -> list[tuple[str, int]]:
    return sorted(group.prefixes.items(), key=lambda item: (-item[1], item[0]))


def print_doctor(console: Console, coverage: Coverage) -> None:
    """Print how well captures are understood and what to do about it."""
    for line in _lines(coverage):
        console.print(line)


def _lines(coverage: Coverage) -> Iterator[Text]:
    head = f"{plural(coverage.traces, 'trace')}, {plural(coverage.spans, 'span')}"
    if coverage.log_records:
        head += f", {plural(coverage.log_records, 'log record')}"
    yield Text(f"{head}: {coverage.understood:,} of {coverage.spans:,} spans understood")
    known = _by_size(coverage)
    if known:
        yield _title("understood by")
    for name, found in known:
        types = ", ".join(f"{count:,} {word}" for word, count in found.types.most_common())
        yield _row(found.types.total(), f"{name}: {types}")
    if coverage.requested:
        yield _row(coverage.requested, "tool calls without a span, found in the model's messages")
    yield from _unknown_lines(coverage)
    yield from _missing_lines(known)
    if any(coverage.shape.values()):
        yield _title("shape")
    for what, words in _SHAPES.items():
        if coverage.shape[what]:
            yield _row(coverage.shape[what], words)
    if coverage.missing_parents:
        yield _row(None, f"parents that are not there: {_first(coverage.missing_parents, 5)}")


def _unknown_lines(coverage: Coverage) -> Iterator[Text]:
    groups = sorted(coverage.unknown.items(), key=lambda i: (-i[1].spans, i[0]))
    if groups:
        yield _title("not understood")
    for scope, group in groups[:MOST]:
        prefixes = [prefix for prefix, _ in _by_count(group)]
        what = _first(prefixes, MOST) or "no attributes"
        yield _row(group.spans, f"{scope or '(no scope)'}: {what}; like {group.example[:80]!r}")
    if len(groups) > MOST:
        yield _row(None, f"… and {plural(len(groups) - MOST, 'more scope')}")


def _missing_lines(known: list[tuple[str, Understanding]]) -> Iterator[Text]:
    lacking = [(name, found) for name, found in known if found.lacks()]
    if known:
        yield _title("missing evidence" if lacking else "missing evidence: none")
    for name, found in lacking:
        yield Text(f"  {safe_text(name, 80)}", style="cyan")
        for lack in found.lacks():
            whole, _, words = LACKS[lack]
            yield _row(found.counts[lack], f"of {found.counts[whole]:,} {words}")
        for hint in found.hints.values():
            yield Text(f"  hint: {safe_text(hint)}", style="yellow")


def _title(words: str) -> Text:
    return Text(words, style="bold")


def _row(count: int | None, words: str) -> Text:
    figure = "" if count is None else f"{count:,}"
    return Text(f"  {figure:>8}  {safe_text(words, 400)}")


def _first(names: list[str], most: int) -> str:
    shown = ", ".join(safe_text(name, 60) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
