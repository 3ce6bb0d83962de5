"""What audit rules are made of: matchers, value paths, scopes; and what an audit says of a trace.

One thing a newcomer would get wrong: everything here is three- or four-valued. A matcher holds of a
step *surely*, *possibly* (what it asks for was not recorded) or not at all, and a rule is
`violated`, `satisfied`, `vacuous` or `unknown`; "not recorded" never counts as "no".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.score import Finding, Severity, Verdict
from trajscope.model.span import Json

Part = Literal["args", "result", "attr", "tool", "agent", "server"]
Operator = Literal[
    "eq", "ne", "gt", "ge", "lt", "le", "in", "not_in", "matches", "contains", "exists"
]
Order = Literal["end", "start"]
Per = Literal["trace", "agent", "parent", "session"]

OPERATORS: tuple[Operator, ...] = (
    "eq",
    "ne",
    "gt",
    "ge",
    "lt",
    "le",
    "in",
    "not_in",
    "matches",
    "contains",
    "exists",
)
TOOLS: tuple[StepType, ...] = tuple(sorted(TOOL_STEP_TYPES))
"""The types a matcher stands for when it names none."""

MAX_FINDINGS = 100
"""Findings kept per rule and trace; the others are counted in `findings_not_shown`."""
MAX_WITNESSES = 100
"""Spans kept per finding that any number of steps prove together (counts, repeats)."""


@dataclass(frozen=True, slots=True)
class ValuePath:
    """Where a value of a step lies: a part, then keys of objects and indexes of lists.

    args, result: what was recorded of a tool call. attr: the attributes of the span, whose key is
    the only element of `keys`. tool: the tool's key (`match.tool_key`), agent: the agent's name,
    server: the MCP server; these take no keys. A value is *known*, *absent* (its container is
    known and does not hold it), or *unknown*: the container was not recorded (args and result:
    null column or unset field; agent: null; attr: the engine has no attributes), or the value, or
    one around it, is a placeholder that stands for a removed value (`values.PLACEHOLDERS`, except
    "" and "N/A").
    """

    part: Part
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return ".".join([self.part, *(str(key) for key in self.keys)])


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a matcher's `where`.

    With an unknown value it is possible, never sure (`exists` of a placeholder is sure). With an
    absent one `ne`, `not_in` and `exists: false` hold and nothing else does. Equality is
    `values.equal_json`; gt, ge, lt, le compare two numbers or two texts and else do not hold;
    `matches` holds the pattern (`match.compile_pattern`) against the whole text, or the JSON text
    of another scalar; `contains`: part of a text, element of a list, key of an object.
    """

    path: ValuePath
    operator: Operator
    value: Json


@dataclass(frozen=True, slots=True)
class Matcher:
    """Which steps are meant; every field that is set must hold.

    names: patterns, any of which matches the step as `NamePattern.matches_step` says; empty is any
    name. types: any of these; empty is any type. agents: patterns for the agent's name; a step
    without an agent matches none. where: all of them hold. failed: True: known to have failed,
    False: known not to have (possible where it is unknown: `success` of a tool, `failed` of another
    step, is null). executed: True: the call ran; False: it was only requested; None: either.
    done: the step ran, has ended and has not failed. Of a tool call: sure when success is true,
    possible when null, not at all when false or never executed. Of another step: not when failed,
    possible when it has a start and no end, else sure. excluded: a step that any of these matches
    is not meant (surely: not at all; possibly: possible). label: what messages call it (`as`).
    """

    names: tuple[str, ...] = ()
    types: tuple[StepType, ...] = TOOLS
    agents: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    failed: bool | None = None
    executed: bool | None = None
    done: bool = False
    excluded: tuple[Matcher, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Values of the steps of one check that are compared: one path per matcher, in their order.

    In a check with many matchers neighbours are compared. As `same` it holds surely when both
    values are known and equal (`match.json_key`), possibly when one is unknown, else not; an
    absent value equals nothing. As `differ` it holds surely when both are known and not equal,
    possibly when one is unknown or absent, else not.
    """

    paths: tuple[ValuePath, ...]


@dataclass(frozen=True, slots=True)
class AuditScope:
    """Which steps a rule looks at, and which of them form one *line*.

    The counting steps of a trace are those of `types` (empty: all), below a step (strictly, at any
    depth) whose name matches one of `under` if it is set, and below none that matches `not_under`.
    Nothing else is looked at: steps outside never change a verdict.

    A line is what a check is decided over by itself: all counting steps of the trace; of each agent
    run (`per="agent"`: equal trace and agent_span_id, or agent where that is null); of each parent
    step (`parent`); or of all traces of the session (`session`; a trace without a session id is a
    session of its own). Within a trace it is ordered by `ord`. In a session the traces are merged
    by time: by start, where it is unknown the start of the next step of its trace in the line that
    has one, else of the one before, else of the trace; ties by trace start, trace id, `ord`; if
    even that is unknown for any step, trace after trace.

    Rank: 0-based place in the line. *Over*: the rank from which on a step counts as ended. With
    T(s) = start of s, or of the next step of the line that has one, else infinity:

    - start and end known: max(rank + 1, number of steps of the line with T < end);
    - start known and end not: possibly rank + 1, surely never;
    - start not known (calls known from messages): rank + 1, but past its siblings: the steps right
      behind it in the line that have no start and the same trace and span id (one message).

    "a before b" is rank(b) >= over(a) with `order="end"` (so overlapping steps have no order) and
    rank(b) > rank(a) with `order="start"`. The *gap* between a and b is the number of executed
    counting steps with a rank between theirs. *Within* compares starts (b's minus a's, in ns); it
    is unknown, thus possible, when one start is not known.
    """

    per: Per = "trace"
    types: tuple[StepType, ...] = TOOLS
    under: tuple[str, ...] = ()
    not_under: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What one rule says of one trace, or of one session (then trace_id is None).

    message: why, in one sentence; of an unknown, which evidence is missing. lines: how many lines
    were decided. counts: what else was counted (`steps`, `activations`, `violations`, `unknown`).
    findings: the first `MAX_FINDINGS`, by check, then line, then last witness; span ids are ordered
    as the steps are; findings of the same spans and message are one. A violated result carries the
    violations only; an unknown one carries findings of verdict `unknown` where a step can be named,
    so that one can look at it.
    """

    rule: str
    severity: Severity
    verdict: Verdict
    message: str
    trace_id: str | None = None
    session_id: str | None = None
    findings: tuple[Finding, ...] = ()
    findings_not_shown: int = 0
    counts: dict[str, int] = field(default_factory=dict)


_WORST_FIRST = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.SATISFIED, Verdict.VACUOUS)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of several lines or checks together.

    Violated beats unknown: no evidence that comes later takes a violation back. Unknown beats
    satisfied: a rule holds only if all of it does. Vacuous is what remains.

    >>> worst([Verdict.VACUOUS, Verdict.SATISFIED]), worst([])
    (<Verdict.SATISFIED: 'satisfied'>, <Verdict.VACUOUS: 'vacuous'>)
    """
    found = set(verdicts)
    return next((v for v in _WORST_FIRST if v in found), Verdict.VACUOUS)
