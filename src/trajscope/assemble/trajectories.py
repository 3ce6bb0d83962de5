"""From spans to trajectories: forests, readings, RESOLVE, places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from trajscope.assemble._draft import TraceDraft, draft_traces
from trajscope.assemble._logs import join_logs
from trajscope.assemble._place import place
from trajscope.assemble.outline import OutlineRow, outline
from trajscope.assemble.resolve import resolve
from trajscope.model.reading import Reading
from trajscope.model.span import LogRecord, Span
from trajscope.model.trajectory import Trajectory


class Assembled(NamedTuple):
    """One resolved trace: its trajectory, and what every span became."""

    trajectory: Trajectory
    trace: TraceDraft

    def outline(self) -> list[OutlineRow]:
        """Return every span of the trace with what it became."""
        return outline(self.trace)


def assemble_traces(
    spans: Iterable[Span], read: Callable[[Span], Reading], logs: Iterable[LogRecord] = ()
) -> list[Assembled]:
    """Return every trace among `spans`, in order of their first span.

    The spans are one group (a capture or a session): results may be found across its traces.
    `read` gives the reading of a span, made now or loaded from the store. `logs` are the log
    records of the group (see `join_logs`); `read` must then be able to read a span again.
    """
    traces = draft_traces(join_logs(spans, logs, read), read)
    resolve(traces)
    return [Assembled(place(trace), trace) for trace in traces]


def assemble(
    spans: Iterable[Span], read: Callable[[Span], Reading], logs: Iterable[LogRecord] = ()
) -> list[Trajectory]:
    """Return the trajectories alone; see `assemble_traces`."""
    return [found.trajectory for found in assemble_traces(spans, read, logs)]
