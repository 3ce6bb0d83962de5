"""Example trajectories as rules carry them: a few names, with times, spans and ids made up.

One thing a newcomer would get wrong: an example says everything. Arguments that are not written are
an empty object, not unknown; `args: null` says that they were not recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from trajscope.model.policy import Example
from trajscope.model.reading import StepType
from trajscope.model.score import Verdict
from trajscope.model.step import build_step
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.rules._matchers import Body

_STEP_NS = 1_000_000
"""How long a step of an example takes that says nothing else."""
_BEGIN_NS = 1_700_000_000_000_000_000
_SHAPES = ("tool", "agent", "model", "handoff", "name", "parallel")


def read_examples(body: Body) -> tuple[Example, ...]:
    """Return the examples of a rule: `- violated: [read_secret, http_post]`."""
    found = []
    for item in body.elements():
        known = [v for v in Verdict if isinstance(item.value, dict) and item.has(v.value)]
        if len(known) != 1:
            item.fail(
                f"is no example (got {item.value!r:.80}); one of "
                f"{', '.join(v.value for v in Verdict)} was expected, with steps",
                "write - violated: [read_secret, http_post]",
            )
            continue
        told = item.part(known[0].value)
        at = body.reading.document.locate(item.keys)
        found.append(Example(known[0], _trajectories(item, told), at))
    return tuple(found)


def _trajectories(item: Body, told: Body) -> tuple[Trajectory, ...]:
    """Return the traces of an example: one, or with `traces:` those of a session."""
    traces = told.part("traces").elements() if isinstance(told.value, dict) else [told]
    session = "example" if isinstance(told.value, dict) else None
    totals = _totals(item)
    start = _BEGIN_NS
    found = []
    for number, trace in enumerate(traces, 1):
        builder = _Builder(f"{number:032x}", start)
        steps = builder.steps(trace.elements() if trace.value is not None else [], None)
        start = builder.latest + _STEP_NS
        found.append(builder.trajectory(steps, session, totals))
    return tuple(found)


def _totals(item: Body) -> dict[str, Any]:
    """Return what an example says of the trace as a whole."""
    values: dict[str, Any] = {"ended": not item.has("ended") or item.part("ended").boolean()}
    if item.has("tokens"):
        tokens = item.part("tokens").integer()
        values["tokens"] = TokenTotals(input=tokens, output=0, total=tokens, complete=True)
    if item.has("model_calls"):
        values["model_calls"] = item.part("model_calls").integer()
    if item.has("duration"):
        values["total_duration_ms"] = item.part("duration").duration_ns() / 1_000_000
    return values


class _Builder:
    """Builds the steps of one trace; its clock runs on with every step."""

    def __init__(self, trace_id: str, start_ns: int) -> None:
        self._trace_id = trace_id
        self._ids = count(1)
        self._begin = self._now = self.latest = start_ns
        self._made: list[dict[str, Any]] = []

    def steps(self, parts: Sequence[Body], agent: dict[str, Any] | None) -> list[dict[str, Any]]:
        """Return the steps of a list, one after the other."""
        return [step for part in parts for step in self._step(part, agent)]

    def _step(self, part: Body, agent: dict[str, Any] | None) -> list[dict[str, Any]]:
        if isinstance(part.value, str):
            names = part.patterns()
            return [self._tool(names[0] if names else "", agent, {})]
        shape = [s for s in _SHAPES if isinstance(part.value, dict) and part.has(s)]
        if len(shape) != 1 and shape[:1] != ["tool"]:
            part.wrong(f"a tool's name, or a mapping with one of {', '.join(_SHAPES)},")
            return []
        if shape[0] == "parallel":
            return self._parallel(part.part("parallel"), agent)
        values = self._values(part, shape[0])
        step = self._tool(part.part(shape[0]).text(), agent, values, shape[0])
        if part.has("steps"):
            start = self._now
            self._now = step["start_ns"]
            inner = step if shape[0] == "agent" else agent
            step["children"] = self.steps(part.part("steps").elements(), inner)
            self._now = max(self._now, start)
            if step["end_ns"] is not None:
                step["end_ns"] = self._now
        return [step]

    def _parallel(self, part: Body, agent: dict[str, Any] | None) -> list[dict[str, Any]]:
        start, latest, found = self._now, self._now, []
        for item in part.elements():
            self._now = start
            found += self._step(item, agent)
            latest = max(latest, self._now)
        self._now = latest
        return found

    def _values(self, part: Body, shape: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if part.has("at"):
            self._now = self._begin + part.part("at").duration_ns()
        if part.has("for"):
            values["length"] = part.part("for").duration_ns()
        if part.has("attr"):
            values["metadata"] = dict(part.part("attr").value or {})
        values["running"] = part.has("running") and part.part("running").boolean()
        if shape == "name":
            types = tuple(kind.value for kind in StepType)
            values["step_type"] = StepType(part.part("type").choice(types))
        elif shape == "handoff":
            names = part.part("handoff").text().partition(">")
            values["from_agent"], values["to_agent"] = names[0].strip(), names[2].strip()
        elif shape == "tool":
            values |= self._outcome(part)
        return values

    def _outcome(self, part: Body) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if part.has("args"):
            values["tool_args"] = part.part("args").value
        if part.has("result"):
            values["tool_result"] = part.part("result").value
        if part.has("failed"):
            failed = part.part("failed").value
            values["success"] = None if failed is None else not part.part("failed").boolean()
        if part.has("server"):
            values["mcp_server"] = part.part("server").text()
        if part.has("requested") and part.part("requested").boolean():
            values |= {"executed": False, "success": None}
        return values

    def _tool(
        self,
        name: str,
        agent: dict[str, Any] | None,
        values: dict[str, Any],
        shape: str = "tool",
    ) -> dict[str, Any]:
        kinds = {
            "agent": StepType.AGENT_RUN,
            "model": StepType.MODEL_GENERATION,
            "handoff": StepType.HANDOFF,
        }
        kind = values.pop("step_type", kinds.get(shape, StepType.TOOL_CALL))
        length = values.pop("length", _STEP_NS)
        running = values.pop("running", False)
        end = self._now + length
        step: dict[str, Any] = {
            "step_type": StepType.MCP_TOOL_CALL if "mcp_server" in values else kind,
            "name": name,
            "label": name,
            "span_id": f"{next(self._ids):016x}",
            "trace_id": self._trace_id,
            "start_ns": self._now,
            "end_ns": None if running else end,
            **values,
        }
        if agent is not None:
            step |= {"agent": agent["name"], "agent_span_id": agent["span_id"]}
        if shape == "tool":
            ok = values.get("success", None if running else True)
            given = {"tool_args": {}, "tool_result": None, **values, "success": ok}
            step |= {key: v for key, v in given.items() if key != "tool_args" or v is not None}
            if step.get("tool_args") is None:
                step.pop("tool_args", None)
            step["failed"] = None if ok is None else not ok
        self._now = end
        self.latest = max(self.latest, end)
        self._made.append(step)
        return step

    def trajectory(
        self, steps: list[dict[str, Any]], session: str | None, totals: dict[str, Any]
    ) -> Trajectory:
        """Return the trace; every top-level step is a root of its own."""
        for order, step in enumerate(sorted(self._made, key=lambda s: s["start_ns"])):
            step["order"] = order
        agents = [s["name"] for s in self._made if s["step_type"] is StepType.AGENT_RUN]
        ended = totals["ended"]
        values: dict[str, Any] = {key: v for key, v in totals.items() if key != "ended"}
        return Trajectory.model_construct(
            steps=tuple(map(_built, steps)),
            trace_id=self._trace_id,
            session_id=session,
            root_span_ids=tuple(step["span_id"] for step in steps) if ended else (),
            agents=tuple(dict.fromkeys(agents)),
            start_ns=self._begin,
            **values,
        )


def _built(step: dict[str, Any]) -> Any:
    children = tuple(map(_built, step.get("children", ())))
    values = {k: v for k, v in step.items() if k not in ("step_type", "children")}
    return build_step(step["step_type"], {**values, **({"children": children} if children else {})})
