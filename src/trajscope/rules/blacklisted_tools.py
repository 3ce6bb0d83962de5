"""`blacklistedTools` of an expectation, as it is."""

from __future__ import annotations

from trajscope.model.check import Check, Occurrence
from trajscope.model.rule import Matcher
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_blacklisted_tools(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return that no step goes by such a name: agents and workflow steps may be forbidden too."""
    del name
    return (Occurrence(Matcher(names=body.patterns(), types=()), max_count=0),)


RULE = Kind(
    name="blacklisted_tools",
    description="Names no step may go by; the reference's blacklistedTools as it is.",
    compile=compile_blacklisted_tools,
)
