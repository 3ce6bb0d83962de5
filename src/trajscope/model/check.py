"""The core every audit rule compiles to: a few frozen checks, each with its exact meaning.

One thing a newcomer would get wrong: a check is decided twice per line. The *certain* pass counts
against the run only what is sure and for it whatever is possible; what it finds is violated. The
*possible* pass is the other way round; what it finds beyond the certain pass is unknown. So
taking evidence away can only ever move a verdict towards unknown.

Verdict of a check on one line, unless it says otherwise: violated if the certain pass finds
anything; else unknown if the possible pass does; else vacuous if the check was not activated
(possibly activated counts as activated); else satisfied. A line without counting steps is vacuous,
except for what is asked of an empty trace too: `Occurrence.min_count`, `Limits`, `Query`,
`Predicate`. A trace without any counting step has one such line. Verdicts of lines and checks are
joined by `rule.worst`.

*Unfinished*: a trace is unfinished when it has no root span (`root_span_ids` empty although its
steps are recorded spans), or a root step with a start and no end. Session: when one of its traces
is. What an unfinished trace may still bring is unknown (pending), never violated.

Witnesses of a finding are steps in order of rank; its span ids are theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trajscope.model.rule import Join, Matcher, Order, ValuePath

Direction = Literal["before", "after", "any"]
Measure = Literal[
    "steps",
    "tool_calls",
    "model_calls",
    "tokens",
    "input_tokens",
    "output_tokens",
    "duration_ns",
    "depth",
]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """How often a step may or must occur: `never`, `only`, `require`, `count`.

    Always activated. More than `max_count`: with 0, every match is a finding of one witness;
    otherwise one finding, its witnesses all matches. With `within_ns`, the matches of known start
    in rank order, m[i] is a finding when m[i].start - m[i - max_count].start <= within_ns,
    witnesses m[i - max_count .. i]; possible when the possible matches are more than `max_count`
    and one of them is not sure or has no start. Fewer than `min_count` possible matches: violated,
    one finding without witnesses; pending if unfinished; fewer sure ones: unknown.
    """

    matcher: Matcher
    min_count: int = 0
    max_count: int | None = None
    within_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps that must not follow one another: `never_sequence`, `no_retry`.

    Activated by a match of the first matcher. A step b that matches matcher i + 1 continues a chain
    that ends in a step a of matcher i when a is before b (`order`), the gap between them is at most
    `max_gap`, and the joins hold between a and b. Of all such a the one of highest rank is taken. A
    chain whose last step matches the last matcher is a finding, one per last step, its witnesses
    the chain; unless it took longer than `within_ns` (first to last start), or a step that matches
    `unless` lies between: after its first step and before its last, by `order`. One step never
    stands twice in a chain. per_run: the line is cut into its agent runs (as with
    `AuditScope.per="agent"`), each ranked by itself, before anything is looked for. The certain
    pass takes sure matches, joins and orders, and possible guards; the possible pass possible ones,
    and sure guards.
    """

    steps: tuple[Matcher, ...]
    max_gap: int | None = None
    within_ns: int | None = None
    unless: Matcher | None = None
    same: tuple[Join, ...] = ()
    differ: tuple[Join, ...] = ()
    order: Order = "end"
    per_run: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """What a step needs: `before`, `after`, `if`, `pair`, `together`, `on_failure`.

    Activated by a match of `trigger`. Every trigger needs another step that matches any of `needs`:
    before it, after it, or anywhere in the line (`any`); by `order`, with the joins (paths: first
    of the trigger, second of the need), and with starts at most `within_ns` apart. immediately:
    with a gap of 0 as well. each: one need serves one trigger: triggers in order (`after`: from the
    last to the first), each takes of the needs that would do the oldest (`after`: the latest)
    that is still free; with `differ` also one that a trigger served before can do without, since a
    free one serves that trigger as well.

    A trigger without its need is a finding, the trigger its witness. The certain pass takes sure
    triggers and possible needs, the possible pass possible triggers and sure needs. With `after`
    and `any`, a trigger that is short in an unfinished trace is unknown (pending), unless
    `within_ns` is over: a step of the line starts more than that after the trigger; with
    `immediately`, unless an executed step follows it.
    """

    trigger: Matcher
    needs: tuple[Matcher, ...]
    direction: Direction
    each: bool = False
    immediately: bool = False
    within_ns: int | None = None
    same: tuple[Join, ...] = ()
    differ: tuple[Join, ...] = ()
    order: Order = "end"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two kinds of steps that must not both occur, in whatever order: `not_together`.

    Activated by a match of either. Every match of `other` for which a match of `one` (another
    step) holds the joins is a finding; its witnesses are both, `one` being the lowest in rank.
    """

    one: Matcher
    other: Matcher
    same: tuple[Join, ...] = ()
    differ: tuple[Join, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Which step must come first or last: `first`, `last`.

    The first (last) executed step of the line must match any of `matchers`; else it is the witness.
    A line without executed steps is vacuous. `last` in an unfinished trace: pending if violated.
    """

    matchers: tuple[Matcher, ...]
    at: Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same call again and again: `no_repeat`.

    Activated by a match. Matches are grouped by the values at `same` (absent is a value of its
    own). `times` or more of one group are a finding, its witnesses all of them. With `consecutive`
    a group is a stretch of equal matches with a gap of 0 between neighbours. With `within_ns`,
    g[i] is a finding when g[i].start - g[i - times + 1].start <= within_ns, witnesses
    g[i - times + 1 .. i]. Unknown: when the largest group of a tool and its matches of unknown
    values (or, with within_ns, starts), at least one, are `times` or more together; consecutive:
    when a stretch of neighbouring matches of one tool holds an unknown one and is that long.
    """

    matcher: Matcher
    same: tuple[ValuePath, ...]
    times: int = 2
    consecutive: bool = False
    within_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """Whether a value one step gave out turns up in what a later step was given: `flow`, `no_flow`.

    Activated by a match of a target's matcher. The scalars below a source's path and those below a
    target's path are compared as texts (`match.json_key` of numbers), white space collapsed and
    case folded: a value flows when one of the two texts contains the other and the contained one
    has at least `min_chars` characters. Booleans and null never flow.

    forbidden (`no_flow`): a target step with a flow from a source step before it is a finding,
    unless a step that matches `unless` lies between (as in `Chain`) the target and the source of
    highest rank from which a value flows; witnesses: that source, the target. Else (`flow`): a
    target step to which no value flows is a finding, the target its witness. A target or a source
    before it whose part is unknown makes the target unknown, if the certain pass does not decide
    it.
    """

    sources: tuple[tuple[Matcher, ValuePath], ...]
    targets: tuple[tuple[Matcher, ValuePath], ...]
    forbidden: bool = True
    min_chars: int = 8
    unless: Matcher | None = None
    order: Order = "end"


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of a trace or session: `budget`.

    Measures are over counting steps that were executed: steps, tool_calls, depth (1 for a step at
    the top of its trajectory). Of the trajectory as a whole: model_calls, tokens, input_tokens,
    output_tokens, duration_ns (of a session: from the first start to the last end). A measure above
    its limit is a finding without witnesses (depth: the first step that deep). A figure that is
    unknown, or known to be a lower bound that is not above the limit, makes the check unknown; so
    does an unfinished trace.
    """

    limits: tuple[tuple[Measure, int], ...]


@dataclass(frozen=True, slots=True)
class Transitions:
    """Which step may follow which: `model`; which agent may call which: `handoff`.

    of="steps": every executed step of the line and the next one are an edge; `start` and `end` name
    what may come first and last. A step that matches no state, and an edge from a state that does
    not lead there, is a finding; witnesses: the two steps (start, end: the one). of="agents": edges
    are agent runs inside another agent's run (from the name of the nearest one around it), and
    handoff steps (from_agent to to_agent); other edges than `allowed` are findings, the run or
    handoff step being the witness; an edge with an unknown end is unknown; from an agent to itself
    is no edge. Activated by an edge (agents) or a step (steps). `denied` edges are findings
    whatever is allowed; with `allowed` None all others are allowed. Pairs hold patterns. `end` is
    pending if unfinished.
    """

    of: Literal["steps", "agents"]
    allowed: tuple[tuple[str, tuple[str, ...]], ...] | None
    denied: tuple[tuple[str, tuple[str, ...]], ...] = ()
    start: tuple[str, ...] | None = None
    end: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """Rows a read-only SQL query over the store returns are findings: `sql`.

    Columns: trace_id and span_id (or span_ids, a list); `message`, if there, says why. Without a
    store the check is unknown. Never vacuous: a trace of which no row is returned satisfies it.
    """

    sql: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """A Python function decides: `python`.

    path: the file, absolute. It is called with the Trajectory and returns True (satisfied), False
    (violated), None (unknown), a text (violated, and why), or a list of texts or findings (violated
    if any). A function that raises makes the check unknown, with what it raised.
    """

    path: str
    function: str


Check = (
    Occurrence
    | Chain
    | Need
    | Conflict
    | Edge
    | Repeat
    | Flow
    | Limits
    | Transitions
    | Query
    | Predicate
)
"""Any of the checks."""
