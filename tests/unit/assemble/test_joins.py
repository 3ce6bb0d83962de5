"""What RESOLVE joins: answers to calls, refusals around them, runners and their runs, handoffs."""

from collections.abc import Iterable

import msgspec
import pytest

from tests.unit.assemble.readings import (
    Pair,
    agent,
    asks,
    assembled,
    at,
    model,
    noise,
    only,
    tool,
    tools,
)
from trajscope.model.reading import StepType, ToolRequest, ToolResponse
from trajscope.model.span import Json
from trajscope.model.step import HandoffStep, ToolStep


def calls(pairs: Iterable[Pair]) -> list[ToolStep]:
    return tools(only(list(pairs)))


def gave(call_id: str | None, result: Json, name: str | None = None) -> ToolResponse:
    return ToolResponse(call_id, name, result)


def test_a_call_id_that_two_agents_share_is_answered_by_what_comes_next() -> None:
    found = calls(
        [
            model("a", start=0, requests=(asks("look", "c1"),)),
            model("b", start=10, responses=(gave("c1", "one"),), requests=(asks("find", "c1"),)),
            model("c", start=20, responses=(gave("c1", "one"), gave("c1", "two"))),
        ]
    )
    assert [(s.name, s.tool_result) for s in found] == [("look", "one"), ("find", "two")]


def test_an_answer_given_before_the_call_is_none_to_it() -> None:
    found = calls(
        [
            model("a", start=0, responses=(gave("c1", "stale"),)),
            model("b", start=10, requests=(asks("look", "c1"),)),
        ]
    )
    assert [(s.tool_result, s.success) for s in found] == [(None, None)]


def test_calls_without_ids_are_answered_by_name_and_place_though_the_history_repeats() -> None:
    ask = (ToolRequest("look", None, {"n": 1}), ToolRequest("look", None, {"n": 2}))
    found = calls(
        [
            model("a", start=0, requests=ask[:1]),
            model("b", start=10, responses=(gave(None, 1, "look"),), requests=ask),
            model("c", start=20, responses=tuple(gave(None, n, "look") for n in (1, 10, 20))),
        ]
    )
    assert [s.tool_result for s in found] == [1, 10, 20]


@pytest.mark.parametrize(("session", "result"), [("s1", "ok"), ("s2", None)])
def test_an_answer_in_a_later_trace_is_found_in_the_same_session(
    session: str, result: str | None
) -> None:
    ask = (asks("look", "c1"),)
    answered = (gave("c1", "ok"),)
    pairs = [
        model("a", start=0, trace="t1", session_id="s1", requests=ask),
        model("b", start=9, trace="t2", session_id=session, responses=answered),
    ]
    (call,) = (call for found in assembled(pairs) for call in tools(found))
    assert call.tool_result == result


@pytest.mark.parametrize(
    ("text", "success"),
    [
        ("Tool not found: {'tool_name': 'look'}", False),
        ("Tool not found: {'tool_name': 'other'}", None),  # a refusal, but of another call
        ("Max turns exceeded", None),
    ],
)
def test_a_turn_that_ended_by_refusing_a_call_says_what_became_of_it(
    text: str, success: bool | None
) -> None:
    (found,) = calls(
        [
            agent("boss"),
            noise("turn", "boss", 1, failed=True, failure=text),
            model("m", "turn", 2, requests=(asks("look", "c1"),)),
        ]
    )
    assert (found.executed, found.success) == (False, success)


def test_a_runner_around_one_run_of_its_name_is_that_run() -> None:
    found = only([at("w", kind=StepType.WORKFLOW_RUN, name="boss"), agent("boss", "w", 1)])
    assert [(s.step_type, s.name) for s in found.walk()] == [("agent_run", "boss")]


def test_a_workflow_of_several_runs_stays() -> None:
    found = only(
        [
            at("w", kind=StepType.WORKFLOW_RUN, name="boss"),
            agent("boss", "w", 1),
            agent("clerk", "w", 2),
        ]
    )
    assert [s.step_type for s in found.walk()] == ["workflow_run", "agent_run", "agent_run"]


def handoff(pairs: Iterable[Pair]) -> HandoffStep:
    (step,) = (s for s in only(list(pairs)).walk() if isinstance(s, HandoffStep))
    return step


def test_a_handoff_passes_from_its_own_agent_to_the_next_run() -> None:
    found = handoff(
        [
            at("w", kind=StepType.WORKFLOW_RUN),
            agent("triage", "w", 1),
            agent("helper", "triage", 2),  # a run inside the agent is not what it hands over to
            at("h", "triage", 2, kind=StepType.HANDOFF),
            agent("nested", "triage", 3),
            agent("orders", "w", 4),
        ]
    )
    assert (found.from_agent, found.to_agent, found.name) == ("triage", "orders", "orders")


def test_a_handoff_that_says_where_it_goes_is_believed() -> None:
    known = {"from_agent": "x", "to_agent": "y"}
    found = handoff([at("h", kind=StepType.HANDOFF, fields=known), agent("orders", start=4)])
    assert (found.from_agent, found.to_agent) == ("x", "y")


TEXTS = [
    ("Error executing tool add", False),
    ("Error executing tool add: division by zero", False),
    ("Unknown tool: add", False),
    ("Error calling tool 'add'", False),
    ("MCP error -32602: Tool add not found", False),
    ("Error executing tool adder", True),  # of another tool: this one only reports it
    ("The log says: Error executing tool add", True),
    ("Tool add is a calculator", True),
]


@pytest.mark.parametrize(("text", "success"), TEXTS)
def test_the_fixed_error_text_of_an_mcp_sdk_fails_its_own_call(text: str, success: bool) -> None:
    for result in (text, {"type": "text", "text": text}, {"content": [{"text": text}]}):
        (found,) = calls([tool("t", name="add", is_mcp=True, result=result)])
        assert found.success is success


def test_the_same_text_from_a_tool_that_is_not_of_mcp_is_prose() -> None:
    (found,) = calls([tool("t", name="add", result="Error executing tool add")])
    assert found.success is True


def by(scope: str, pair: Pair) -> Pair:
    span, reading = pair
    return msgspec.structs.replace(span, scope_name=scope), reading


def test_a_call_that_two_libraries_record_beside_each_other_is_one() -> None:
    one = tool("a", start=0, end=10, name="add", tool_call_id="c1")
    other = tool("b", start=1, end=9, name="add", tool_call_id="c1", args={"n": 1}, failed=True)
    (found,) = calls([by("x", one), by("y", other)])
    assert (found.span_id, found.tool_args, found.success) == ("a", {"n": 1}, False)


@pytest.mark.parametrize(
    ("scope", "start", "name"),
    [
        ("x", 1, "add"),  # the same library: it tried again
        ("y", 20, "add"),  # later: another agent, whose ids repeat
        ("y", 1, "sub"),  # another tool
    ],
)
def test_calls_that_only_share_an_id_stay_two(scope: str, start: int, name: str) -> None:
    one = tool("a", start=0, end=10, name="add", tool_call_id="c1")
    other = tool("b", start=start, end=start + 5, name=name, tool_call_id="c1")
    assert len(calls([by("x", one), by(scope, other)])) == 2


def bare(result: Json) -> ToolResponse:
    return gave(None, result)


def test_answers_without_id_and_name_are_paired_by_their_place() -> None:
    found = calls(
        [
            model("a", start=0, requests=(asks("look", "c1"), asks("find", "c2"))),
            model("b", start=10, responses=(bare("1"), bare("2")), requests=(asks("look", "c3"),)),
            model("c", start=20, responses=(bare("1"), bare("2"), bare("3"))),
        ]
    )
    assert [(c.name, c.tool_result) for c in found] == [("look", "1"), ("find", "2"), ("look", "3")]


@pytest.mark.parametrize("count", [1, 3])
def test_more_or_fewer_answers_than_calls_are_of_none(count: int) -> None:
    found = calls(
        [
            model("a", start=0, requests=(asks("look"), asks("find"))),
            model("b", start=10, responses=tuple(bare(str(n)) for n in range(count))),
        ]
    )
    assert [(c.executed, c.success) for c in found] == [(False, None)] * 2


def test_another_agents_answers_are_its_own() -> None:
    found = calls(
        [
            agent("boss", end=90),
            model("a", "boss", 1, requests=(asks("look"),)),
            agent("clerk", "boss", 10, end=20),
            model("b", "clerk", 11, responses=(bare("theirs"),)),
            model("c", "boss", 30, responses=(bare("ours"),)),
        ]
    )
    assert [c.tool_result for c in found] == ["ours"]


def test_an_id_that_no_request_has_keeps_no_pair_apart() -> None:
    (found,) = calls(
        [
            model("m", start=0, requests=(asks("look", "c1", q=1),)),
            tool("t", start=5, name="look", args={"q": 1}, tool_call_id="run-7"),
        ]
    )
    assert (found.span_id, found.tool_call_id) == ("t", "c1")


def test_ids_that_were_asked_for_keep_calls_apart() -> None:
    found = calls(
        [
            model("m", start=0, requests=(asks("look", "c1", q=1), asks("look", "c2", q=1))),
            tool("t", start=5, name="look", args={"q": 1}, tool_call_id="c2"),
        ]
    )
    assert sorted((c.tool_call_id, c.executed) for c in found) == [("c1", False), ("c2", True)]


@pytest.mark.parametrize(
    ("text", "asked", "success"),
    [
        ("Tool not found", (asks("look", "c1"),), False),
        ("Tool not found", (asks("look", "c1"), asks("find", "c2")), None),
        ("Tool 'find' not found", (asks("look", "c1"),), None),
    ],
)
def test_a_refusal_without_a_name_is_of_the_only_call(
    text: str, asked: tuple[ToolRequest, ...], success: bool | None
) -> None:
    found = calls(
        [
            agent("boss"),
            noise("turn", "boss", 1, failed=True, failure=text),
            model("m", "turn", 2, requests=asked),
        ]
    )
    assert {c.success for c in found} == {success}


@pytest.mark.parametrize(("failed", "start"), [(None, 10), (True, 10), (None, 50)])
def test_a_call_of_an_agents_name_ran_as_its_run(failed: bool | None, start: int) -> None:
    found = calls(
        [
            agent("boss", end=90),
            model("m", "boss", 1, requests=(asks("clerk", "c1"),)),
            agent("run", "boss", start, name="clerk", failed=failed),
            model("n", "boss", 40),
        ]
    )
    ran = start < 40
    assert [(c.executed, c.success) for c in found] == [(ran, not failed if ran else None)]


def test_an_agent_without_a_name_is_the_named_one_around_it() -> None:
    trajectory = only(
        [
            agent("clerk", end=90),
            at("inner", "clerk", 1, kind=StepType.AGENT_RUN),
            model("m", "inner", 2),
        ]
    )
    assert trajectory.root is not None
    assert [s.name for s in trajectory.steps] == ["m"]
    assert trajectory.agents == ("clerk",)
