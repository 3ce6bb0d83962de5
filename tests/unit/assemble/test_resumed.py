"""Calls that stop for a person's leave: asked for here, run there, and one call all the same."""

import pytest

from tests.unit.assemble.readings import Pair, agent, answers, asks, assembled, model, only, tool
from tests.unit.assemble.readings import tools as tools_of
from trajscope.model.trajectory import Trajectory


def known(found: Trajectory) -> list[tuple[str, bool | None, bool]]:
    return [(t.name, t.success, t.executed) for t in tools_of(found)]


def asked_and_resumed(*ran: Pair) -> list[Trajectory]:
    """A trace that asks for a call, and a later one whose model is given its answer."""
    found = assembled(
        [
            agent("a1", trace="t1"),
            model("m1", "a1", 1, trace="t1", requests=(asks("get", "c1", id=1),)),
            agent("a2", None, 10, trace="t2"),
            *ran,
            model("m2", "a2", 20, trace="t2", responses=(answers("c1", "found"),)),
        ]
    )
    return list(found)


@pytest.mark.parametrize("call_id", ["c1", None])
def test_a_call_counts_in_the_trace_it_ran_in(call_id: str | None) -> None:
    ran = tool("t", "a2", 15, trace="t2", name="get", args={"id": 1}, tool_call_id=call_id)
    first, second = asked_and_resumed(ran)
    assert known(first) == [("get", None, False)]
    assert known(second) == [("get", True, True)]


def test_a_refusal_by_a_person_is_told_once() -> None:
    ran = tool("t", "a2", 15, trace="t2", name="get", failed=True, failure="not approved")
    first, second = asked_and_resumed(ran)
    assert known(first) == [("get", None, False)]
    assert known(second) == [("get", False, True)]


@pytest.mark.parametrize(
    ("name", "args", "call_id"),
    [("get", {"id": 2}, None), ("get", {"id": 1}, "c2"), ("put", {"id": 1}, None)],
)
def test_another_call_of_the_later_trace_is_not_it(
    name: str, args: dict[str, int], call_id: str | None
) -> None:
    ran = tool("t", "a2", 15, trace="t2", name=name, args=args, tool_call_id=call_id)
    first, second = asked_and_resumed(ran)
    assert known(first) == [("get", True, True)]  # by the messages
    assert known(second) == [(name, True, True)]


def test_two_requests_do_not_share_one_run() -> None:
    first, second = assembled(
        [
            agent("a1", trace="t1"),
            model(
                "m1",
                "a1",
                1,
                trace="t1",
                requests=(asks("get", "c1", id=1), asks("get", "c2", id=1)),
            ),
            agent("a2", None, 10, trace="t2"),
            tool("t", "a2", 15, trace="t2", name="get", args={"id": 1}),
            model("m2", "a2", 20, trace="t2", responses=(answers("c1", 1), answers("c2", 1))),
        ]
    )
    assert sorted(executed for _, _, executed in known(first)) == [False, True]
    assert known(second) == [("get", True, True)]


def halves(**first: object) -> list[tuple[str, bool | None, bool]]:
    call = {"name": "get", "tool_call_id": "c1", "args": {"id": 1}}
    found = only(
        [
            agent("run"),
            tool("t1", "run", 1, **{**call, **first}),
            tool("t2", "run", 9, **call, result="found"),
        ]
    )
    return known(found)


def test_a_suspended_call_and_its_resumption_are_one_call() -> None:
    assert halves() == [("get", True, True)]


@pytest.mark.parametrize(
    "first", [{"failed": True}, {"result": "first"}, {"args": {"id": 2}}, {"tool_call_id": "c2"}]
)
def test_a_call_that_came_to_an_end_is_its_own(first: dict[str, object]) -> None:
    assert len(halves(**first)) == 2
