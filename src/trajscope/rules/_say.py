"""What is said of a trace that breaks a rule: the kind's own words, or the rule's template.

One thing a newcomer would get wrong: names and values come from the trace and are hostile; whoever
prints a message escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from reprlib import Repr

from trajscope.model.check import (
    Chain,
    Check,
    Conflict,
    Edge,
    Flow,
    Need,
    Occurrence,
    Repeat,
)
from trajscope.model.policy import PolicyRule
from trajscope.model.rule import Matcher, ValuePath
from trajscope.model.score import Verdict
from trajscope.rules import _words
from trajscope.rules._lines import LineStep
from trajscope.rules._match import Missing, Values
from trajscope.rules._outcome import Hit

_PLACE = re.compile(r"\{([^{}]*)\}")
_PART = re.compile(r"args|result|agent|tool|server")
FIELDS = ("rule", "steps", "detail", "agent")
"""What a message template may name beside witnesses (`{1}`, `{1.args.id}`) and labels (`as`)."""

_values = Values()
_repr = Repr()
_repr.maxstring = _repr.maxother = 60
_repr.maxlevel = 2


def finding_message(rule: PolicyRule, check: Check, hit: Hit, verdict: Verdict) -> str:
    """Return what one finding says."""
    said = _said(check, hit)
    if any(not item.executed for item in hit.witnesses):
        said += " (requested, never ran)"
    if rule.message is not None:
        said = _filled(rule, check, hit, said)
    return f"perhaps: {said}" if verdict is Verdict.UNKNOWN else said


def _said(check: Check, hit: Hit) -> str:
    names = [item.step.name for item in hit.witnesses]
    if isinstance(check, Occurrence):
        if check.max_count == 0 and names:
            return f"{names[0]} occurred{_seen(check.matcher, hit.witnesses[0])}"
        return f"{_words.matcher(check.matcher)}: {hit.detail}"
    if isinstance(check, Chain):
        return " → ".join(names)
    if isinstance(check, Need) and names:
        needs = _words.either([_words.matcher(need) for need in check.needs])
        place = {"before": " before it", "after": " after it", "any": ""}[check.direction]
        own = " of its own" if check.each else ""
        return f"{names[0]}{_seen(check.trigger, hit.witnesses[0])} without {needs}{own}{place}"
    if isinstance(check, Conflict):
        return f"{names[0]} and {names[-1]} both occurred"
    if isinstance(check, Edge):
        wanted = _words.either([_words.matcher(m) for m in check.matchers])
        return f"the {check.at} step is {names[0]}; {wanted} was expected"
    if isinstance(check, Repeat):
        return f"{names[0]} {hit.detail}"
    if isinstance(check, Flow):
        if check.forbidden:
            return f"{' → '.join(names)}: {hit.detail}"
        return f"{names[0]} was given no value that an earlier step gave out"
    return hit.detail


def _seen(matcher: Matcher, item: LineStep) -> str:
    """Return the values a matcher looked at, with where they stand."""
    paths = dict.fromkeys(condition.path for condition in matcher.where)
    said = [f"{path}: {_shown(path, item)}" for path in paths if path.part != "attr"]
    return f" ({', '.join(said)})" if said else ""


def _shown(path: ValuePath, item: LineStep) -> str:
    value = _values.at(path, item)
    if isinstance(value, Missing):
        return "not recorded" if value is Missing.UNKNOWN else "absent"
    return value if isinstance(value, str) and not path.keys else _repr.repr(value)


def _filled(rule: PolicyRule, check: Check, hit: Hit, said: str) -> str:
    known = {
        "rule": rule.id,
        "steps": " → ".join(item.step.name for item in hit.witnesses),
        "detail": said,
        "agent": next((item.agent for item in hit.witnesses if item.agent), ""),
    }
    labels = labels_of(check)

    def fill(match: re.Match[str]) -> str:
        name, _, path = match[1].partition(".")
        if match[1] in known:
            return str(known[match[1]])
        index = labels.get(name, int(name) - 1 if name.isdigit() else -1)
        if not 0 <= index < len(hit.witnesses):
            return match[0]
        item = hit.witnesses[index]
        return _shown(_path(path), item) if path else item.step.name

    return _PLACE.sub(fill, rule.message or "")


def labels_of(check: Check) -> dict[str, int]:
    """Return the witness each label (`as`) of a check stands for, from 0."""
    matchers: Sequence[Matcher] = ()
    if isinstance(check, Occurrence | Repeat):
        matchers = (check.matcher,)
    elif isinstance(check, Chain):
        matchers = check.steps
    elif isinstance(check, Need):
        matchers = (check.trigger,)
    return {m.label: index for index, m in enumerate(matchers) if m.label is not None}


def unknown_places(template: str, checks: Sequence[Check]) -> list[str]:
    """Return the places of a template that nothing ever fills."""
    labels = {label for check in checks for label in labels_of(check)}
    found = []
    for match in _PLACE.finditer(template):
        name, _, path = match[1].partition(".")
        whole = match[1] in FIELDS
        numbered = name.isdigit() and int(name) > 0
        good = (numbered or name in labels) and (not path or _PART.match(path))
        if not whole and not good:
            found.append(match[0])
    return found


def _path(text: str) -> ValuePath:
    part, _, rest = text.partition(".")
    keys = tuple(int(k) if k.isdigit() else k for k in rest.split(".")) if rest else ()
    return ValuePath(part, keys)  # type: ignore[arg-type]


def result_message(
    rule: PolicyRule, verdict: Verdict, messages: Sequence[str], reasons: Sequence[str]
) -> str:
    """Return why a rule has its verdict, in one sentence."""
    if verdict is Verdict.VIOLATED:
        more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
        return f"{messages[0]}{more}" if messages else rule.id
    if verdict is Verdict.UNKNOWN:
        return "; ".join(dict.fromkeys(reasons))
    if verdict is Verdict.VACUOUS:
        return "nothing the rule is about occurred"
    return "; ".join(dict.fromkeys(_words.check(check) for check in rule.checks)) + ": holds"
