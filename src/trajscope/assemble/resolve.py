"""RESOLVE: what needs more than one span, as one ordered tuple. The order is the meaning.

One thing a newcomer would get wrong: rules run over a *group* of traces (a capture, or one
session), since a tool result may stand in the messages of a later trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trajscope.assemble._draft import TraceDraft
from trajscope.assemble._fold import (
    drop_calls_within_calls,
    drop_repeated_calls,
    drop_repeated_responses,
    fold_model_calls,
    fold_runs,
    fold_tools,
    fold_wrappers,
)
from trajscope.assemble._pair import pair_requests
from trajscope.assemble._runs import (
    borrow_agents,
    complete_handoffs,
    confirm_workflows,
    lift_parts,
    open_agents,
)
from trajscope.assemble._settle import (
    judge_mcp_texts,
    mark_mcp,
    name_agents,
    settle_success,
)
from trajscope.assemble._transcript import read_transcripts

Rule = Callable[[Sequence[TraceDraft]], None]

RESOLVE: tuple[Rule, ...] = (
    lift_parts,  # first: a part's failure is its step's, before the part becomes anything else
    open_agents,  # before folding: a sub-agent's tools are not its caller's
    confirm_workflows,
    fold_tools,  # before pairing: a request must meet the outermost span of its call
    fold_model_calls,  # before repeated responses: nests are no repeats
    drop_repeated_responses,  # before pairing: the dropped twin's requests must not count
    drop_calls_within_calls,  # after responses, whose ids are surer than times and counts
    drop_repeated_calls,  # after folding: nests are no repeats
    fold_runs,  # after tools: an agent inside a tool is another run
    fold_wrappers,  # after runs: what two wrappers hold is one run
    borrow_agents,  # before pairing, which hands a model call's agent on to the calls it asked for
    pair_requests,  # needs all of the above
    read_transcripts,  # after pairing, which knows whether model calls hold requests
    name_agents,
    complete_handoffs,  # after naming: the next run's name may come from a span below it
    mark_mcp,  # after pairing: requested calls have names too
    judge_mcp_texts,  # after marking: only a known MCP call is judged by the MCP SDK's texts
    settle_success,  # last: "no evidence of failure" only holds when all evidence is in
)
"""The rules, in the order they run."""


def resolve(traces: Sequence[TraceDraft]) -> None:
    """Run every rule over a group of traces."""
    for rule in RESOLVE:
        rule(traces)
