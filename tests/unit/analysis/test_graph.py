"""What is an edge of the execution graph, by example."""

import time
from typing import Any

import networkx as nx
import pytest

from tests.unit.analysis.shapes import run, step
from trajscope.analysis import MOST_ORDER_EDGES, execution_graph, to_dot, to_graphml
from trajscope.model.reading import StepType
from trajscope.model.trajectory import Trajectory


def edges(trajectory: Trajectory, kind: str) -> list[tuple[str, str]]:
    graph = execution_graph(trajectory)
    return sorted((a, b) for a, b, fields in graph.edges(data=True) if fields["kind"] == kind)


def test_children_point_at_their_parents_and_top_steps_at_the_run() -> None:
    agent = step("agent", 0, 99, kind=StepType.AGENT_RUN)
    trajectory = run(step("outer", 1, 50, step("inner", 2, 9)), step("next", 60, 70), root=agent)
    assert edges(trajectory, "child_of") == [
        ("inner", "outer"),
        ("next", "agent"),
        ("outer", "agent"),
    ]
    assert edges(trajectory, "happens_before") == [("outer", "next")]


def test_an_orphan_belongs_to_no_one_but_has_its_place_in_time() -> None:
    agent = step("agent", 0, 99, kind=StepType.AGENT_RUN)
    trajectory = run(step("a", 1, 5), step("lost", 6, 9), root=agent, orphans=("lost",))
    assert edges(trajectory, "child_of") == [("a", "agent")]
    assert edges(trajectory, "happens_before") == [("a", "lost")]
    assert execution_graph(trajectory).nodes["lost"]["is_orphan"] is True


def test_overlapping_siblings_are_not_ordered() -> None:
    # a, then b and c together, then d: and no edge from a to d, which stands further on.
    trajectory = run(step("a", 0, 10), step("b", 10, 30), step("c", 12, 40), step("d", 40, 50))
    assert edges(trajectory, "happens_before") == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def test_unknown_times_are_not_ordered() -> None:
    trajectory = run(
        step("a", 0, 10),
        step("running", 20, None),
        step("backwards", 30, 25),
        step("nowhere", None, None),
        step("z", 99, 100),
    )
    assert edges(trajectory, "happens_before") == [
        ("a", "backwards"),
        ("a", "running"),
        ("a", "z"),
    ]


def test_steps_of_no_length_at_one_moment_are_not_ordered_among_themselves() -> None:
    trajectory = run(step("a", 0, 5), step("x", 5, 5), step("y", 5, 5), step("b", 5, 9))
    assert edges(trajectory, "happens_before") == [("a", "x"), ("a", "y"), ("x", "b"), ("y", "b")]


def test_nodes_carry_the_fields_that_are_set() -> None:
    graph = execution_graph(run(step("a", 1, 2, tool_args={"x": [1]}, success=False)))
    assert graph.nodes["a"] == {
        "step_type": "tool_call",
        "name": "a",
        "span_id": "a",
        "start_ns": 1,
        "end_ns": 2,
        "tool_args": {"x": [1]},
        "success": False,
    }


def test_ids_are_span_ids_and_those_of_calls_that_never_ran_say_so() -> None:
    requested: dict[str, Any] = {"executed": False, "span_id": "model"}
    model = step(
        "model",
        0,
        9,
        step("x", **requested, tool_call_id="call_1"),
        step("y", **requested),
        step("z", **requested),
    )
    by_hand = Trajectory.model_validate(
        {"steps": [{"stepType": "tool_call", "name": "n"}, {"stepType": "tool_call", "name": "n"}]}
    )
    assert list(execution_graph(run(model))) == [
        "model",
        "model#call_1",
        "model#requested",
        "model#requested#2",
    ]
    assert list(execution_graph(by_hand)) == ["step", "step#2"]


def test_an_id_that_looks_like_a_counted_one_is_not_taken_twice() -> None:
    same = [step(name, 0, 1) for name in ("a", "a", "a#2", "a", "a#2")]
    assert len(set(execution_graph(run(*same)))) == 5


@pytest.mark.parametrize("width", [1, 100])
def test_ten_thousand_siblings_are_ordered_in_seconds(width: int) -> None:
    # One after the other, and in waves of a hundred that would need a million edges.
    steps = [step(f"s{i}", i // width * 10, i // width * 10 + 5) for i in range(10_000)]
    began = time.process_time()
    graph = execution_graph(run(*steps))
    assert time.process_time() - began < 10
    assert graph.number_of_edges() <= MOST_ORDER_EDGES
    assert graph.graph["thinned"] == ([] if width == 1 else [""])
    assert nx.is_directed_acyclic_graph(graph)
    if width > 1:
        later = [node for node in graph if graph.in_degree(node)]
        assert len(later) == 10_000 - width, "every step but those of the first wave has one before"


def test_a_chain_of_ten_thousand_steps_is_no_problem() -> None:
    chain = step("s0", 0, 1)
    for i in range(1, 10_000):
        chain = step(f"s{i}", 0, 1, chain)
    assert len(edges(run(chain), "child_of")) == 9_999


def test_a_trajectory_of_nothing_is_a_graph_of_nothing() -> None:
    assert len(execution_graph(run())) == 0


def test_ids_that_differ_in_what_a_language_cannot_hold_stay_two_ids() -> None:
    graph = execution_graph(run(step("a\x01", 0, 1), step("a\x02", 2, 3)))
    for text in (to_dot(graph), to_graphml(graph)):
        assert "u0001" in text
        assert "u0002" in text
        assert "\x01" not in text
