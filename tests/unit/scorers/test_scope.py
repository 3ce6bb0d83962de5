from __future__ import annotations

from typing import Any

import pytest

from tests.support.trajectories import agent, model, tool, trajectory
from trajscope.model.expectation import ExpectedStep
from trajscope.model.trajectory import TokenTotals
from trajscope.scope import (
    agent_runs,
    below,
    locate_steps,
    merge_session,
    resolve_scope,
    select_steps,
)

TOOK = trajectory(
    model(tool("a", order=3), tool("asked", ok=None, executed=False, order=4)),
    agent("sub", tool("b", order=1)),
    tool("c", order=2),
    root=agent("boss"),
)


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("tools", ["b", "c", "a"]),
        ("auto", ["b", "c", "a"]),
        ("session", ["b", "c", "a"]),
        ("tree", ["boss", "model", "a", "sub", "b", "c"]),
        ("top", ["model", "sub", "c"]),
    ],
)
def test_steps_of_a_scope(scope: Any, names: list[str]) -> None:
    assert [step.name for step in select_steps(TOOK, scope)] == names


def test_without_orders_starts_decide_and_without_starts_the_document() -> None:
    timed = trajectory(tool("a", start_ns=2), tool("b", start_ns=1))
    assert [s.name for s in select_steps(timed, "tools")] == ["b", "a"]
    partly = trajectory(tool("a", start_ns=2), tool("b"))
    assert [s.name for s in select_steps(partly, "tools")] == ["a", "b"]


@pytest.mark.parametrize(
    ("step", "scope"),
    [
        ({"name": "a"}, "tools"),
        ({"name": "a", "step_type": "mcp_tool_call"}, "tools"),
        ({"name": "a", "step_type": "agent_run"}, "tree"),
        ({"name": "a", "children": {"maxSteps": 1}}, "tree"),
    ],
)
def test_auto(step: Any, scope: str) -> None:
    assert resolve_scope("auto", [ExpectedStep.model_validate(step)]) == scope
    assert resolve_scope("top", [ExpectedStep.model_validate(step)]) == "top"


def test_hand_written_steps_belong_to_the_agent_run_around_them() -> None:
    runs = agent_runs(TOOK)
    assert [[p.step.name for p in places] for places in runs.values()] == [
        ["b"],
        ["c", "a", "asked"],
    ]
    assert [places[0].agent for places in runs.values()] == ["sub", "boss"]


def test_recorded_steps_belong_to_the_run_that_is_recorded() -> None:
    ids: dict[str, Any] = {"trace_id": "t", "agent": "x"}
    took = trajectory(
        agent("x", tool("a", agent_span_id="2", **ids), trace_id="t", span_id="1"),
        tool("b", agent_span_id="2", **ids),
        tool("c", **ids),
    )
    runs = {p.step.name: p.run for p in locate_steps(took) if p.step.is_tool}
    assert runs["a"] == runs["b"] != runs["c"]


def test_what_is_below_a_step_is_a_trajectory() -> None:
    step = agent("sub", tool("a"), duration_ms=5)
    assert below(step).steps == step.children
    assert below(step).total_duration_ms == 5


def test_a_session_keeps_its_turns_apart_and_in_order() -> None:
    late, early = (
        trajectory(
            tool(name, trace_id=trace, order=1, agent_span_id=trace),
            root=agent("boss", trace_id=trace, span_id=trace, order=0),
            trace_id=trace,
            session_id="s",
            start_ns=start,
            tokens=TokenTotals(input=1, output=2, total=3, complete=complete),
            model_calls=1,
        )
        for name, trace, start, complete in (("b", "t2", 9, True), ("a", "t1", 5, False))
    )
    whole = merge_session([late, early])
    assert [step.name for step in select_steps(whole, "tools")] == ["a", "b"]
    assert len(agent_runs(whole)) == 2
    assert (whole.session_id, whole.start_ns, whole.model_calls) == ("s", 5, 2)
    assert whole.tokens == TokenTotals(
        input=2, output=4, total=6, cached_input=None, complete=False
    )
    assert whole.total_duration_ms is None


def test_a_session_of_nothing() -> None:
    assert merge_session([]).steps == ()
