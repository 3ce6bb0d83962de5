"""Scores and findings for people and as JSON.

One thing a newcomer would get wrong: the same claim may come from several scorers (the unified one
repeats its parts'); for people it is shown once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from trajscope.errors import Problems
from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.report.text import plural, safe_text

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def scores_json(
    scores: Sequence[Score], unmatched: Iterable[str], problems: Problems
) -> dict[str, Any]:
    """Return the document of `score --json`."""
    return {
        "scores": [_written(score) for score in scores],
        "evaluated": sum(s.value is not None for s in scores),
        "not_evaluable": sum(s.value is None for s in scores),
        "findings": sum(len(s.findings) for s in scores),
        "unmatched_expectations": list(unmatched),
        **problems.to_json(),
    }


def _written(score: Score) -> dict[str, Any]:
    """A score with everything said that a reader may ask for, whoever left it at its default."""
    said = ("value", "reason", "trace_id", "expectation", "details")
    always = {name: getattr(score, name) for name in said}
    findings = [_finding(finding) for finding in score.findings]
    return score.model_dump(mode="json", by_alias=False) | always | {"findings": findings}


def _finding(finding: Finding) -> dict[str, Any]:
    return finding.model_dump(mode="json", by_alias=False) | {
        "severity": finding.severity.value,
        "verdict": finding.verdict.value,
        "trace_id": finding.trace_id,
        "span_ids": list(finding.span_ids),
        "steps": list(finding.steps),
    }


def print_scores(
    console: Console,
    scores: Sequence[Score],
    *,
    everything: bool = False,
    left_out: tuple[int, int] = (0, 0),
) -> None:
    """Print the scores of every trajectory that is not perfect, with the spans that prove it.

    With `everything` those are printed too of which there is nothing to say. left_out: how many
    perfect trajectories, with how many scores, are not among `scores`; they are counted.
    """
    groups: dict[tuple[str | None, str | None], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.trace_id, score.expectation), []).append(score)
    quiet, unseen = left_out
    for (trace_id, expectation), group in groups.items():
        if not everything and _is_perfect(group):
            quiet += 1
            continue
        head = Text("trace ", style="bold") + Text(safe_text(trace_id or "(session)"))
        if expectation:
            head.append(f"  against {safe_text(expectation, 60)}", style="dim")
        console.print(head)
        for score in group:
            console.print(_line(score))
        for finding in _distinct(group):
            _print_finding(console, finding)
    if quiet:
        console.print(
            Text(f"{plural(quiet, 'trajectory', 'trajectories')} without a fault not shown")
        )
    evaluated = sum(s.value is not None for s in scores)
    console.print(
        Text(
            f"{plural(evaluated + unseen, 'score')}, {len(scores) - evaluated} not evaluable, "
            f"{plural(len(groups) + left_out[0], 'trajectory', 'trajectories')}",
            style="dim",
        )
    )


def _is_perfect(group: Sequence[Score]) -> bool:
    return all(score.value == 1 and not score.findings for score in group)


def _line(score: Score) -> Text:
    if score.value is None:
        line = Text(f"  {safe_text(score.scorer):<14} not evaluable", style="yellow")
    else:
        style = "green" if score.value == 1 else "red" if score.value == 0 else "yellow"
        line = Text(f"  {safe_text(score.scorer):<14} ") + Text(f"{score.value:.2f}", style=style)
    if score.reason:
        line.append(f"  {safe_text(score.reason, 160)}", style="dim")
    return line


def _distinct(scores: Sequence[Score]) -> list[Finding]:
    found: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for score in scores:
        for finding in score.findings:
            found.setdefault((finding.message, finding.span_ids), finding)
    return sorted(found.values(), key=lambda f: -f.severity.rank)


def _print_finding(console: Console, finding: Finding) -> None:
    style = _STYLES[finding.severity] if finding.verdict is Verdict.VIOLATED else "cyan"
    mark, word = {
        Verdict.VIOLATED: ("✗", finding.severity.value),
        Verdict.UNKNOWN: ("?", "unknown"),
    }.get(finding.verdict, ("·", "note"))
    console.print(Text(f"  {mark} {word}: {safe_text(finding.message, 200)}", style=style))
    if finding.steps:
        console.print(Text(f"      steps {safe_text(' > '.join(finding.steps), 200)}"))
    if finding.span_ids:
        console.print(Text(f"      spans {safe_text(', '.join(finding.span_ids), 300)}"))
