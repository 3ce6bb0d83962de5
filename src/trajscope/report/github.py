"""An audit as annotations of a GitHub job: one `::error file=…,line=…::message` line each.

One thing a newcomer would get wrong: the runner reads commands out of *everything* a step prints.
Each line here is one command, and no text of a trace can start another.
"""

from __future__ import annotations

from trajscope.model.score import Severity, Verdict
from trajscope.pipeline.audit import Audit
from trajscope.report.audit import place_of, summary, witness_text
from trajscope.report.text import safe_text

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
MAX_LINES = 50
"""Annotations of one step; GitHub shows ten of each kind and keeps fifty a job."""


def audit_github(audit: Audit) -> str:
    """Return one annotation per finding, worst first, at the rule's place in its file."""
    found = [(r, f) for r in audit.results if r.verdict is Verdict.VIOLATED for f in r.findings]
    found.sort(key=lambda pair: -pair[1].severity.rank)
    lines = []
    for result, finding in found[:MAX_LINES]:
        at = audit.rule(finding.rule).at
        properties = {
            "file": at.path or audit.policy.path,
            "line": None if at.line is None else str(at.line),
            "title": finding.rule,
        }
        message = f"{finding.message} [{place_of(result)}: {witness_text(finding)}]"
        lines.append(command(_COMMANDS[finding.severity], properties, message))
    more = len(found) - MAX_LINES
    said = summary(audit) + (f"; {more} findings are not annotated" if more > 0 else "")
    lines.append(command("notice", {"title": "trajscope audit"}, said))
    return "\n".join(lines) + "\n"


def command(name: str, properties: dict[str, str | None], message: str) -> str:
    r"""Return one workflow command, everything in it escaped.

    >>> command("error", {"file": "a,b:c"}, "50%\n::stop-commands::x")
    '::error file=a%2Cb%3Ac::50%25\\n::stop-commands::x'
    """
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name}{' ' if told else ''}{told}::{_data(safe_text(message, 4000))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe_text(text, 1000)).replace(":", "%3A").replace(",", "%2C")
