"""The `lists` of a policy: names for many names, which may name each other.

One thing a newcomer would get wrong: a list that contains itself, through others, is a mistake of
the file; it is found here and never followed.
"""

from __future__ import annotations

from trajscope.rules._matchers import Body
from trajscope.rules._part import nearest


def read_lists(body: Body) -> dict[str, tuple[str, ...]]:
    """Return every list with the lists inside it put in place."""
    parts: dict[str, Body] = {}
    for name, part in body.entries():
        if not name.isidentifier():
            part.fail(f"is no name for a list (got {name!r:.80}); letters and _ were expected")
            continue
        parts[name] = part
    found: dict[str, tuple[str, ...]] = {}
    for name in parts:
        _resolve(name, parts, found, [])
    return found


def _resolve(
    name: str, parts: dict[str, Body], found: dict[str, tuple[str, ...]], around: list[str]
) -> tuple[str, ...]:
    """Return the names of one list; `around` are the lists that led here."""
    if name in found:
        return found[name]
    if len(around) > 100:
        parts[name].fail("is nested more than 100 lists deep")
        return ()
    names: list[str] = []
    for item in parts[name].elements():
        text = item.value
        if not isinstance(text, str) or not text.startswith("$") or not text[1:].isidentifier():
            names += item.patterns()
        elif text[1:] in (*around, name):
            inside = [*around, name]
            cycle = [*inside[inside.index(text[1:]) :], text[1:]]
            item.fail(f"is a list that contains itself: {' → '.join(cycle)}")
        elif text[1:] not in parts:
            item.fail(
                f"names a list that does not exist (got {text!r:.80})",
                nearest(text, [f"${other}" for other in parts]),
            )
        else:
            names += _resolve(text[1:], parts, found, [*around, name])
    if not parts[name].value:
        parts[name].fail("is empty; at least one name was expected")
    found[name] = tuple(dict.fromkeys(names))
    return found[name]
