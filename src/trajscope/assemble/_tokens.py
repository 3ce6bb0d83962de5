"""Token totals and model-call counts: every call once, sums of parents never added.

One thing a newcomer would get wrong: "innermost" holds inside one nest of model calls. A tool
below a generation may run another agent; its calls are counted beside, never inside, the outer's.
"""

from __future__ import annotations

from typing import NamedTuple

from trajscope.assemble._draft import BOUNDARIES, Draft, TraceDraft
from trajscope.model.reading import Usage
from trajscope.model.trajectory import TokenTotals


class Sum(NamedTuple):
    """Counts so far: model calls, how many of them without counts, and the known figures."""

    calls: int = 0
    unknown: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    known: bool = False

    def plus(self, other: Sum) -> Sum:
        """Return both together."""
        return Sum(
            self.calls + other.calls,
            self.unknown + other.unknown,
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.known or other.known,
        )


NOTHING = Sum()


class Below(NamedTuple):
    """What a subtree holds: `nest` belongs to the model call around it, `beside` does not."""

    nest: Sum = NOTHING
    beside: Sum = NOTHING

    def total(self) -> Sum:
        """Return both together."""
        return self.nest.plus(self.beside)


def count_tokens(trace: TraceDraft) -> dict[int, Below]:
    """Return what every draft's subtree holds, by identity of the draft."""
    done: dict[int, Below] = {}
    for draft in reversed(trace.drafts):  # children come after their parents in walking order
        nest, beside = NOTHING, NOTHING
        for child in draft.children:
            if child.request is None:
                below = done[id(child)]
                nest, beside = nest.plus(below.nest), beside.plus(below.beside)
        done[id(draft)] = _of(draft, nest, beside)
    return done


def _of(draft: Draft, nest: Sum, beside: Sum) -> Below:
    usage = draft.reading.usage
    if draft.is_model_call:
        if nest.calls == 0:
            return Below(_leaf(usage), beside)
        if nest.unknown and usage is not None and _covers(usage, nest):
            nest = _leaf(usage)._replace(calls=nest.calls)
        return Below(nest, beside)
    if draft.step_type not in BOUNDARIES:
        total = nest.plus(beside)
        if usage is not None and total.calls and total.unknown and _covers(usage, total):
            return Below(NOTHING, _leaf(usage)._replace(calls=total.calls))
        return Below(nest, beside)
    total = nest.plus(beside)
    if usage is not None and (total.calls == 0 or total.unknown) and _covers(usage, total):
        total = _leaf(usage)._replace(calls=total.calls or draft.reading.model_calls or 0)
    return Below(NOTHING, total)


def _covers(usage: Usage, below: Sum) -> bool:
    """Whether a parent's figures can be the sum of what is below: both known, none smaller."""
    known = usage.input is not None and usage.output is not None
    return known and (usage.input or 0) >= below.input and (usage.output or 0) >= below.output


def _leaf(usage: Usage | None) -> Sum:
    if usage is None:
        return Sum(calls=1, unknown=1)
    missing = usage.input is None or usage.output is None
    return Sum(
        1, int(missing), usage.input or 0, usage.output or 0, usage.cached_input or 0, known=True
    )


def to_totals(found: Sum) -> TokenTotals:
    """Return the public form: None where nothing is known, `complete` only when every call is."""
    if not found.known:
        return TokenTotals(complete=False)
    return TokenTotals(
        input=found.input,
        output=found.output,
        total=found.input + found.output,
        cached_input=found.cached,
        complete=found.unknown == 0,
    )
