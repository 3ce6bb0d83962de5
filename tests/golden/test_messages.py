"""A run has the same calls by its trace and by the messages its last model was given."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.trajectories import assembled, recorded_spans
from trajscope.evals.messages import extract_tool_calls, extract_trajectory
from trajscope.match import json_key
from trajscope.model.span import Span
from trajscope.model.step import ToolStep
from trajscope.model.trajectory import Trajectory

ATTRIBUTES = ("gen_ai.input.messages", "ai.prompt.messages")
TRACES = sorted(Path(__file__).parents[2].glob("fixtures/traces/*/trace.otlp.json"))


def last_messages(spans: list[Span]) -> list[dict[str, Any]] | None:
    """Return the longest list of messages a model of the trace was given."""
    lists = [
        json.loads(span.attributes[key])
        for span in spans
        for key in ATTRIBUTES
        if isinstance(span.attributes.get(key), str)
    ]
    return max(lists, key=len, default=None)


def by_name_and_arguments(trajectory: Trajectory) -> Counter[str]:
    tools = [step for step in trajectory.walk() if isinstance(step, ToolStep)]
    return Counter(json_key([step.name, step.tool_args]) for step in tools)


SINGLE_RUNS = [p for p in TRACES if p.parent.name.endswith(("-two", "-err", "-par"))]
"""Traces of one agent whose last model call saw all that had been called."""

LOST = {
    "litellm_around-err": "the last request could not be written to a span that had ended",
    "llamaindex_tl_react-err": "the model asks for tools in prose",
    "llamaindex_tl_streaming-err": "what a model was given has lost the calls",
    "openlit_langgraph-err": "what a model was given has lost the calls",
}

WITH_MESSAGES = [
    p
    for p in SINGLE_RUNS
    if p.parent.name not in LOST and last_messages(recorded_spans(p)) is not None
]


@pytest.mark.parametrize("path", WITH_MESSAGES, ids=lambda path: path.parent.name)
def test_a_trace_and_its_messages_tell_of_the_same_calls(path: Path) -> None:
    spans = recorded_spans(path)
    messages = last_messages(spans)
    assert messages is not None
    found = extract_trajectory(messages)
    assert list(extract_tool_calls(messages).tools) == [step.name for step in found.steps]
    traced: Counter[str] = Counter()
    for trajectory in assembled(spans).values():
        traced += by_name_and_arguments(trajectory)
    assert by_name_and_arguments(found) == traced


def test_some_instrumentations_record_messages() -> None:
    assert len(WITH_MESSAGES) >= 10
