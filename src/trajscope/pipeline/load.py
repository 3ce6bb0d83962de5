"""Reading captures into trajectories, in memory.

One thing a newcomer would get wrong: all paths of one call are *one* capture. A trace's spans and
its log records mostly lie in two files, and a result may stand in another trace of the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trajscope.assemble import Assembled, assemble_traces
from trajscope.conventions import Reader
from trajscope.errors import Problems, UsageError
from trajscope.formats import parse_size, read_captures
from trajscope.model.span import LogRecord, Span
from trajscope.model.trajectory import Trajectory


@dataclass(frozen=True)
class Loaded:
    """Trajectories with what was wrong with their input.

    assembled: in order of each trace's first span. span_count: spans read, repeats included.
    """

    assembled: list[Assembled]
    problems: Problems
    span_count: int = 0
    logs: list[LogRecord] = field(default_factory=list)

    @property
    def trajectories(self) -> list[Trajectory]:
        """The trajectories alone."""
        return [found.trajectory for found in self.assembled]

    def nothing_understood(self) -> str | None:
        """Return a sentence when spans were read and none of them is a step, else None."""
        steps = any(t.root is not None or t.steps for t in self.trajectories)
        if steps or not self.assembled:
            return None
        return (
            f"no agent steps: none of {self.span_count:,} spans belongs to a vocabulary "
            "trajscope knows (plain HTTP or database spans are no steps)"
        )


def load(
    targets: Sequence[str],
    *,
    db: str | None = None,
    strict: bool = False,
    max_expanded: str = "4GiB",
    format_name: str | None = None,
) -> Loaded:
    """Read captures and assemble their traces.

    Raises:
        UsageError: no target was given.
        InputError: a capture cannot be read, or holds nothing that can.
    """
    if not targets:
        raise UsageError("no capture was named", hint="give a file, a directory, or - for stdin")
    problems = Problems(strict=strict)
    spans: list[Span] = []
    logs: list[LogRecord] = []
    limit = parse_size(max_expanded)
    for record in read_captures(targets, problems, format_name=format_name, max_expanded=limit):
        if isinstance(record, Span):
            spans.append(record)
        else:
            logs.append(record)
    return Loaded(assemble_traces(spans, Reader(), logs), problems, len(spans), logs)
