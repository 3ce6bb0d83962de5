"""ATIF documents: order, times that are not known, calls and what became of them, sub-agents."""

import copy
import json
from typing import Any

import pytest

from tests.support.captures import read_bytes
from tests.unit.formats_more.samples import ATIF
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Span
from trajscope.model.step import AgentRunStep, ToolStep
from trajscope.model.trajectory import Trajectory


def spans_of(document: dict[str, Any]) -> list[Span]:
    return read_bytes(json.dumps(document).encode(), strict=True).spans


def trajectory_of(document: dict[str, Any]) -> Trajectory:
    [found] = assemble(spans_of(document), Reader())
    return found


def tools(trajectory: Trajectory) -> list[ToolStep]:
    found = [s for s in trajectory.walk() if isinstance(s, ToolStep)]
    return sorted(found, key=lambda s: s.order or 0)


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(ATIF), **fields}


def of_steps(*steps: dict[str, Any]) -> dict[str, Any]:
    return changed(steps=list(steps), subagent_trajectories=None)


def untimed() -> dict[str, Any]:
    document = changed()
    for step in document["steps"]:
        del step["timestamp"]
    return document


def agent_step(*calls: str, results: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {
        "source": "agent",
        "message": "",
        "tool_calls": [
            {"tool_call_id": c, "function_name": f"tool_{c}", "arguments": {}} for c in calls
        ],
        "observation": {"results": [{"source_call_id": c, "content": "ok"} for c in results]},
        **fields,
    }


def test_a_document_is_an_agent_run_with_its_calls_in_order() -> None:
    found = trajectory_of(ATIF)
    assert (found.session_id, found.agents) == ("session-1", ("order_agent", "expert"))
    assert [t.name for t in tools(found)] == ["lookup_order", "ask_expert", "search"]
    assert [t.success for t in tools(found)] == [False, True, True]
    assert tools(found)[0].tool_args == {"order_id": "12"}
    assert found.model_calls == 3
    assert found.tokens is not None
    assert (found.tokens.input, found.tokens.output) == (105, 17)


def test_an_embedded_agent_lies_below_the_call_that_delegated_to_it() -> None:
    [call] = [t for t in tools(trajectory_of(ATIF)) if t.name == "ask_expert"]
    [expert] = call.children
    assert isinstance(expert, AgentRunStep)
    assert [c.name for c in expert.children] == ["stub-3", "search"]


def test_no_duration_is_made_up() -> None:
    spans = spans_of(ATIF)
    [root] = [s for s in spans if s.parent_span_id is None]
    assert {s.end_ns for s in spans if s.attributes["gen_ai.operation.name"] != "invoke_agent"} == {
        None
    }
    assert root.start_ns == 1_772_528_400_000_000_000
    assert root.end_ns == 1_772_528_405_000_000_000


def test_without_timestamps_the_order_is_the_documents_and_starts_are_ordinals() -> None:
    spans = spans_of(untimed())
    [root] = [s for s in spans if s.parent_span_id is None]
    assert root.attributes["atif.times"] == "ordinal"
    assert root.end_ns is None
    assert [t.name for t in tools(trajectory_of(untimed()))] == [
        "lookup_order",
        "ask_expert",
        "search",
    ]
    assert "total_duration_ms" not in trajectory_of(untimed()).model_fields_set


@pytest.mark.parametrize("timestamp", ["2026-03-03T09:00:00Z", None])
def test_steps_of_one_second_keep_their_order(timestamp: str | None) -> None:
    calls = [chr(ord("a") + i) for i in range(12)]
    steps = [agent_step(c, results=(c,), timestamp=timestamp) for c in reversed(calls)]
    found = trajectory_of(of_steps(*steps))
    assert [t.name for t in tools(found)] == [f"tool_{c}" for c in reversed(calls)]
    assert all(t.success for t in tools(found))


def test_a_call_without_a_result_is_only_requested() -> None:
    steps = [agent_step("a", "b", results=("a",))]
    found = {t.name: (t.executed, t.success) for t in tools(trajectory_of(of_steps(*steps)))}
    assert found == {"tool_a": (True, True), "tool_b": (False, None)}


@pytest.mark.parametrize(
    ("content", "extra", "success"),
    [
        ("18 C", None, True),
        ("Error: no such city", None, False),
        ('{"isError": true, "content": "denied"}', None, False),
        ("denied", {"is_error": True}, False),
        ([{"type": "text", "text": "ValueError: x"}], None, False),
        ("no errors found", None, True),
    ],
)
def test_how_a_call_ended_is_told_by_its_result(content: Any, extra: Any, success: bool) -> None:
    step = agent_step("a")
    step["observation"]["results"] = [{"source_call_id": "a", "content": content, "extra": extra}]
    assert [t.success for t in tools(trajectory_of(of_steps(step)))] == [success]


def test_copied_context_and_dispatch_without_a_model_are_no_model_calls() -> None:
    steps = [
        agent_step("a", results=("a",), is_copied_context=True),
        agent_step("b", results=("b",), llm_call_count=0),
        agent_step(metrics={"prompt_tokens": 1, "completion_tokens": 1}),
    ]
    found = trajectory_of(of_steps(*steps))
    assert (found.model_calls, [t.name for t in tools(found)]) == (1, ["tool_b"])


def test_totals_count_where_steps_have_none() -> None:
    totals = {"total_prompt_tokens": 100, "total_completion_tokens": 10}
    document = changed(
        steps=[agent_step(), agent_step()], subagent_trajectories=None, final_metrics=totals
    )
    found = trajectory_of(document)
    assert found.tokens is not None
    assert (found.tokens.input, found.model_calls) == (100, 2)


def test_ids_depend_on_nothing_but_the_document() -> None:
    assert spans_of(ATIF) == spans_of(copy.deepcopy(ATIF))
    other = changed(trajectory_id="run-2")
    ids = {s.span_id for s in spans_of(ATIF)}
    assert ids.isdisjoint(s.span_id for s in spans_of(other))
    assert {s.trace_id for s in spans_of(other)} == {s.trace_id for s in spans_of(ATIF)}
    assert len(ids) == len(spans_of(ATIF))


def test_documents_without_any_id_do_not_meet() -> None:
    one = changed(session_id=None, trajectory_id=None)
    other = copy.deepcopy(one)
    other["steps"][0]["message"] = "Something else"
    assert {s.trace_id for s in spans_of(one)}.isdisjoint(s.trace_id for s in spans_of(other))


def test_agents_inside_agents_end_somewhere() -> None:
    document: dict[str, Any] = {"schema_version": "ATIF-v1.7", "agent": {"name": "deepest"}}
    for level in range(60):
        document = {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "trajectory_id": f"t{level}",
            "agent": {"name": f"a{level}"},
            "steps": [],
            "subagent_trajectories": [document],
        }
    found = read_bytes(json.dumps(document).encode())
    assert len(found.spans) == 33
    [message] = found.messages
    assert "32 levels" in message


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": None},
        {"steps": [None, 3, {"source": "agent", "tool_calls": [3]}]},
        {"agent": "x", "subagent_trajectories": {"a": 1}},
        {"steps": [{"source": 3, "timestamp": "now", "message": {"a": 1}}]},
        {"steps": [{"source": "agent", "observation": {"results": [{"source_call_id": []}]}}]},
        {"final_metrics": []},
    ],
)
def test_what_is_no_atif_costs_itself_alone(fields: dict[str, Any]) -> None:
    found = read_bytes(json.dumps(changed(**fields)).encode())
    assert any(s.parent_span_id is None for s in found.spans)
