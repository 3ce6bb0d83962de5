"""How well a capture is understood, and which evidence it lacks.

One thing a newcomer would get wrong: noise that a convention knows as such is understood. Only
spans that no convention claims are counted as not understood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from trajscope.assemble import Assembled, OutlineRow
from trajscope.model.reading import StepType
from trajscope.model.span import Span
from trajscope.model.step import ModelGenerationStep, ToolStep

HINTS = {
    "genai": "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    "google-adk": "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
    "pydantic-ai": "use InstrumentationSettings(include_content=True)",
    "vercel-ai": "set recordInputs and recordOutputs to true",
    "openllmetry": "set TRACELOOP_TRACE_CONTENT=true",
    "openinference": "do not set OPENINFERENCE_HIDE_INPUTS or OPENINFERENCE_HIDE_OUTPUTS",
    "claude-code": "set OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1, and export the logs",
    "crewai": "add the instrumentation of the model client: this one writes no model spans",
    "mcp": "instrument the agent as well: MCP spans record neither arguments nor results",
}
"""What to switch on to get evidence that is missing, by convention."""


def examine(found: Iterable[Assembled]) -> dict[str, Any]:
    """Return the coverage of traces as JSON: what was understood, what is missing, what to do."""
    spans: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    lacks: Counter[str] = Counter()
    unknown: dict[tuple[str, tuple[str, ...]], list[Span]] = {}
    hints: dict[str, str] = {}
    repairs: Counter[str] = Counter()
    traces = 0
    for assembled in found:
        traces += 1
        trajectory = assembled.trajectory
        repairs.update(r.kind for r in trajectory.repairs)
        if trajectory.model_calls is None:
            lacks["traces whose agents record no model calls"] += 1
        for row in assembled.outline():
            if row.requested:
                continue
            convention = row.reading.convention
            spans[convention or "(not understood)"] += 1
            lacks["spans that never ended"] += not row.span.ended
            if not convention:
                unknown.setdefault(_vocabulary(row.span), []).append(row.span)
        missing = _missing(assembled)
        lacks.update(missing)
        if any(missing.values()):
            hints |= {c: HINTS[c] for c in _conventions(assembled.outline()) if c in HINTS}
        steps.update(step.step_type.value for step in trajectory.walk())
    return {
        "traces": traces,
        "spans": sum(spans.values()),
        "understood": sum(spans.values()) - spans["(not understood)"],
        "by_convention": dict(spans.most_common()),
        "steps": dict(steps.most_common()),
        "not_understood": [_group(key, group) for key, group in _largest(unknown)],
        "missing": {what: count for what, count in lacks.items() if count},
        "repairs": dict(repairs.most_common()),
        "hints": hints,
    }


def _missing(assembled: Assembled) -> Counter[str]:
    found: Counter[str] = Counter()
    for step in assembled.trajectory.walk():
        if isinstance(step, ToolStep):
            found["tool calls without arguments"] += step.tool_args is None
            found["tool calls without a result"] += "tool_result" not in step.model_fields_set
            found["tool calls with unknown outcome"] += step.success is None
        elif isinstance(step, ModelGenerationStep):
            found["model generations without token counts"] += step.prompt_tokens is None
    return found


def _conventions(rows: Iterable[OutlineRow]) -> set[str]:
    tools = (StepType.TOOL_CALL, StepType.MCP_TOOL_CALL, StepType.AGENT_RUN)
    return {r.reading.convention for r in rows if r.step_type in tools or r.reading.is_model_call}


def _vocabulary(span: Span) -> tuple[str, tuple[str, ...]]:
    prefixes = {".".join(name.split(".")[:2]) for name in span.attributes}
    return span.scope_name, tuple(sorted(prefixes)[:8])


def _largest(
    groups: dict[tuple[str, tuple[str, ...]], list[Span]], most: int = 20
) -> list[tuple[tuple[str, tuple[str, ...]], list[Span]]]:
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))[:most]


def _group(key: tuple[str, tuple[str, ...]], spans: list[Span]) -> dict[str, Any]:
    scope, prefixes = key
    return {
        "scope": scope,
        "attribute_prefixes": list(prefixes),
        "spans": len(spans),
        "example": spans[0].name,
    }
