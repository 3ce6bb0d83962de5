"""A trajectory: the typed steps of one run, nested, with totals. Built by `assemble`.

One thing a newcomer would get wrong: a single agent or workflow run at the top is *unwrapped*, as
the reference does: its children are `steps`, and the run itself is `root` (without children).
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from trajscope.model.repair import Repair
from trajscope.model.span import Json
from trajscope.model.step import BaseStep, Step
from trajscope.model.value import Value


class TokenTotals(Value):
    """Tokens over the innermost model calls, each once.

    None is unknown. `complete` is False when at least one model call did not record its counts;
    then the figures are lower bounds.
    """

    input: int | None = None
    output: int | None = None
    total: int | None = None
    cached_input: int | None = None
    complete: bool = False


class Trajectory(Value):
    """The ordered, nested steps of one run.

    steps: top-level steps. total_duration_ms: of the single root, milliseconds; unset if there
    are several or its times are unknown. raw_output, raw_workflow_result: as the reference has
    them. Ours: ids, `root` (the unwrapped run, without children), orphans (span ids kept in place
    although their parent is missing), missing_parents, repairs, model_calls (None: the trace
    records none), tokens, session_id, agents (names, in order of first appearance), span_count
    and noise_span_count (spans of the trace after removal of repeats; those that are no step).
    """

    steps: tuple[Step, ...] = ()
    total_duration_ms: float | None = None
    raw_output: Json | None = None
    raw_workflow_result: Json | None = None

    trace_id: str | None = None
    session_id: str | None = None
    root: Step | None = None
    root_span_ids: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    missing_parents: tuple[str, ...] = ()
    model_calls: int | None = None
    tokens: TokenTotals | None = None
    agents: tuple[str, ...] = ()
    span_count: int | None = None
    noise_span_count: int | None = None
    start_ns: int | None = None
    repairs: tuple[Repair, ...] = Field(default=(), exclude=True)

    @property
    def has_steps(self) -> bool:
        """Whether there is any step, the unwrapped root too."""
        return self.root is not None or bool(self.steps)

    def walk(self) -> Iterator[BaseStep]:
        """Yield every step once, depth first, the unwrapped root first.

        Iterative, so depth is bounded by memory and not by the interpreter's stack.
        """
        if self.root is not None:
            yield self.root
        yield from walk(self.steps)


def walk(steps: tuple[BaseStep, ...]) -> Iterator[BaseStep]:
    """Yield `steps` and everything below them, depth first, in order."""
    stack = list(reversed(steps))
    while stack:
        step = stack.pop()
        yield step
        stack.extend(reversed(step.children))
