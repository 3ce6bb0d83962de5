"""OpenAI Codex CLI: a few of its internal spans, and its log records.

One thing a newcomer would get wrong: almost every span is the program's own machinery, and
`success` says that the tool *answered*; a command that exited with status 1 is recorded as a
success, and only the text of its output tells.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trajscope.conventions._convention import LoggedConvention
from trajscope.conventions._kind import Kind, noise, step
from trajscope.conventions._standin import standin
from trajscope.conventions._vocabulary import GEN_AI
from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType
from trajscope.model.span import Json, LogRecord, Span
from trajscope.values import decode_json, text_of

AGENT = "codex"
"""The main agent; log records call it `/root`, and a sub-agent by a longer path."""

_ROOT = "/root"
_RESULT = "codex.tool_result"
_TURN = "session_task.turn"
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (?P<code>-?\d+)\s*$", re.MULTILINE)
_OUTPUT = re.compile(r"^Output:", re.MULTILINE)
_MODEL_CALL = "model_client.stream_"
_REQUEST = "stream_request"

VOCABULARY = GEN_AI.extended(
    session=("conversation.id", "thread.id"),
    tool_name=("tool_name",),
    tool_call_id=("call_id",),
    tool_args=("arguments",),
    tool_result=("output",),
    model=("model",),
    input_tokens=("codex.turn.token_usage.input_tokens", "input_token_count"),
    output_tokens=("codex.turn.token_usage.output_tokens", "output_token_count"),
    cached_tokens=("codex.turn.token_usage.cached_input_tokens", "cached_token_count"),
    reasoning_tokens=(
        "codex.turn.token_usage.reasoning_output_tokens",
        "reasoning_token_count",
    ),
)


def kind_of(span: Span) -> Kind | None:
    """Return the kind by span name and attributes; whatever else Codex writes is noise."""
    if not _is_codex(span.scope_name, span.attributes):
        return None
    attributes = span.attributes
    if "tool_name" in attributes and "call_id" in attributes:
        return step(StepType.TOOL_CALL)
    if span.name == _TURN:
        return step(StepType.AGENT_RUN)
    if span.name.startswith(_MODEL_CALL) or span.name == _REQUEST:
        return step(StepType.MODEL_GENERATION)
    return noise("internal machinery of Codex")


def _is_codex(scope: str, attributes: dict[str, Json]) -> bool:
    return scope.startswith("codex") or str(attributes.get("target", "")).startswith("codex_")


def refine(span: Span, reading: Reading) -> Reading:
    """Name agents, and judge a tool call by `success` and by the exit code in its output."""
    changes: dict[str, Any] = {}
    path = text_of(span.attributes.get("agent_name"))
    if reading.step_type is not None:
        changes["agent_name"] = AGENT if path in (None, _ROOT) else path.rpartition("/")[2]
    if reading.step_type is StepType.AGENT_RUN:
        changes["name"] = changes["agent_name"]
    if reading.step_type in TOOL_STEP_TYPES:
        changes |= {**_outcome(span.attributes), "is_silent": "output" not in span.attributes}
        if server := text_of(span.attributes.get("mcp_server")):
            changes |= {"mcp_server": server, "is_mcp": True}
    if span.name == _TURN:
        changes["session_id"] = text_of(span.attributes.get("thread.id"))
    elif span.attributes.get("conversation.id") is None:
        changes["session_id"] = None  # elsewhere thread.id is a thread of the operating system
    return msgspec.structs.replace(reading, **changes)


def _outcome(attributes: dict[str, Json]) -> dict[str, Any]:
    output = attributes.get("output")
    text = output if isinstance(output, str) else ""
    code = _exit_code(text)
    if attributes.get("success") in (False, "false"):
        return {"failed": True, "failure": text or None}
    if code:
        body = _OUTPUT.split(text, maxsplit=1)
        said = body[1].strip() if len(body) == 2 else ""
        return {"failed": True, "failure": said or f"command exited {code}"}
    return {"failed": False, "failure": None} if text else {}


def _exit_code(text: str) -> int | None:
    """The status a command exited with: in the lines before its output, or in JSON metadata."""
    decoded = decode_json(text)
    if isinstance(decoded, dict):
        metadata = decoded.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        return code if isinstance(code, int) else None
    head = _OUTPUT.split(text, maxsplit=1)[0]
    match = _EXIT.search(head[:2000])
    return int(match["code"]) if match else None


def from_log(record: LogRecord) -> Span | None:
    """Return the span a record stands for: a tool result, or the end of a model's answer."""
    attributes = record.attributes
    if not _is_codex(record.scope_name, attributes):
        return None
    event, session = attributes.get("event.name"), text_of(attributes.get("conversation.id"))
    if session is None:
        return None
    if event == _RESULT:
        return standin(record, str(attributes.get("tool_name") or "tool"), group=session)
    answered = attributes.get("event.kind") == "response.completed"
    if event == "codex.sse_event" and answered and "input_token_count" in attributes:
        return standin(record, _REQUEST, group=session)
    return None


CONVENTION = LoggedConvention(
    name="codex-cli",
    description="OpenAI Codex CLI: its log records, and the few spans that are steps.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    refine=refine,
    facts=(_RESULT,),
    from_log=from_log,
    hints={
        "content": "read the log records together with the spans: arguments stand only there",
    },
)
