"""ATIF, the Agent Trajectory Interchange Format of the Harbor project (versions 1.0 to 1.7).

Built from its specification; no recording exists. A trajectory is one agent run; every agent step
a model call; every tool call with a result a tool span; embedded sub-agents lie below the call that
delegated to them. One thing a newcomer would get wrong: a step has at most one timestamp, so no
duration is known and spans have no end. Steps that share a timestamp, or have none, are told apart
by a nanosecond each, for the order in the document is the order they happened in. Where *no* step
has one, starts are ordinal numbers (1, 2, …) and `atif.times` on the agent run says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from trajscope.formats._atif_messages import text_of_content, to_input, to_output
from trajscope.formats._row import Row, present
from trajscope.formats._rows import RowFormat
from trajscope.model.span import Json, Span, StatusCode

_MAX_DEPTH = 32
"""Levels of sub-agents inside sub-agents that are followed."""


def judge(record: dict[str, Json]) -> int:
    """Return 3 for a document whose schema version is an ATIF one."""
    version = record.get("schema_version")
    return 3 if isinstance(version, str) and version.upper().startswith("ATIF") else 0


def read_row(row: Row) -> Iterator[Span]:
    """Yield the spans of one trajectory document."""
    session = row.id("session_id")
    key = row.id("trajectory_id") or _digest(session, row.get("agent"), row.list("steps")[:1])
    known = list(_timestamps(row))
    clock = _Clock(known[0] - 1 if known else 0)
    run = _Run(row, _digest("trace", session or key), key, session, clock, bool(known))
    yield from run.spans()


def _timestamps(row: Row) -> Iterator[int]:
    for step in row.rows("steps"):
        if (time_ns := step.time("timestamp")) is not None:
            yield time_ns
            return


def _digest(*parts: Json) -> str:
    """32 hex digits that are the same for the same parts, whatever the machine."""
    text = msgspec.json.encode(parts, order="sorted")
    return hashlib.sha256(text).hexdigest()[:32]


@dataclass
class _Clock:
    """Hands out starts in document order: the step's own time, or one nanosecond later."""

    last: int

    def next(self, time_ns: int | None = None) -> int:
        self.last = max(time_ns or 0, self.last + 1)
        return self.last


@dataclass
class _Run:
    """One trajectory on its way to spans."""

    row: Row
    trace_id: str
    key: str
    session: str
    clock: _Clock
    is_timed: bool
    parent: str | None = None
    depth: int = 0
    model: str = ""
    said: list[Json] = field(default_factory=list)
    embedded: dict[str, Row] = field(default_factory=dict)

    def spans(self) -> Iterator[Span]:
        """Yield what happened inside, then the run itself, whose end is only known then."""
        self.model = self.row.row("agent").text("model_name")
        for index, part in enumerate(self.row.rows("subagent_trajectories")):
            self.embedded[part.id("trajectory_id") or f"#{index}"] = part
        start = self.clock.last + 1
        for number, step in enumerate(self.row.rows("steps"), start=1):
            yield from self._step(step, number)
        for name in list(self.embedded):
            yield from self._inside(name, self._id(0))
        yield self._agent(start)

    def _id(self, number: int, call: int = 0) -> str:
        """Ids in document order: spans that begin together are ordered by them."""
        return f"{_digest(self.key)[:6]}{number:06x}{call:04x}"

    def _agent(self, start: int) -> Span:
        agent = self.row.row("agent")
        totals = self.row.row("final_metrics")
        return self._span(
            self._id(0),
            self.parent,
            agent.text("name") or "agent",
            start,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": agent.get("name"),
                "gen_ai.agent.version": agent.get("version"),
                "gen_ai.request.model": self.model,
                "gen_ai.usage.input_tokens": totals.get("total_prompt_tokens"),
                "gen_ai.usage.output_tokens": totals.get("total_completion_tokens"),
                "gen_ai.usage.cache_read.input_tokens": totals.get("total_cached_tokens"),
                "atif.trajectory_id": self.row.get("trajectory_id"),
                "atif.continued_trajectory_ref": self.row.get("continued_trajectory_ref"),
                "atif.notes": self.row.get("notes"),
                "atif.agent.extra": agent.get("extra") or None,
                "atif.extra": self.row.get("extra") or None,
                "atif.times": None if self.is_timed else "ordinal",
            },
            end_ns=self.clock.last if self.is_timed else None,
        )

    def _step(self, step: Row, number: int) -> Iterator[Span]:
        if step.get("is_copied_context") is True:  # repeated from the trajectory this one continues
            return
        start = self.clock.next(step.time("timestamp"))
        source = step.text("source")
        observation = step.row("observation")
        if source != "agent":
            self.said.append(to_input(source or "user", step.get("message")))
        elif step.get("llm_call_count") != 0:
            yield self._model_call(step, number, start)
        results = {r.id("source_call_id"): r for r in observation.rows("results")}
        for call, part in enumerate(step.rows("tool_calls"), start=1):
            result = (
                results.pop(part.id("tool_call_id"), None) if part.get("tool_call_id") else None
            )
            if result is not None or step.get("llm_call_count") == 0:
                yield from self._tool_call(part, result, self._id(number, call))
        for result in results.values():  # of system operations, and of actions that are no calls
            for name in _delegates(result):
                yield from self._inside(name, self._id(0))

    def _model_call(self, step: Row, number: int, start: int) -> Span:
        metrics = step.row("metrics")
        model = step.text("model_name") or self.model
        said, self.said = self.said, []
        extra = metrics.mapping("extra")
        return self._span(
            self._id(number),
            self._id(0),
            f"chat {model}".strip(),
            start,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": model,
                "gen_ai.usage.input_tokens": metrics.get("prompt_tokens"),
                "gen_ai.usage.output_tokens": metrics.get("completion_tokens"),
                "gen_ai.usage.cache_read.input_tokens": metrics.get("cached_tokens"),
                "gen_ai.usage.reasoning.output_tokens": extra.get("reasoning_tokens"),
                "gen_ai.input.messages": said,
                "gen_ai.output.messages": [to_output(step)],
                "atif.step_id": step.get("step_id"),
                "atif.llm_call_count": step.get("llm_call_count"),
                "atif.cost_usd": metrics.get("cost_usd"),
                "atif.extra": step.get("extra") or None,
            },
        )

    def _tool_call(self, part: Row, result: Row | None, span_id: str) -> Iterator[Span]:
        start = self.clock.next()
        name = part.text("function_name")
        content = None if result is None else text_of_content(result.get("content"))
        extra = {} if result is None else result.mapping("extra")
        failed = any(extra.get(k) is True for k in ("is_error", "isError", "error"))
        self.said.append(to_input("tool", content, part.id("tool_call_id")))
        yield self._span(
            span_id,
            self._id(0),
            f"execute_tool {name}".strip(),
            start,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.id": part.get("tool_call_id"),
                "gen_ai.tool.call.arguments": part.get("arguments"),
                "gen_ai.tool.call.result": content,
                "atif.extra": part.get("extra") or None,
                "atif.result.extra": extra or None,
            },
            status="ERROR" if failed else "UNSET",
        )
        for delegate in _delegates(result) if result is not None else ():
            yield from self._inside(delegate, span_id)

    def _inside(self, name: str, parent: str) -> Iterator[Span]:
        row = self.embedded.pop(name, None)
        if row is None:  # it is a document of its own
            return
        if self.depth >= _MAX_DEPTH:
            row.report.add(f"left out; sub-agents are followed {_MAX_DEPTH} levels deep")
            return
        session = row.id("session_id") or self.session
        known = self.is_timed or any(True for _ in _timestamps(row))
        inner = _Run(row, self.trace_id, f"{self.key}/{name}", session, self.clock, known)
        inner.parent, inner.depth = parent, self.depth + 1
        yield from inner.spans()

    def _span(
        self,
        span_id: str,
        parent: str | None,
        name: str,
        start: int,
        attributes: dict[str, Json],
        *,
        end_ns: int | None = None,
        status: StatusCode = "UNSET",
    ) -> Span:
        version = self.row.text("schema_version") or "ATIF"
        common = {"atif.schema_version": version, "gen_ai.conversation.id": self.session}
        return Span(
            trace_id=self.trace_id,
            span_id=span_id,
            parent_span_id=parent,
            name=name,
            kind="INTERNAL",
            start_ns=start,
            end_ns=end_ns,
            status_code=status,
            attributes=present(attributes | common),
        )


def _delegates(result: Row) -> list[str]:
    """The names of the sub-agents a result refers to, that may be embedded."""
    return [ref.id("trajectory_id", "session_id") for ref in result.rows("subagent_trajectory_ref")]


FORMAT = RowFormat(
    name="atif",
    description="ATIF, the Agent Trajectory Interchange Format (Harbor): one document a run.",
    judge=judge,
    read_row=read_row,
)
