"""The hash of an expectation, which is written by a shorter way than its JSON."""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.support.trajectories import expectations
from trajscope.model.expectation import (
    ArgMatcher,
    ExpectedStep,
    NamedExpectation,
    TrajectoryExpectation,
)
from trajscope.pipeline.provenance import expectation_hash


def hash_of_json(expect: TrajectoryExpectation) -> str:
    text = json.dumps(expect.model_dump(mode="json", by_alias=True), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@settings(max_examples=50)
@given(expectations())
def test_a_hash_is_that_of_the_json_of_the_model(expect: TrajectoryExpectation) -> None:
    assert expectation_hash(NamedExpectation(name="e", expect=expect)) == hash_of_json(expect)


@pytest.mark.parametrize(
    "args",
    [
        {"a": float("nan")},
        {"a": [1e400, None, True]},
        {"day": datetime.date(2026, 1, 2)},
        {"pair": (1, 2.0)},
        {1: "a"},
        "é",
        None,
    ],
)
def test_arguments_of_any_kind_are_hashed_as_json_writes_them(args: Any) -> None:
    step = ExpectedStep(
        name="a",
        step_type="tool_call",
        tool_args=args,
        args_match={"a": ArgMatcher(regex="x")},
        children=TrajectoryExpectation(max_steps=3),
    )
    expect = TrajectoryExpectation(steps=(step,))
    assert expectation_hash(NamedExpectation(name="e", expect=expect)) == hash_of_json(expect)
