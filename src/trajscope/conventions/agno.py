"""Agno through OpenInference: agents, teams, and workflows with their steps.

One thing a newcomer would get wrong: a member's run lies *beside* the call that delegated to it,
not in it; and conditions and loops leave no span, only the steps that ran.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Span
from trajscope.values import count_of, text_of

_SCOPES = ("openinference.instrumentation.agno",)
_BRANCHES = "agno.parallel.step_count"

VOCABULARY = _openinference.VOCABULARY.appended(tool_args=("tool.parameters",))


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with workflows and their steps told from other chains."""
    if span.scope_name not in _SCOPES:
        return None
    attributes = span.attributes
    if attributes.get("openinference.span.kind") == "CHAIN":
        if _BRANCHES in attributes:
            return step(StepType.WORKFLOW_PARALLEL)
        if any(key.startswith("agno.workflow.") for key in attributes):
            return step(StepType.WORKFLOW_RUN)
        if span.name.endswith((".execute", ".aexecute", ".execute_stream")):
            return step(StepType.WORKFLOW_STEP)
    return _openinference.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name workflows, steps and parallel sections after their node."""
    if reading.step_type not in (
        StepType.WORKFLOW_RUN,
        StepType.WORKFLOW_STEP,
        StepType.WORKFLOW_PARALLEL,
    ):
        return reading
    name = text_of(span.attributes.get("graph.node.name")) or span.name.rpartition(".")[0]
    changes: dict[str, Any] = {"name": name or span.name, "agent_name": None}
    if (branches := count_of(span.attributes.get(_BRANCHES))) is not None:
        changes["fields"] = {"branch_count": branches}
    return msgspec.structs.replace(reading, **changes)


CONVENTION = VocabularyConvention(
    name="agno",
    description="Agno agents, teams and workflows as OpenInference records them.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
