"""`blacklistedSequences` of an expectation, as it is."""

from __future__ import annotations

from trajscope.model.check import Chain, Check, Occurrence
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_blacklisted_sequences(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that no such calls start next to each other, in the trace or in one agent run."""
    del name
    checks: list[Check] = []
    for item in body.elements():
        steps = tuple(step.matcher() for step in item.elements())
        if len(steps) == 1:
            checks.append(Occurrence(steps[0], max_count=0))
        elif steps:
            checks += [
                Chain(steps, max_gap=0, order="start", per_run=per_run) for per_run in (False, True)
            ]
        else:
            item.fail("is empty; at least one name was expected")
    return tuple(checks)


RULE = Kind(
    name="blacklisted_sequences",
    description="Calls that must not start one after the other; blacklistedSequences as it is.",
    compile=compile_blacklisted_sequences,
)
