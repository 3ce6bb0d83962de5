"""What a span is: a step type, or noise with its reason."""

from __future__ import annotations

from typing import NamedTuple

from trajscope.model.reading import StepType


class Kind(NamedTuple):
    """What a span is: a step type, or noise with its reason."""

    step_type: StepType | None = None
    noise_reason: str = ""
    is_model_call: bool = False


def step(step_type: StepType) -> Kind:
    """Return the kind of a step; a model generation counts as a model call."""
    return Kind(step_type, is_model_call=step_type is StepType.MODEL_GENERATION)


def noise(reason: str, *, is_model_call: bool = False) -> Kind:
    """Return the kind of a span that is no step, with the reason shown by `explain`."""
    return Kind(None, reason, is_model_call)
