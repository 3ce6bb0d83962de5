"""What the scorers of an item are given: the run's input and output, as messages or trajectory.

One thing a newcomer would get wrong: the trajectory of a run comes from its trace where there is
one; messages know no times, tokens or sub-agents and are only the second witness. A run of which
only the trace is known gets its messages from the trajectory, so both say the same calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trajscope.errors import UsageError
from trajscope.evals.data import Graded, Item
from trajscope.evals.messages import extract_trajectory
from trajscope.evals.outcome import TrajectorySource
from trajscope.evals.rebuilt import messages_of
from trajscope.evals.scorer import Compat
from trajscope.model.trajectory import Trajectory
from trajscope.scope import merge_session

Traces = Callable[[str], Trajectory | None]
"""Gives the trajectory of a recorded trace; None when there is no such trace."""


class Nothing:
    """The type of `NOTHING`."""


NOTHING = Nothing()
"""No output is known; None is one."""


@dataclass(frozen=True, slots=True)
class TargetReply:
    """What a target gives when it knows more than an output.

    input: what the agent was given, when that is more than the item's input. trace_id: of the
    trace the run left in the store. trajectory: of the run, where the target has it.
    """

    output: Any = NOTHING
    input: Any = NOTHING
    trace_id: str | None = None
    trajectory: Any = None


@dataclass(slots=True)
class Material:
    """One run to judge. The trajectory is looked up when the first scorer asks for it."""

    place: str
    item: Item
    replies: Sequence[TargetReply]
    inputs: Sequence[Any]
    traces: Traces | None
    compat: Compat | None
    trajectory_from: TrajectorySource | None = None
    notes: list[str] = field(default_factory=list)
    _trajectory: Any = None

    def members(self, graded: Graded) -> dict[str, Any]:
        """Return the members of the run for one scorer.

        Raises:
            UsageError: it judges trajectories, and the run has none.
        """
        output = self.trajectory() if graded.wants_trajectory else self._output(graded)
        found = {"input": self._input(), "output": output}
        given = self.item.given
        for key in ("ground_truth", "expected_trajectory", "request_context"):
            found[key] = given.get(key, NOTHING)
        if self.compat is None and self.trace_id is not None:
            found["run_id"] = self.trace_id
        return {key: value for key, value in found.items() if value is not NOTHING}

    @property
    def trace_id(self) -> str | None:
        """The trace of the run; None when it is unknown, or when there are several."""
        ids = {reply.trace_id for reply in self.replies}
        return ids.pop() if len(ids) == 1 else None

    @property
    def output(self) -> Any:
        """The output: of several turns all messages, or the last output if they are none."""
        outputs = [reply.output for reply in self.replies]
        if len(outputs) > 1 and all(isinstance(output, list) for output in outputs):
            return [message for output in outputs for message in output]
        return outputs[-1]

    def trajectory(self) -> Any:
        """Return the trajectory: given, else of the traces, else of the messages.

        Raises:
            UsageError: there is none of them.
        """
        if self._trajectory is None:
            self._trajectory = self._find_trajectory()
        return self._trajectory

    def _input(self) -> Any:
        said = [
            asked if reply.input is NOTHING else reply.input
            for asked, reply in zip(self.inputs, self.replies, strict=True)
        ]
        return said if len(said) > 1 else said[0]

    def _output(self, graded: Graded) -> Any:
        output = self.output
        if output is not NOTHING:
            return output
        agents = graded.bucket == "agent" or graded.scorer.type == "agent"
        return messages_of(self.trajectory()) if agents else self.trajectory()

    def _find_trajectory(self) -> Any:
        if self.compat is not None:
            self.trajectory_from = "messages"
            return extract_trajectory(self.output, compat=self.compat)
        if all(reply.trajectory is not None for reply in self.replies):
            self.trajectory_from = "given"
            return _joined([_checked(reply.trajectory, self.place) for reply in self.replies])
        stored = [self._stored(reply.trace_id) for reply in self.replies]
        known = [trajectory for trajectory in stored if trajectory is not None]
        if len(known) == len(stored):
            self.trajectory_from = "trace"
            return _joined(known)
        if self.output is NOTHING:
            raise UsageError(f"{self.place}: has no trajectory ({'; '.join(self.notes)})")
        self.trajectory_from = "messages"
        return extract_trajectory(self.output)

    def _stored(self, trace_id: str | None) -> Trajectory | None:
        if trace_id is None:
            return None
        if self.traces is None:
            self._note(f"trace {trace_id}: there is no store to look it up in")
            return None
        found = self.traces(trace_id)
        if found is None:
            self._note(f"trace {trace_id}: is not in the store")
        return found

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _checked(trajectory: Any, place: str) -> Trajectory:
    if isinstance(trajectory, Trajectory):
        return trajectory
    try:
        return Trajectory.model_validate(trajectory)
    except ValueError as error:
        raise UsageError(f"{place}: the trajectory is malformed: {error}") from error


def _joined(trajectories: Sequence[Trajectory]) -> Trajectory:
    return trajectories[0] if len(trajectories) == 1 else merge_session(trajectories)
