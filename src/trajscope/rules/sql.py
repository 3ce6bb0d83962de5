"""`sql`: a query of the store whose rows are findings."""

from __future__ import annotations

from trajscope.model.check import Check, Query
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_sql(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the query; whether it runs is known once there is a store."""
    del name
    text = body.text()
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
