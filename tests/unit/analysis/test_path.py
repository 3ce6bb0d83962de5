"""The critical path by example; times in nanoseconds."""

from tests.unit.analysis.shapes import run, step
from trajscope.analysis import critical_path
from trajscope.model.reading import StepType
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory


def agent(start: int | None, end: int | None) -> BaseStep:
    return step("agent", start, end, kind=StepType.AGENT_RUN)


def walked(trajectory: Trajectory) -> list[tuple[str | None, int, int]]:
    return [(part.id, part.start_ns, part.end_ns) for part in critical_path(trajectory).segments]


def test_the_path_goes_through_the_child_that_ended_last() -> None:
    # Of the two parallel tools only the slow one is on the path.
    trajectory = run(
        step("think", 5, 20), step("fast", 20, 30), step("slow", 21, 80), root=agent(0, 100)
    )
    assert walked(trajectory) == [
        ("agent", 0, 5),
        ("think", 5, 20),
        ("agent", 20, 21),
        ("slow", 21, 80),
        ("agent", 80, 100),
    ]


def test_it_goes_into_the_children_of_a_step() -> None:
    trajectory = run(step("outer", 10, 90, step("inner", 30, 50)), root=agent(0, 100))
    path = critical_path(trajectory)
    assert walked(trajectory) == [
        ("agent", 0, 10),
        ("outer", 10, 30),
        ("inner", 30, 50),
        ("outer", 50, 90),
        ("agent", 90, 100),
    ]
    assert path.self_times_ms() == {"agent": 20e-6, "outer": 60e-6, "inner": 20e-6}
    assert path.total_ms == 100e-6


def test_a_sibling_that_overlaps_the_one_on_the_path_is_not_on_it() -> None:
    trajectory = run(step("a", 0, 60), step("b", 50, 100), step("c", 0, 40), root=agent(0, 100))
    assert walked(trajectory) == [("c", 0, 40), ("agent", 40, 50), ("b", 50, 100)]


def test_of_children_that_end_together_the_longest_is_on_it() -> None:
    short, long = step("short", 40, 90), step("long", 10, 90)
    for pair in ((short, long), (long, short)):
        assert walked(run(*pair, root=agent(0, 100)))[1] == ("long", 10, 90)


def test_work_that_outlives_its_caller_is_cut() -> None:
    trajectory = run(step("background", 40, 500), step("early", -20, 10), root=agent(0, 100))
    assert walked(trajectory) == [("early", 0, 10), ("agent", 10, 40), ("background", 40, 100)]


def test_several_top_steps_leave_gaps_that_belong_to_no_step() -> None:
    assert walked(run(step("a", 0, 10), step("b", 30, 50))) == [
        ("a", 0, 10),
        (None, 10, 30),
        ("b", 30, 50),
    ]


def test_steps_of_unknown_times_are_named_and_their_children_kept() -> None:
    trajectory = run(
        step("open", 10, None, step("inner", 20, 30)),
        step("backwards", 60, 50),
        root=agent(0, 100),
    )
    path = critical_path(trajectory)
    assert path.unknown == ("open", "backwards")
    assert walked(trajectory) == [("agent", 0, 20), ("inner", 20, 30), ("agent", 30, 100)]


def test_without_the_times_of_the_run_the_path_is_unknown() -> None:
    for trajectory in (run(step("a", 1, 2), root=agent(0, None)), run(step("a", None, 5)), run()):
        path = critical_path(trajectory)
        assert (path.segments, path.total_ms) == ((), None)
        assert "not known" in (path.reason or "")
