"""Trajectories and steps as flat rows: what the store keeps, whoever computed it (SQL or Python).

One thing a newcomer would get wrong: `lft` and `rgt` are nested-set bounds over the *steps* of a
trace, so "b is below a" is `b.lft BETWEEN a.lft AND a.rgt` (a itself included), and ordering by
`lft` walks the trajectory depth first. `ord` is the other order: by start, over all depths.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from trajscope.model.reading import StepType
from trajscope.model.span import Json


class StepRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One step of one trajectory.

    step_id: the span id, or "span_id#call_id" for a tool call that a model requested and that has
    no span of its own. depth: 0 at the top. ord: 0-based rank in the trace by start. args, result:
    UNSET where nothing was recorded. success: of tool calls, three-valued; failed: of any step.
    model_calls, input_tokens, output_tokens: of the model calls this step itself stands for, so
    that a sum over the steps of a trace counts each once. fields: the further fields of its type.
    """

    trace_id: str
    span_id: str
    step_id: str
    parent_step_id: str | None = None
    depth: int
    ord: int
    lft: int
    rgt: int
    step_type: StepType
    name: str
    label: str = ""
    agent: str | None = None
    agent_span_id: str | None = None
    args: Json | UnsetType = UNSET
    result: Json | UnsetType = UNSET
    success: bool | None = None
    failed: bool | None = None
    failure: str | None = None
    executed: bool = True
    from_messages: bool = False
    tool_call_id: str | None = None
    mcp_server: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_calls: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    session_id: str | None = None
    fields: dict[str, Json] = {}


class TrajectoryRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of one trajectory as a whole, with its steps.

    duration_ns: of the single root; None if there are several or its times are unknown. agents:
    names, in order of first appearance. model_calls: None where the trace records none although
    it ran agents. Tokens: over the innermost model calls, each once; None is unknown, and
    `tokens_complete` is False where they are lower bounds. context_ids: later traces whose messages
    hold results of this one's calls.
    """

    trace_id: str
    session_id: str | None = None
    start_ns: int | None = None
    duration_ns: int | None = None
    root_span_ids: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    missing_parents: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    span_count: int = 0
    noise_span_count: int = 0
    model_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    tokens_complete: bool = False
    context_ids: tuple[str, ...] = ()
    steps: tuple[StepRow, ...] = ()


def nested_bounds(depths: Sequence[int]) -> list[tuple[int, int]]:
    """Return (lft, rgt) of each step, given their depths in depth-first order.

    Depths alone say where every step sits, so no recursion and no parent look-up is needed.

    >>> nested_bounds([0, 1, 1, 0])
    [(1, 6), (2, 3), (4, 5), (7, 8)]
    """
    lefts: list[int] = []
    rights = [0] * len(depths)
    open_steps: list[int] = []
    bound = 0
    for at, depth in enumerate(depths):
        while len(open_steps) > depth:
            bound += 1
            rights[open_steps.pop()] = bound
        bound += 1
        lefts.append(bound)
        open_steps.append(at)
    while open_steps:
        bound += 1
        rights[open_steps.pop()] = bound
    return list(zip(lefts, rights, strict=True))
