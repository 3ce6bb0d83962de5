"""`no_retry`: a failed call that is made once more."""

from __future__ import annotations

from dataclasses import replace

from trajscope.model.check import Chain, Check
from trajscope.model.rule import Join, ValuePath
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, within_ns


def compile_no_retry(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that no failed call is followed by the same tool with the same arguments."""
    del name
    call = body.matcher()
    same = tuple(Join((ValuePath(part), ValuePath(part))) for part in ("tool", "args"))
    failed = replace(call, failed=True)
    return (Chain((failed, call), within_ns=within_ns(body), same=same),)


RULE = Kind(
    name="no_retry",
    description="A call that failed must not be made again with the same arguments.",
    compile=compile_no_retry,
)
