"""The whole trajectory of every recorded trace as text, so that a change shows as a diff to read.

After a change that is meant: `UPDATE_GOLDEN=1 python -m pytest tests/golden`, then read the diff.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.truth import NAMES, form_of, trajectories_of
from trajscope.model.step import BaseStep, HandoffStep, ModelGenerationStep, ToolStep
from trajscope.model.trajectory import Trajectory

OUTLINES = Path(__file__).parent / "outlines"


def outline(trajectory: Trajectory) -> Iterator[str]:
    tokens = trajectory.tokens
    counts = f"{tokens.input}+{tokens.output}" if tokens else "none"
    yield (
        f"session {trajectory.session_id} agents {json.dumps(trajectory.agents)}"
        f" model calls {trajectory.model_calls} tokens {counts}"
    )
    yield from lines(trajectory.steps if trajectory.root is None else (trajectory.root,), 1)
    if trajectory.root is not None:
        yield from lines(trajectory.steps, 2)


def lines(steps: tuple[BaseStep, ...], depth: int) -> Iterator[str]:
    for step in steps:
        yield "  " * depth + " ".join((str(step.step_type), step.name, *details(step)))
        yield from lines(step.children, depth + 1)


def details(step: BaseStep) -> Iterator[str]:
    if isinstance(step, ToolStep):
        yield "args " + json.dumps(step.tool_args)
        yield "result " + json.dumps(step.tool_result)[:80]
        yield f"success {step.success}"
        if step.from_messages:
            yield "from messages" if step.executed else "requested"
    if isinstance(step, ModelGenerationStep):
        yield f"{step.prompt_tokens}+{step.completion_tokens} {step.finish_reason}"
    if isinstance(step, HandoffStep):
        yield f"{step.from_agent} -> {step.to_agent}"
    if step.failed:
        yield f"FAILED {(step.failure or '').splitlines()[:1]}"


@pytest.mark.parametrize("name", NAMES)
def test_the_outline_is_as_reviewed(name: str) -> None:
    text = "\n".join(line for t in trajectories_of(form_of(name)) for line in outline(t)) + "\n"
    file = OUTLINES / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_every_outline_has_its_trace() -> None:
    assert sorted(p.stem for p in OUTLINES.glob("*.txt")) == NAMES
