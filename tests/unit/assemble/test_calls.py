"""Which calls ran, which were only asked for, and what is known of them."""

from tests.unit.assemble.readings import (
    agent,
    answers,
    asks,
    assembled,
    model,
    noise,
    only,
    tool,
    tools,
)


def known(trajectory_tools: list) -> list[tuple[str, bool | None, bool]]:  # type: ignore[type-arg]
    return [(t.name, t.success, t.executed) for t in trajectory_tools]


def test_a_request_meets_its_call_by_id_and_lends_it_its_arguments() -> None:
    (call,) = tools(
        only(
            [
                agent("run"),
                model("llm", "run", 1, requests=(asks("add", "c1", a=1),)),
                tool("t", "run", 5, name="add", tool_call_id="c1"),
            ]
        )
    )
    assert (call.tool_args, call.success, call.executed) == ({"a": 1}, True, True)


def test_without_ids_equal_arguments_come_before_mere_turns() -> None:
    found = only(
        [
            agent("run"),
            model("m1", "run", 1, requests=(asks("get", None, id="bad"),)),
            model("m2", "run", 5, requests=(asks("get", None, id=7),), responses=()),
            tool("t", "run", 8, name="get", args={"id": 7}),
        ]
    )
    assert known(tools(found)) == [("get", None, False), ("get", True, True)]


def test_a_refused_call_failed_and_never_ran() -> None:
    refusal = "Error: nope is not a valid tool, try one of [get]."
    (call,) = tools(
        only(
            [
                agent("run"),
                model("m1", "run", 1, requests=(asks("nope", "c1"),)),
                model("m2", "run", 5, responses=(answers("c1", refusal),)),
            ]
        )
    )
    assert (call.success, call.executed, call.failure) == (False, False, refusal)
    assert call.span_id == "m1"
    assert call.from_messages


def test_a_call_known_from_messages_alone_ran_and_has_no_duration() -> None:
    (call,) = tools(
        only(
            [
                model("m1", None, 1, requests=(asks("get", "c1", q="x"),)),
                model("m2", None, 5, responses=(answers("c1", {"plan": "pro"}),)),
            ]
        )
    )
    assert (call.success, call.executed, call.tool_result) == (True, True, {"plan": "pro"})
    assert call.duration_ms is None


def test_a_request_nobody_answered_is_unknown_not_failed() -> None:
    (call,) = tools(only([agent("run"), model("m", "run", 1, requests=(asks("crash", "c1"),))]))
    assert (call.success, call.executed) == (None, False)


def test_history_repeated_in_later_inputs_counts_once() -> None:
    again = (answers("c1", "ok"),)
    found = only(
        [
            model("m1", None, 1, requests=(asks("get", "c1"),)),
            model("m2", None, 5, responses=again),
            model("m3", None, 9, responses=again),
        ]
    )
    assert known(tools(found)) == [("get", True, True)]


def test_results_are_found_in_a_later_trace_of_the_same_session_only() -> None:
    def pairs(session: str | None) -> list:  # type: ignore[type-arg]
        return [
            model("m1", None, 1, trace="t1", requests=(asks("get", "c1"),), session_id="s"),
            model("m2", None, 5, trace="t2", responses=(answers("c1", 1),), session_id=session),
        ]

    joined = assembled(pairs("s"))
    assert known(tools(joined[0])) == [("get", True, True)]
    apart = assembled(pairs("other"))
    assert known(tools(apart[0])) == [("get", None, False)]


def test_one_call_recorded_by_four_spans_is_one_call_with_all_their_evidence() -> None:
    (call,) = tools(
        only(
            [
                agent("run"),
                tool("outer", "run", 1, name="calc_add", args={"a": 1}),
                tool("client", "outer", 2, name="add", is_mcp=True),
                tool("transport", "client", 3, name="add", is_mcp=True),
                tool(
                    "server",
                    "transport",
                    4,
                    name="add",
                    is_mcp=True,
                    mcp_server="calc",
                    failed=True,
                    failure="tool_error",
                ),
            ]
        )
    )
    assert (call.span_id, call.success, call.failure) == ("outer", False, "tool_error")
    assert call.step_type == "mcp_tool_call"
    assert call.model_dump()["mcp_server"] == "calc"


def test_a_tool_inside_a_tool_is_kept_when_it_is_another_tool_or_another_agent_ran() -> None:
    other = only([tool("a", None, 1, name="outer"), tool("b", "a", 2, name="inner")])
    assert [t.name for t in tools(other)] == ["outer", "inner"]
    nested = only(
        [tool("a", None, 1, name="ask"), agent("sub", "a", 2), tool("b", "sub", 3, name="ask")]
    )
    assert [t.name for t in tools(nested)] == ["ask", "ask"]


def test_an_unended_call_is_unknown_and_an_ended_one_without_evidence_succeeded() -> None:
    found = only([tool("open", None, 1, end=-1), tool("done", None, 2)])
    assert known(tools(found)) == [("open", None, True), ("done", True, True)]


def test_mcp_is_seen_in_the_name_alone() -> None:
    (call,) = tools(only([tool("t", name="mcp__github__create_issue")]))
    assert (call.step_type, call.name) == ("mcp_tool_call", "mcp__github__create_issue")


def test_two_libraries_beside_each_other_record_one_model_call() -> None:
    ask = (asks("get", "call_1"),)
    found = only(
        [
            agent("run"),
            model("m1", "run", 1, response_id="r1", requests=ask),
            model("m2", "run", 2, response_id="r1", requests=(asks("get", "fc_1"),)),
            tool("t", "run", 5, name="get", args={}),
            noise("x", "run", 6),
        ]
    )
    assert found.model_calls == 1
    assert len(tools(found)) == 1
