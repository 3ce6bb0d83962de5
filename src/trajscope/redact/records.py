"""Secrets out of the package's own values: spans, steps, trajectories, scores, findings.

One thing a newcomer would get wrong: names of tools, agents and models, and all ids, stay exactly
as they are; two redacted trajectories compare as the originals do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from trajscope.model.rule import RuleResult
from trajscope.model.score import Finding, Score
from trajscope.model.span import LogRecord, Span
from trajscope.model.step import BaseStep
from trajscope.model.trajectory import Trajectory
from trajscope.redact.redactor import Redactor

_EXACT = frozenset(
    [
        "name",
        "step_type",
        "span_id",
        "parent_span_id",
        "trace_id",
        "tool_call_id",
        "agent",
        "agent_span_id",
        "agent_id",
        "session_id",
        "workflow_id",
        "step_id",
        "processor_id",
        "model_id",
        "mcp_server",
        "children",
        "from_agent",
        "to_agent",
        "finish_reason",
        "status",
        "loop_type",
        "sleep_type",
        "event_name",
        "selected_steps",
        "parallel_steps",
    ]
)
"""Fields of a step that are names, ids or words of the framework."""

S = TypeVar("S", bound=BaseStep)


def redact_span(span: Span, redactor: Redactor) -> Span:
    """Return a span with the secrets in its attributes, events, links and texts masked."""
    return msgspec.structs.replace(
        span,
        name=redactor.text(span.name),
        status_message=redactor.text(span.status_message),
        attributes=redactor.value(span.attributes),
        resource=redactor.value(span.resource),
        events=tuple(
            msgspec.structs.replace(e, attributes=redactor.value(e.attributes)) for e in span.events
        ),
        links=tuple(
            msgspec.structs.replace(k, attributes=redactor.value(k.attributes)) for k in span.links
        ),
    )


def redact_log(record: LogRecord, redactor: Redactor) -> LogRecord:
    """Return a log record with the secrets in its body and attributes masked."""
    return msgspec.structs.replace(
        record,
        body=redactor.value(record.body),
        attributes=redactor.value(record.attributes),
        resource=redactor.value(record.resource),
    )


def redact_step(step: S, redactor: Redactor) -> S:
    """Return a step with the secrets in its values masked; its children are left as they are."""
    changed: dict[str, Any] = {}
    for field in step.model_fields_set - _EXACT:
        value = getattr(step, field)
        if isinstance(value, str | dict | list):
            masked = redactor.text(value) if isinstance(value, str) else redactor.value(value)
            if masked != value:
                changed[field] = masked
    return step.model_copy(update=changed) if changed else step


def redact_trajectory(trajectory: Trajectory, redactor: Redactor) -> Trajectory:
    """Return a trajectory with the secrets of every step masked."""
    changed: dict[str, Any] = {"steps": _redact_steps(trajectory.steps, redactor)}
    if trajectory.root is not None:
        changed["root"] = redact_step(trajectory.root, redactor)
    for field in ("raw_output", "raw_workflow_result"):
        if (value := getattr(trajectory, field)) is not None:
            changed[field] = redactor.value(value)
    return trajectory.model_copy(update=changed)


def _redact_steps(steps: Iterable[BaseStep], redactor: Redactor) -> tuple[BaseStep, ...]:
    """Rebuild the tree bottom-up without recursion."""
    done: list[BaseStep] = []
    todo: list[tuple[BaseStep, bool]] = [(step, False) for step in reversed(tuple(steps))]
    while todo:
        step, ready = todo.pop()
        if not ready and step.children:
            todo.append((step, True))
            todo.extend((child, False) for child in reversed(step.children))
            continue
        masked = redact_step(step, redactor)
        if step.children:
            count = len(step.children)
            children = tuple(done[-count:])
            del done[-count:]
            masked = masked.model_copy(update={"children": children})
        done.append(masked)
    return tuple(done)


def redact_finding(finding: Finding, redactor: Redactor) -> Finding:
    """Return a finding with the secrets in its message masked."""
    message = redactor.text(finding.message)
    return (
        finding if message == finding.message else finding.model_copy(update={"message": message})
    )


def redact_score(score: Score, redactor: Redactor) -> Score:
    """Return a score with the secrets in its reason, details and findings masked."""
    changed: dict[str, Any] = {
        "reason": redactor.text(score.reason),
        "findings": tuple(redact_finding(f, redactor) for f in score.findings),
    }
    if score.details is not None:
        changed["details"] = redactor.value(score.details)
    set_before = score.model_fields_set
    return score.model_copy(
        update={k: v for k, v in changed.items() if k in set_before or v != getattr(score, k)}
    )


def redact_result(result: RuleResult, redactor: Redactor) -> RuleResult:
    """Return a rule's result with the secrets in its messages masked."""
    return replace(
        result,
        message=redactor.text(result.message),
        findings=tuple(redact_finding(f, redactor) for f in result.findings),
    )
