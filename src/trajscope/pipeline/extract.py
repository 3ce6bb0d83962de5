"""`extract_trajectory_from_trace`: the library's front door for one trace.

One thing a newcomer would get wrong: by default an unknown `root_span_id` is an error. The
reference silently takes the whole trace instead, and so does `compat="mastra"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from trajscope.assemble import assemble
from trajscope.assemble.mastra import extract_trajectory_from_records
from trajscope.conventions import Reader
from trajscope.errors import SpanError
from trajscope.formats.mastra_spans import record_from_span, span_from_record
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory
from trajscope.scope import merge_session
from trajscope.tree import build_forests


def extract_trajectory_from_trace(
    spans: Iterable[Span | Mapping[str, Any]],
    root_span_id: str | None = None,
    *,
    compat: Literal["mastra"] | None = None,
) -> Trajectory:
    """Return the trajectory of one trace, or of the part of it below `root_span_id`.

    Spans may be `Span` values or stored span records (mappings in Mastra's form). Spans of several
    traces give one trajectory with all their steps, in order of time. With `compat="mastra"` the
    result is the reference's, which drops, reorders and renames what it does.

    Raises:
        SpanError: a record is no span, or no span has the id `root_span_id`.
    """
    if compat == "mastra":
        records = [record_from_span(s) if isinstance(s, Span) else s for s in spans]
        return Trajectory.model_validate(extract_trajectory_from_records(records, root_span_id))
    known = [s if isinstance(s, Span) else span_from_record(s) for s in spans]
    if root_span_id is not None:
        known = _below(known, root_span_id)
    found = assemble(known, Reader())
    return found[0] if len(found) == 1 else merge_session(found)


def _below(spans: list[Span], root_span_id: str) -> list[Span]:
    """The span with the id, as a root, and everything under it."""
    for forest in build_forests(spans):
        node = forest.nodes.get(root_span_id)
        if node is not None:
            root, *below = (n.span for n in node.walk())
            return [msgspec.structs.replace(root, parent_span_id=None), *below]
    raise SpanError(
        f"no span has the id {root_span_id!r} (of {len(spans)} spans)",
        hint="leave root_span_id out for the whole trace",
    )
