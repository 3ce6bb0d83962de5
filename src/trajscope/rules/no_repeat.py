"""`no_repeat`: the same call again and again."""

from __future__ import annotations

from trajscope.model.check import Check, Repeat
from trajscope.model.rule import ValuePath
from trajscope.ports import RuleBody
from trajscope.rules._kind import Kind, flag, within_ns


def compile_no_repeat(body: RuleBody, name: str) -> tuple[Check, ...]:
    """Return from how many equal calls on it is a violation; equal is tool and `same` (args)."""
    del name
    matcher = body.matcher(executed=True)
    paths = [ValuePath("args")]
    if body.has("same"):
        paths = [item.path() for item in body.part("same").items()]
    times = body.part("times").integer(2) if body.has("times") else 2
    same = tuple(dict.fromkeys([ValuePath("tool"), *paths]))
    return (Repeat(matcher, same, times, flag(body, "consecutive"), within_ns(body)),)


RULE = Kind(
    name="no_repeat",
    description="The same call (tool and arguments) must not run so many times, default twice.",
    compile=compile_no_repeat,
)
