"""An audit as Markdown: a job summary of verdict counts and findings.

One thing a newcomer would get wrong: every text of a trace stands in a code span with a fence long
enough for it. There no markup, link, mention or HTML of a hostile name is anything but itself.
"""

from __future__ import annotations

import re

from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.pipeline.audit import Audit
from trajscope.report.audit import VERDICTS, place_of, summary, verdict_counts, witness_text
from trajscope.report.text import plural, safe_text

MAX_RESULTS = 200
"""Results that are shown; a job summary may hold 1 MiB."""
_TICKS = re.compile("`+")


def audit_markdown(audit: Audit) -> str:
    """Return the audit as Markdown."""
    lines = ["## Audit", "", _sentence(audit), ""]
    headings = ["rule", "severity", *(v.value for v in VERDICTS)]
    lines += [_row(headings), _row(["---"] * 2 + ["---:"] * len(VERDICTS))]
    for rule in audit.policy.rules:
        counts = verdict_counts(audit, rule.id)
        cells = [code(rule.id, 80), rule.severity.value]
        lines.append(_row([*cells, *(f"{counts[v.value]:,}" for v in VERDICTS)]))
    violated = [r for r in audit.results if r.verdict is Verdict.VIOLATED]
    unknown = [r for r in audit.results if r.verdict is Verdict.UNKNOWN]
    for title, results in (("Findings", violated), ("Unknown", unknown)):
        if results:
            lines += ["", f"### {title}", ""]
            for result in results[:MAX_RESULTS]:
                lines += _result(result)
            if len(results) > MAX_RESULTS:
                lines.append(f"- … and {plural(len(results) - MAX_RESULTS, 'more result')}")
    return "\n".join(lines) + "\n"


def _sentence(audit: Audit) -> str:
    said = summary(audit)
    return said if audit.evaluated else f"{said}. **Nothing could be evaluated.**"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _result(result: RuleResult) -> list[str]:
    word = result.severity.value if result.verdict is Verdict.VIOLATED else "unknown"
    lines = [f"- **{word}** {code(result.rule, 80)} in {code(place_of(result), 120)}"]
    if not result.findings:
        lines.append(f"  - {code(result.message, 400)}")
    for finding in result.findings:
        lines.append(f"  - {code(finding.message, 400)}")
        if finding.span_ids:
            lines.append(f"    {code(witness_text(finding), 800)}")
    if result.findings_not_shown:
        lines.append(f"  - … and {plural(result.findings_not_shown, 'more finding')}")
    return lines


def code(text: str, limit: int) -> str:
    """Return text as a code span that nothing in it can end.

    >>> code("a`b", 10), code("", 10)
    ('`` a`b ``', '` `')
    """
    safe = safe_text(text, limit)
    longest = max((len(run) for run in _TICKS.findall(safe)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {safe} " if safe[:1] in ("`", " ") or safe[-1:] in ("`", " ") or longest else safe
    return f"{fence}{padded or ' '}{fence}"
