"""Laws of graphs and paths, for trajectories of any shape and any times."""

import io
import re

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import attribute_values, texts
from tests.unit.analysis.shapes import run, step
from trajscope.analysis import critical_path, execution_graph, to_dot, to_graphml, to_mermaid
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory, walk

TIMES = st.none() | st.integers(0, 12)
HOSTILE = texts() | st.sampled_from(
    ['"]; x', "end", "</data>", "\\N", '\\"', "a\nb", "\x1b[31m", "#quot;", "&lt;", "`x`", "\ud800"]
)


def steps(values: st.SearchStrategy[object]) -> st.SearchStrategy[BaseStep]:
    one = st.builds(step, HOSTILE, TIMES, TIMES, tool_args=values, failed=st.none() | st.booleans())
    return st.recursive(
        one,
        lambda below: st.builds(
            lambda top, inner: top.model_copy(update={"children": tuple(inner)}),
            one,
            st.lists(below, max_size=4),
        ),
        max_leaves=8,
    )


TRAJECTORIES = st.builds(
    lambda tops, root: run(*tops, root=root),
    st.lists(steps(attribute_values()), max_size=4),
    st.none() | st.builds(step, st.just("root"), TIMES, TIMES),
)
SIBLINGS = st.lists(st.tuples(TIMES, TIMES), max_size=9).map(
    lambda pairs: run(*(step(f"s{i}", *pair) for i, pair in enumerate(pairs)))
)


def is_before(a: BaseStep, b: BaseStep) -> bool:
    """The definition, without any cleverness."""
    if a.start_ns is None or a.end_ns is None or b.start_ns is None or a.end_ns < a.start_ns:
        return False
    at_one_moment = a.start_ns == a.end_ns == b.start_ns == b.end_ns
    return a.end_ns <= b.start_ns and not at_one_moment


@given(SIBLINGS)
def test_following_the_edges_orders_exactly_the_siblings_that_do_not_overlap(
    trajectory: Trajectory,
) -> None:
    graph = execution_graph(trajectory)
    reached = {(a, b) for a in graph for b in nx.descendants(graph, a)}
    assert reached == {
        (a.name, b.name)
        for a in trajectory.steps
        for b in trajectory.steps
        if a is not b and is_before(a, b)
    }


@given(SIBLINGS)
def test_no_edge_could_be_left_out(trajectory: Trajectory) -> None:
    graph = execution_graph(trajectory)
    assert set(graph.edges) == set(nx.transitive_reduction(graph).edges)


@given(TRAJECTORIES)
def test_every_step_is_one_node_and_nothing_goes_in_circles(trajectory: Trajectory) -> None:
    graph = execution_graph(trajectory)
    assert len(graph) == sum(1 for _ in trajectory.walk())
    assert nx.is_directed_acyclic_graph(graph)
    parents = [e for *_, e in graph.edges(data=True) if e["kind"] == "child_of"]
    below = sum(1 for _ in walk(trajectory.steps)) - len(trajectory.steps)
    assert len(parents) == below + (len(trajectory.steps) if trajectory.root else 0)


@given(TRAJECTORIES)
def test_the_path_covers_every_moment_of_the_run_once(trajectory: Trajectory) -> None:
    path = critical_path(trajectory)
    if path.total_ms is None:
        assert path.reason
        return
    for before, after in zip(path.segments, path.segments[1:], strict=False):
        assert before.end_ns == after.start_ns
    length = sum(part.end_ns - part.start_ns for part in path.segments)
    assert length / 1e6 == path.total_ms
    for part in path.segments:
        assert part.start_ns < part.end_ns
        if part.step is not None:
            assert part.step.start_ns is not None
            assert part.step.end_ns is not None
            assert part.step.start_ns <= part.start_ns
            assert part.end_ns <= part.step.end_ns


@given(TRAJECTORIES)
def test_graphml_gives_ids_edges_and_scalars_back(trajectory: Trajectory) -> None:
    graph = execution_graph(trajectory)
    text = to_graphml(graph)
    read = nx.read_graphml(io.BytesIO(text.encode("utf-8")))
    assert len(read) == len(graph)
    assert [data["kind"] for *_, data in read.edges(data=True)] == [
        data["kind"] for *_, data in graph.edges(data=True)
    ]
    for node, same in zip(graph, read, strict=True):
        wrote, got = graph.nodes[node], read.nodes[same]
        assert got["step_type"] == wrote["step_type"]
        assert got.get("start_ns") == wrote["start_ns"]
        assert got.get("failed") is wrote.get("failed")


QUOTED = r'"(?:[^"\\\n]|\\["\\])*"'
DOT_LINE = re.compile(rf"  {QUOTED} (?:\[label={QUOTED}[^\"]*(?:{QUOTED})?\]|-> {QUOTED}[^\"]*);")
MERMAID_LINE = re.compile(r'  n\d+(?:\["[\w _.,:()#;-]*"\](?::::failed)?| (?:-->|-\.->) n\d+)')


@given(TRAJECTORIES)
def test_no_text_of_a_trace_gets_out_of_its_quotes(trajectory: Trajectory) -> None:
    graph = execution_graph(trajectory)
    dot = to_dot(graph).split("\n")[3:-2]
    assert len(dot) == len(graph) + graph.number_of_edges()
    assert [line for line in dot if not DOT_LINE.fullmatch(line)] == []
    mermaid = to_mermaid(graph).split("\n")[1:-2]
    assert len(mermaid) == len(graph) + graph.number_of_edges()
    assert [line for line in mermaid if not MERMAID_LINE.fullmatch(line)] == []
