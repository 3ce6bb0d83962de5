"""Messages of an ATIF step as OTel GenAI messages.

One thing a newcomer would get wrong: content is text or, since version 1.6, a list of parts; only
a list of text parts is joined, anything else stays as it is.
"""

from __future__ import annotations

from trajscope.formats._row import Row
from trajscope.model.span import Json


def text_of_content(content: Json) -> Json:
    """Return content as one text where all of its parts are text.

    >>> text_of_content([{"type": "text", "text": "18 C"}])
    '18 C'
    """
    if isinstance(content, list) and content:
        texts = [part.get("text") if isinstance(part, dict) else None for part in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(str(text) for text in texts)
    return content


def to_input(role: str, content: Json, call_id: str = "") -> dict[str, Json]:
    """Return a message given to the model; with a call id, the answer to a tool call."""
    if call_id:
        part = {"type": "tool_call_response", "id": call_id, "response": content}
    else:
        part = {"type": "text", "content": text_of_content(content)}
    return {"role": role, "parts": [part]}


def to_output(step: Row) -> dict[str, Json]:
    """Return what the model said in an agent step: reasoning, text and requested calls."""
    parts: list[Json] = []
    if reasoning := step.text("reasoning_content"):
        parts.append({"type": "reasoning", "content": reasoning})
    if message := text_of_content(step.get("message")):
        parts.append({"type": "text", "content": message})
    parts.extend(
        {
            "type": "tool_call",
            "id": call.get("tool_call_id"),
            "name": call.get("function_name"),
            "arguments": call.get("arguments"),
        }
        for call in step.rows("tool_calls")
    )
    return {"role": "assistant", "parts": parts}
