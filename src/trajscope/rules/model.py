"""`model`: the order of all steps, as a state machine."""

from __future__ import annotations

from trajscope.model.check import Check, Transitions
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind


def compile_model(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return which step may follow which; `start` leads to the first, to `end` leads the last."""
    del name
    start: tuple[str, ...] | None = None
    allowed: list[tuple[str, tuple[str, ...]]] = []
    final: list[str] = []
    for state, following in body.entries():
        names = following.patterns()
        if state == "start":
            start = names
            continue
        if "end" in names:
            final.append(state)
        allowed.append((state, tuple(name for name in names if name != "end")))
    if not allowed:
        body.fail(f"has no states (got {body.value!r:.80}); a mapping of states was expected")
    return (Transitions("steps", tuple(allowed), start=start, end=tuple(final) or None),)


RULE = Kind(
    name="model",
    description="Which step may come first, follow which other one, and come last.",
    compile=compile_model,
)
