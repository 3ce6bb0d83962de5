"""Builds the reading of a span from a vocabulary: every field from the first attribute that has it.

One thing a newcomer would get wrong: a field that is absent stays unknown; nothing is filled in
from the span's name or from other spans here.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from trajscope.conventions._events import tool_events
from trajscope.conventions._find import Finder
from trajscope.conventions._kind import Kind
from trajscope.conventions._model import model_fields, usage_of
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.evidence import NOTHING_KNOWN, Failure, failure_of_span, is_bad_status, is_interrupt
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, Span
from trajscope.values import Arguments, decode_arguments, decode_json, decode_result, text_of


def build_reading(
    span: Span, words: Vocabulary, kind: Kind, convention: str, claim: int
) -> Reading:
    """Return the reading of `span` as `kind`, every field from the first attribute that has it.

    words: the vocabulary `within` the attributes of the span, for speed alone.
    """
    find = Finder(span.attributes)
    common: dict[str, Any] = {
        "convention": convention,
        "claim": claim,
        "step_type": kind.step_type,
        "noise_reason": kind.noise_reason,
        "is_model_call": kind.is_model_call,
        "agent_name": find.text("agent_name", words.agent_name),
        "agent_id": find.text("agent_id", words.agent_id),
        "session_id": find.text("session_id", words.session),
    }
    if kind.step_type in TOOL_STEP_TYPES:
        own = _tool_fields(span, words, find)
    elif kind.is_model_call or kind.step_type is StepType.MODEL_GENERATION:
        own = {**model_fields(span, words, find), **_failed_of(span, words, find)}
    elif kind.step_type is None:
        own = {"usage": usage_of(find, words), **_failed_of(span, words, find)}
    else:
        own = _other_fields(span, words, find, kind.step_type, common)
    return Reading(**common, **own, sources=find.sources)


def _tool_fields(span: Span, words: Vocabulary, find: Finder) -> dict[str, Any]:
    raw = find.value("args", words.tool_args)
    raw_result = find.value("result", words.tool_result)
    if span.events and UNSET in (raw, raw_result):
        told, said = tool_events(span)
        if raw is UNSET and told is not UNSET:
            raw, find.sources["args"] = told, "events"
        if raw_result is UNSET and said is not UNSET:
            raw_result, find.sources["result"] = said, "events"
    arguments = decode_arguments(raw) if raw is not UNSET else Arguments()
    if find.sources.get("args") == "tool.parameters" and _is_schema(arguments.args):
        arguments = Arguments()
    result = decode_result(raw_result) if raw_result is not UNSET else None
    value = result.value if result else UNSET
    failure = _by_status(failure_of_span(span, value), value, words, find)
    if result and result.status and failure.failed is None:
        failure = _status_failure(result.status, value)
    if failure.evidence:
        find.sources["failed"] = failure.evidence
    call_id = find.text("tool_call_id", words.tool_call_id)
    server = find.text("mcp_server", words.mcp_server)
    return {
        "name": find.text("name", words.tool_name) or (result.name if result else None) or "",
        "args": arguments.args,
        "args_value": arguments.bare,
        "result": value,
        "failed": failure.failed,
        "failure": failure.message,
        "not_failure": failure.failed is False and is_interrupt(span),
        "tool_call_id": call_id or (result.call_id if result else None),
        "mcp_server": server,
        "is_mcp": server is not None,
    }


def _is_schema(args: Json | UnsetType) -> bool:
    """Whether `tool.parameters` holds what the tool takes, as it does on some spans, not gets."""
    return isinstance(args, dict) and isinstance(args.get("properties"), dict) and "type" in args


def _status_failure(status: str, value: Json | UnsetType) -> Failure:
    if status.lower() == "error":
        text = value if isinstance(value, str) else None
        return Failure(True, text or "the tool message says error", "status of the tool message")
    return NOTHING_KNOWN


def _by_status(
    failure: Failure, result: Json | UnsetType, words: Vocabulary, find: Finder
) -> Failure:
    """Add what a recorded status word says; a status of the span itself has gone before."""
    word = find.text("status", words.status)
    text = find.text("status_text", words.status_text)
    if failure.failed:
        return failure._replace(message=text) if text and failure.message is None else failure
    if word is None or not is_bad_status(word) or failure.failed is False:
        return failure
    return Failure(True, text or text_of(result) or word, find.sources["status"])


def _other_fields(
    span: Span, words: Vocabulary, find: Finder, step_type: StepType, common: dict[str, Any]
) -> dict[str, Any]:
    own: dict[str, Any] = {"usage": usage_of(find, words), **_failed_of(span, words, find)}
    name: str | None = None
    details: dict[str, Any] = {}
    if step_type is StepType.AGENT_RUN:
        name = common["agent_name"] or find.text("agent_name", words.agent_run_name)
        common["agent_name"] = name
        name = name or common["agent_id"]
    elif step_type is StepType.WORKFLOW_RUN:
        name = find.text("name", words.workflow_name)
    elif step_type is StepType.HANDOFF:
        details = _ends_of(words, find)
        name = details.get("to_agent")
    elif step_type is StepType.EMBEDDING:
        own["model"] = name = find.text("model", words.model)
    elif step_type is StepType.RETRIEVAL:
        for field, names in (("query", words.query), ("output", words.output)):
            value = find.value(field, names)
            if value is not UNSET:
                details[field] = decode_json(value)
    return {**own, "name": name or span.name, "fields": details}


def _ends_of(words: Vocabulary, find: Finder) -> dict[str, Any]:
    """Who hands over to whom; `unknown` is what an instrumentation writes that does not know."""
    ends = {
        "from_agent": find.text("from_agent", words.from_agent),
        "to_agent": find.text("to_agent", words.to_agent),
    }
    return {k: v for k, v in ends.items() if v and v != "unknown"}


def _failed_of(span: Span, words: Vocabulary, find: Finder) -> dict[str, Any]:
    failure = _by_status(failure_of_span(span), UNSET, words, find)
    return {
        "failed": failure.failed,
        "failure": failure.message,
        "not_failure": failure.failed is False and is_interrupt(span),
    }
