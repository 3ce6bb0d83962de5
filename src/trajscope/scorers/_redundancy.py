"""Tool calls that repeat an earlier one for nothing."""

from __future__ import annotations

from collections import Counter

from trajscope.match import json_key, tool_key
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.scope import Located, locate_tools, was_executed
from trajscope.scorers._results import RedundantCall


def find_redundant(trajectory: Trajectory) -> tuple[list[RedundantCall], int]:
    """Return the redundant calls, and how many calls may be redundant for all that is known.

    A call is redundant if the latest earlier call of the same tool with equal arguments in the
    same agent run is not known to have failed; other calls may stand between. A call without
    recorded arguments may repeat any other call of its tool, so it is counted as undecided if
    there is another.
    """
    latest: dict[tuple[object, str, str], tuple[int, Located]] = {}
    per_tool: Counter[tuple[object, str]] = Counter()
    undecided: Counter[tuple[object, str]] = Counter()
    redundant: list[RedundantCall] = []
    calls = [place for place in locate_tools(trajectory) if was_executed(place.step)]
    for index, place in enumerate(calls):
        step = place.step
        if not isinstance(step, ToolStep):
            continue
        tool = (place.run, tool_key(step))
        per_tool[tool] += 1
        if step.tool_args is None:
            undecided[tool] += 1
            continue
        key = (*tool, json_key(step.tool_args))
        earlier = latest.get(key)
        if earlier is not None and not _failed(earlier[1]):
            redundant.append(_redundant(index, place, *earlier))
        latest[key] = (index, place)
    return redundant, sum(n for tool, n in undecided.items() if per_tool[tool] > 1)


def _failed(place: Located) -> bool:
    return isinstance(place.step, ToolStep) and place.step.success is False


def _redundant(index: int, place: Located, earlier_index: int, earlier: Located) -> RedundantCall:
    return RedundantCall(
        name=place.step.name,
        index=index,
        span_id=place.step.span_id,
        repeats_index=earlier_index,
        repeats_span_id=earlier.step.span_id,
        agent=place.agent,
    )
