"""Small things the set-based engine asks: which ids a selector names, which names a row stands for.

One thing a newcomer would get wrong: a selector that names plain trace ids needs no facts of any
trace; with one expectation per trace that is what makes ten thousand of them cheap.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trajscope.model.expectation import Selector
from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep, build_step

_HEX = re.compile("[0-9a-fA-F]{32}").fullmatch


def exact_ids(select: Selector) -> list[str] | None:
    """Return the trace ids a selector names, if that is all it says and none is a pattern."""
    ids = (select.trace_id,) if isinstance(select.trace_id, str) else select.trace_id
    if ids is None or select.model_fields_set != {"trace_id"}:
        return None
    # Such an id is no pattern, and OTLP writes it so that a stored one can only differ in case.
    return list(dict.fromkeys(i.lower() for i in ids)) if all(map(_HEX, ids)) else None


def step_of(
    is_tool: bool, name: str, server: str | None, label: str | None, ident: str | None
) -> BaseStep:
    """Return a step that goes by the names of one row of `read_names`."""
    values: dict[str, Any] = {"name": name}
    if is_tool:
        kind = StepType.TOOL_CALL if server is None else StepType.MCP_TOOL_CALL
        return build_step(kind, values | ({} if server is None else {"mcp_server": server}))
    values |= {"label": label} | ({} if ident is None else {"agent_id": ident})
    return build_step(StepType.AGENT_RUN, values)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Keep the collector of cycles from running meanwhile.

    Scores and expectations have no cycles, and ten thousand of each are a million objects: looking
    through them again and again was a sixth of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
