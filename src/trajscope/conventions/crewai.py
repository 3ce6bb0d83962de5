"""CrewAI through OpenInference: crews and flows as workflows, tasks as runs of their agent.

One thing a newcomer would get wrong: this recorder writes no model spans (another one beside it
may); and `tool.parameters` is the schema of the tool, not the arguments of a call.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trajscope.conventions import _openinference
from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._kind import Kind, step
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Span
from trajscope.values import text_of

_SCOPES = ("openinference.instrumentation.crewai",)
_ID = re.compile(r"_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_KICKOFF = re.compile(r"\.(?:kickoff|akickoff)\w*\Z")
_NODE = "flow.node.name"

VOCABULARY = _openinference.VOCABULARY.extended(agent_run_name=("graph.node.id",))


def kind_of(span: Span) -> Kind | None:
    """Return the OpenInference kind, with crews, flows and their methods read as a workflow."""
    if span.scope_name not in _SCOPES:
        return None
    if span.attributes.get("openinference.span.kind") == "CHAIN":
        if _NODE in span.attributes:
            return step(StepType.WORKFLOW_STEP)
        if _KICKOFF.search(span.name):
            return step(StepType.WORKFLOW_RUN)
    return _openinference.kind_of(span)


def refine(span: Span, reading: Reading) -> Reading:
    """Name workflows without the id of this run, and steps and tools after what was called."""
    changes: dict[str, Any] = {}
    if reading.step_type is StepType.WORKFLOW_RUN:
        changes["name"] = _ID.sub("", _KICKOFF.sub("", span.name))
    elif reading.step_type is StepType.WORKFLOW_STEP:
        changes["name"] = text_of(span.attributes.get(_NODE)) or span.name
    elif reading.step_type in TOOL_STEP_TYPES and not reading.name:
        changes["name"] = span.name.removesuffix(".run")
    return msgspec.structs.replace(reading, **changes) if changes else reading


CONVENTION = VocabularyConvention(
    name="crewai",
    description="CrewAI crews and flows as OpenInference records them.",
    tier=20,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    hints=_openinference.HINTS,
)
