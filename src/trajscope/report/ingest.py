"""`trajscope ingest`: its JSON, and the line about each capture for people.

One thing a newcomer would get wrong: `spans` are those read; `added` those that were new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trajscope.errors import Problems
from trajscope.report.text import plural, safe_text

if TYPE_CHECKING:
    from trajscope.pipeline.storing import Ingested


def ingest_json(
    done: Sequence[Ingested], problems: Problems, *, spans: int, traces: int
) -> dict[str, Any]:
    """Return the document of `ingest --json`; spans, traces: what the store holds now."""
    return {
        "captures": [
            {
                "name": one.name,
                "format": one.format,
                "spans": one.report.spans,
                "added": one.report.added,
                "replaced": one.report.replaced,
                "duplicates": one.report.duplicates,
                "log_records": one.report.logs,
                "traces": one.report.traces,
                "known": one.report.known,
            }
            for one in done
        ],
        **problems.to_json(),
        "skipped": dict(problems.skipped),
        "store": {"spans": spans, "traces": traces},
    }


def ingested_text(one: Ingested) -> str:
    """Return the line about one capture."""
    report = one.report
    what = f"{plural(report.spans, 'span')}, {report.added:,} new"
    if report.replaced:
        what += f", {report.replaced:,} in a more finished version"
    if report.logs:
        what += f", {plural(report.logs, 'log record')}"
    if report.known:
        what += " (ingested before)"
    return f"{safe_text(one.name)}: {what}, {plural(report.traces, 'trace')} touched"
