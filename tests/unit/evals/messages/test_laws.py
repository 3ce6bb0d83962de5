"""Laws of the message helpers: what is true whatever the messages are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.evals.messages.samples import (
    conversations,
    json_values,
    message_likes,
    reference_messages,
    values,
)
from trajscope.errors import TrajscopeError
from trajscope.evals import messages
from trajscope.evals.adapters import to_messages
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory
from trajscope.values import equal_json

Json = Any
HELPERS: tuple[Callable[..., Any], ...] = (
    messages.get_text_content,
    messages.get_assistant_message_from_run_output,
    messages.get_user_message_from_run_input,
    messages.get_reasoning_from_run_output,
    messages.get_system_messages_from_run_input,
    messages.get_combined_system_prompt,
    messages.get_conversation_history_from_run_input,
    messages.extract_input_messages,
    messages.extract_agent_response_messages,
    messages.merge_tool_invocations,
    messages.extract_tool_calls,
    messages.extract_tool_results,
    messages.extract_trajectory,
    messages.extract_workflow_trajectory,
    messages.create_tool_invocation,
    messages.create_test_message,
    messages.create_agent_test_run,
    messages.is_scorer_run_input_for_agent,
    messages.is_scorer_run_output_for_agent,
    messages.round_to_two_decimals,
    lambda value, compat: to_messages(value),
)
COMPATS: tuple[Literal["mastra"] | None, ...] = (None, "mastra")


def deep(depth: int) -> Json:
    """Return content nested deeper than the interpreter's stack, in both ways at once."""
    value: Json = "text"
    for level in range(depth):
        value = {"content": value, "role": "assistant"} if level % 2 else [value]
    return {"role": "assistant", "content": value, "inputMessages": value, "parts": value}


@pytest.mark.parametrize("compat", COMPATS)
@given(value=json_values | message_likes | st.lists(message_likes, max_size=3))
@settings(max_examples=100)
def test_nothing_but_our_errors_whatever_the_json(
    compat: Literal["mastra"] | None, value: Json
) -> None:
    before = copy.deepcopy(value)
    for helper in HELPERS:
        for given_value in (value, [value]):
            try:
                helper(given_value, compat=compat)
            except TrajscopeError as error:
                assert str(error)
    assert repr(value) == repr(before), "the input is not written to"


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: {"a": v}])
def test_depth_is_no_crash(compat: Literal["mastra"] | None, wrap: Callable[[Json], Json]) -> None:
    chain: Json = "text"
    for _ in range(5_000):
        chain = {"content": chain}
    for value in (wrap(deep(5_000)), wrap({"role": "assistant", "content": chain})):
        for helper in HELPERS:
            try:
                helper(value, compat=compat)
            except TrajscopeError:
                continue


def test_what_contains_itself_is_no_crash() -> None:
    loop: dict[str, Json] = {"role": "assistant"}
    loop["content"] = [loop, {"type": "text", "text": "hi"}]
    for helper in HELPERS:
        for value in (loop, [loop]):
            try:
                helper(value, compat=None)
            except TrajscopeError:
                continue


@given(reference_messages)
def test_all_text_of_a_message_is_in_its_text(message: dict[str, Json]) -> None:
    text = messages.get_text_content(message)
    texts = [p["text"] for p in message["content"]["parts"] if p["type"] == "text" and p["text"]]
    assert text.split("\n") == (texts or [""])


@given(conversations)
def test_converting_twice_changes_nothing(conversation: list[Json]) -> None:
    once = to_messages(conversation)
    assert once == conversation, "the reference's form is handed on"
    assert to_messages(once) == once


@given(conversations)
def test_calls_results_and_trajectory_tell_one_story(conversation: list[Json]) -> None:
    calls = messages.extract_tool_calls(conversation)
    trajectory = messages.extract_trajectory(conversation)
    results = messages.extract_tool_results(conversation)
    assert [step.name for step in trajectory.steps] == list(calls.tools)
    places = [(info.message_index, info.invocation_index) for info in calls.tool_call_infos]
    assert places == sorted(set(places)), "each call once, in order"
    answered = [s for s in trajectory.steps if isinstance(s, ToolStep) and s.success is not None]
    assert [(s.name, s.success) for s in answered] == [(r.tool_name, not r.failed) for r in results]


@given(conversations)
def test_no_call_is_lost(conversation: list[Json]) -> None:
    """Every invocation is a call of its own, or what became of an open one before it."""
    merged = [item for m in conversation for item in messages.merge_tool_invocations(m)]
    calls = messages.extract_tool_calls(conversation)
    assert {item["toolName"] for item in merged} == set(calls.tools)
    unnamed = [item for item in merged if "toolCallId" not in item]
    done = [item for item in merged if item["state"] in ("result", "output-error")]
    assert len(calls.tools) >= max(len(unnamed), len(done))
    assert len(calls.tools) <= len(merged)


@given(conversations)
def test_a_trajectory_survives_its_json(conversation: list[Json]) -> None:
    trajectory = messages.extract_trajectory(conversation)
    again = Trajectory.model_validate(trajectory.model_dump(mode="json", by_alias=True))
    assert [type(s) for s in again.steps] == [type(s) for s in trajectory.steps]
    assert again.model_dump(mode="json") == trajectory.model_dump(mode="json")


@given(conversations)
def test_parts_win_and_older_invocations_add_what_no_part_names(conversation: list[Json]) -> None:
    for message in conversation:
        content = message["content"]
        parts = [p["toolInvocation"] for p in content["parts"] if "toolInvocation" in p]
        older = content.get("toolInvocations", [])
        merged = messages.merge_tool_invocations(message)
        ids = {part.get("toolCallId") for part in parts} - {None}
        extra = [item for item in older if item.get("toolCallId") not in ids]
        assert len(merged) == len(parts) + len(extra)
        for kind in (parts, extra):
            assert [m for m in merged if any(m is item for item in kind)] == kind, "order kept"


results = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "input"]),
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["success", "failed", "suspended"]),
            "startedAt": st.integers(0, 9),
            "endedAt": st.integers(0, 9),
            "output": values,
        },
    ),
)
paths = st.none() | st.lists(st.sampled_from(["a", "b", "c", "ghost"]), max_size=5)


@given(results, paths)
def test_no_step_of_a_workflow_is_lost(step_results: Json, path: list[str] | None) -> None:
    names = [s.name for s in messages.extract_workflow_trajectory(step_results, path).steps]
    listed = path or []
    assert [name for name in names if name in listed] == listed
    rest = [name for name in names if name not in listed]
    assert sorted(rest) == sorted(set(step_results) - {"input", *listed})


@given(results)
def test_steps_stand_in_the_order_they_began(step_results: Json) -> None:
    steps = messages.extract_workflow_trajectory(step_results).steps
    starts = [step.start_ns for step in steps if step.start_ns is not None]
    assert starts == sorted(starts)
    assert all(step.duration_ms is None or step.duration_ms >= 0 for step in steps)


@given(st.floats(-1e6, 1e6))
def test_two_decimals_are_the_nearest(number: float) -> None:
    for compat in COMPATS:
        rounded = messages.round_to_two_decimals(number, compat=compat)
        assert abs(rounded - number) <= 0.005 + 1e-9
        assert equal_json(messages.round_to_two_decimals(rounded, compat=compat), rounded)
