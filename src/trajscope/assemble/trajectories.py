"""From spans to trajectories: forests, readings, RESOLVE, places."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trajscope.assemble._draft import draft_traces
from trajscope.assemble._place import place
from trajscope.assemble.resolve import resolve
from trajscope.model.reading import Reading
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory


def assemble(spans: Iterable[Span], read: Callable[[Span], Reading]) -> list[Trajectory]:
    """Return the trajectory of every trace among `spans`, in order of their first span.

    The spans are one group (a capture or a session): results may be found across its traces.
    `read` gives the reading of a span, made now or loaded from the store.
    """
    traces = draft_traces(spans, read)
    resolve(traces)
    return [place(trace) for trace in traces]
