"""`never_sequence`: steps that must not follow one another."""

from __future__ import annotations

from trajscope.model.check import Chain, Check
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, joins, order, within_ns

_CONTIGUOUS = ("not_chain_succession", "not_chain_response", "not_chain_precedence")


def compile_never_sequence(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return the forbidden chain."""
    listed = body.part("steps") if isinstance(body.value, dict) else body
    steps = [item.matcher() for item in listed.elements()]
    if len(steps) < 2:
        listed.fail(
            f"is no sequence (got {listed.value!r:.80}); two steps or more were expected",
            "use never: for a single step",
        )
        steps *= 2
    gap = body.part("gap").integer() if body.has("gap") else None
    unless = body.part("unless").matcher(done=True) if body.has("unless") else None
    return (
        Chain(
            tuple(steps),
            max_gap=0 if name in _CONTIGUOUS else gap,
            within_ns=within_ns(body),
            unless=unless,
            order=order(body),
            **joins(body, len(steps)),
        ),
    )


RULE = Kind(
    name="never_sequence",
    description="Steps that must not follow one another: directly (gap: 0), soon, or ever.",
    compile=compile_never_sequence,
    aliases=("not_succession", "not_response", "not_precedence", *_CONTIGUOUS),
)
