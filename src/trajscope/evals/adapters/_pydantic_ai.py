"""Messages of pydantic-ai: requests and responses, each a list of parts of several kinds.

One thing a newcomer would get wrong: a retry is an answer. The call it answers failed, and what it
says goes back to the model as a request, not to anyone as the user's words.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from trajscope.evals.adapters._parts import (
    Answer,
    Part,
    call_part,
    first_text,
    joined,
    make_answer,
    reasoning_part,
    text_part,
)
from trajscope.evals.adapters._turn import Turn
from trajscope.model.span import Json

_FAILED = ("failed", "denied", "retried")
_SPEAKERS = {
    "system-prompt": "system",
    "instruction": "system",
    "user-prompt": "user",
    "retry-feedback": "system",
}
"""Who speaks a part of a request; what the framework says to the model counts as the system's."""


def is_model_message(message: dict[str, Json]) -> bool:
    """Return whether a message is one of pydantic-ai's."""
    return message.get("kind") in ("request", "response") and isinstance(message.get("parts"), list)


def read_model_message(message: dict[str, Json]) -> list[Turn]:
    """Return the turns of a request or a response."""
    created = first_text(message, ("timestamp",))
    parts = [part for part in message["parts"] if isinstance(part, dict)]
    if message["kind"] == "response":
        read = [item for part in parts for item in _of_response(part)]
        return [Turn("assistant", read, created_at=created)]
    turns = []
    instructions = message.get("instructions")
    if isinstance(instructions, str) and instructions:
        turns.append(Turn("system", [text_part(instructions)], is_standing=True))
    for part in parts:
        role, read = _of_request(part)
        if turns and turns[-1].role == role and not turns[-1].is_standing:
            turns[-1].parts.extend(read)
        elif read:
            turns.append(Turn(role, read, created_at=created))
    return turns


def _of_response(part: dict[str, Json]) -> Iterator[Part | Answer]:
    kind, text = part.get("part_kind"), part.get("content")
    if kind == "text" and isinstance(text, str):
        yield text_part(text)
    elif kind == "thinking" and isinstance(text, str) and text:
        yield reasoning_part(text)
    elif kind == "speech" and isinstance(part.get("transcript"), str):
        yield text_part(part["transcript"])
    elif kind in ("tool-call", "builtin-tool-call"):
        args = part.get("args")
        yield call_part(
            first_text(part, ("tool_call_id",)),
            first_text(part, ("tool_name",)) or "",
            {} if args is None else args,
            provider=kind == "builtin-tool-call",
        )
    elif kind == "builtin-tool-return":
        yield from _answers(part)
    else:
        yield {"type": str(kind), **part}


def _of_request(part: dict[str, Json]) -> tuple[str, list[Part | Answer]]:
    kind, content = part.get("part_kind"), part.get("content")
    if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        return "tool", list(_answers(part))
    role = _SPEAKERS.get("retry-feedback" if kind == "retry-prompt" else str(kind))
    if role is None:
        return "system", [{"type": str(kind), **part}]
    items = content if isinstance(content, list) else [content]
    return role, [_spoken(item) for item in items]


def _spoken(item: Json) -> Part:
    if isinstance(item, str):
        return text_part(item)
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str) and item.get("kind", "text") == "text":
        return text_part(content)
    if isinstance(item, dict):
        return {"type": str(item.get("kind") or item.get("type") or "unknown"), **item}
    return text_part("" if item is None else str(item))


def _answers(part: dict[str, Json]) -> Iterator[Answer]:
    """Yield the answer a part gives; an interrupted call got none."""
    outcome = part.get("outcome")
    if outcome == "interrupted":
        return
    content = part.get("content", UNSET)
    failed = outcome in _FAILED or part.get("part_kind") == "retry-prompt"
    if failed and isinstance(content, list):  # what pydantic found wrong with the arguments
        errors = [e.get("msg") for e in content if isinstance(e, dict)]
        content = f"{len(content)} validation errors: {joined(errors, '; ')}"
    yield make_answer(
        first_text(part, ("tool_call_id",)),
        first_text(part, ("tool_name",)),
        content,
        failed=failed,
    )
