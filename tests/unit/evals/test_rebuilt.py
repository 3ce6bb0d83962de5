from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.trajectories import NAMES, agent, model, tool, trajectory
from trajscope.evals.messages import extract_trajectory
from trajscope.evals.rebuilt import messages_of, run_calls
from trajscope.model.step import HandoffStep, ToolStep

CALLS = st.lists(
    st.builds(
        lambda name, ok, args, ident: tool(name, ok, tool_args=args, tool_call_id=ident),
        st.sampled_from(NAMES),
        st.sampled_from([True, False, None]),
        st.sampled_from([{}, {"q": 1}]),
        st.sampled_from(["c1", "c2", None]),
    ),
    max_size=6,
)


@given(CALLS)
def test_messages_of_a_trajectory_tell_of_the_same_calls(calls: list[ToolStep]) -> None:
    found = extract_trajectory(messages_of(trajectory(model(*calls))))
    told = [(s.name, s.tool_args, s.success) for s in found.steps if isinstance(s, ToolStep)]
    # An open call and the next of its id, tool and arguments are one call in messages.
    merged = len(calls) - len(told)
    assert merged >= 0
    if not any(call.success is None and call.tool_call_id for call in calls):
        assert told == [(call.name, call.tool_args, call.success) for call in calls]


def test_a_handoff_is_the_call_it_came_from() -> None:
    handoff = HandoffStep(name="Order Agent", to_agent="Order Agent", span_id="s", agent="triage")
    (call,) = run_calls(trajectory(agent("triage", handoff)))
    assert (call.name, call.success, call.span_id, call.agent) == (
        "transfer_to_order_agent",
        True,
        "s",
        "triage",
    )
    lost = HandoffStep(name="b", to_agent="b", failed=True, failure="no such agent")
    (call,) = run_calls(trajectory(lost))
    assert (call.success, call.failure) == (False, "no such agent")


def test_calls_inside_a_call_are_the_sub_agents() -> None:
    inner = agent("helper", model(tool("b")))
    outer = tool("ask_helper", children=(inner,))
    assert [c.name for c in run_calls(trajectory(agent("boss", model(outer), tool("c"))))] == [
        "ask_helper",
        "c",
    ]
