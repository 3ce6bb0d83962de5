"""`sql`: a query of the store whose rows are findings."""

from __future__ import annotations

import re

from trajscope.model.check import Check, Query
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind

_READS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:select|with|from)\b", re.I | re.S).match


def compile_sql(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the query; whether it runs is known once there is a store."""
    del name
    text = body.text()
    if not _READS(text):
        body.fail(f"is no query (got {text!r:.80}); a SELECT was expected", "queries only read")
    if "trace_id" not in text.lower() and "*" not in text:
        body.fail(
            f"names no trace (got {text!r:.80}); a column trace_id was expected",
            "select trace_id, span_id and, if you like, message",
        )
    return (Query(text),)


RULE = Kind(
    name="sql",
    description="A read-only query of the store; every row is a finding.",
    compile=compile_sql,
)
