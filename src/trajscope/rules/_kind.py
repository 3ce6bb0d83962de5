"""What every rule kind is made of, and the options many of them share.

One thing a newcomer would get wrong: an option may stand in the kind's own mapping or beside the
kind; `body.has` and `body.part` find it in either place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from trajscope.model.check import Check, Direction, Need
from trajscope.model.rule import Join, Matcher, Order
from trajscope.ports import RuleBody


@dataclass(frozen=True, slots=True)
class Kind:
    """A rule kind; see `ports.Rule`."""

    name: str
    description: str
    compile: Callable[[RuleBody, str], tuple[Check, ...]]
    aliases: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class Joined(TypedDict):
    """The joins of a check."""

    same: tuple[Join, ...]
    differ: tuple[Join, ...]


def joins(body: RuleBody, count: int) -> Joined:
    """Return what the steps of a rule are joined by."""
    same = body.part("same").joins(count) if body.has("same") else ()
    differ = body.part("differ").joins(count) if body.has("differ") else ()
    if len(differ) > 1:
        body.part("differ").fail("names several values; one was expected")
    if differ and count != 2:
        body.part("differ").fail(f"compares two steps (got a rule of {count} steps)")
    return Joined(same=same, differ=differ[:1] if count == 2 else ())


def within_ns(body: RuleBody) -> int | None:
    """Return the time limit of a rule, if it has one."""
    return body.part("within").duration_ns() if body.has("within") else None


def order(body: RuleBody) -> Order:
    """Return what counts as being before: to have ended, or only to have started."""
    if body.has("order") and body.part("order").choice(("end", "start")) == "start":
        return "start"
    return "end"


def flag(body: RuleBody, key: str) -> bool:
    """Return a switch; false where it is not set."""
    return body.has(key) and body.part(key).boolean()


def two(body: RuleBody) -> tuple[RuleBody, RuleBody] | None:
    """Return the two steps of a DECLARE template (`precedence: [approve, delete]`)."""
    steps = body.elements()
    if not isinstance(body.value, list) or len(steps) != 2:
        body.fail(f"is wrong (got {body.value!r:.80}); a list of two steps was expected")
        return None
    return steps[0], steps[1]


def need(
    body: RuleBody,
    trigger: Matcher,
    needs: Sequence[Matcher],
    direction: Direction,
    name: str = "",
) -> Need:
    """Return a need with the options beside it; alternate and chain templates imply theirs."""
    each = flag(body, "each") or name.startswith("alternate")
    immediately = flag(body, "immediately") or name.startswith("chain")
    return Need(
        trigger,
        tuple(needs),
        direction,
        each=each,
        immediately=immediately,
        within_ns=within_ns(body),
        order=order(body),
        **joins(body, 2),
    )
